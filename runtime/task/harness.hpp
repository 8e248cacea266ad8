// Operations on a task through its header, whatever its coroutine and output are.
//
// Threads: poll and cancel are for the holder of the poll right; the others for any thread
// that holds a reference.
#pragma once

#include <cstdint>

#include "runtime/task/header.hpp"
#include "runtime/task/waker.hpp"

namespace taskbench::rt::task {

/// What the scheduler has to do after a poll.
enum class Polled : std::uint8_t {
  finished,  ///< ended, cancelled included; the header must not be touched any more
  idle,      ///< waits for a wake; the header must not be touched any more
  yielded,   ///< the poll right is the caller's: to the back of the queue, without notification
  woken,     ///< the poll right is the caller's: woken during its poll; to the back of the queue
};

/// Polls a task once. Never throws: exceptions of the task go to its output.
Polled poll(Header* task) noexcept;

/// Ends a task without polling it: destroys the coroutine, stores the outcome "cancelled".
void cancel(Header* task) noexcept;

/// For shutdown, which found the task in the list of owned tasks: takes the poll right if it is
/// free, or else marks the task so that the holder of the right ends it. True: the caller must
/// cancel().
[[nodiscard]] bool claim_for_shutdown(Header* task) noexcept;

void wake_by_ref(Header* task) noexcept;
/// Wakes and gives up one reference.
void wake(Header* task) noexcept;
void abort(Header* task) noexcept;
void add_reference(Header* task) noexcept;
void drop_reference(Header* task) noexcept;

/// A reference to the task that this thread is polling, for a leaf that will wake it: counted
/// together with the end of the poll, so that it costs nothing now. Caller holds the poll right.
inline Header* reference_in_poll(Header* task) noexcept {
  if (task->pending_references == UINT8_MAX) {
    task->state.add_reference();
  } else {
    ++task->pending_references;
  }
  return task;
}

/// How many operations that may be ready at once a task may begin in one poll: as many as in Tokio.
inline constexpr std::uint32_t kBudget = 128;

/// Called before an operation that may be ready again and again, such as on a channel, a lock or a
/// socket. False: the task has begun kBudget of them in this poll, or its time slice is over. It
/// must suspend without the operation, and goes to the back of the queue; its next poll begins with
/// a new budget.
[[nodiscard]] bool spend_budget(Header* task) noexcept;
/// Gives the poll a budget, if it has none.
void begin_budget(Header* task) noexcept;

/// Polls `branch`, a coroutine that runs inside `task` beside others and shares the budget that has
/// begun, until it waits, yields, or ends. The header of the branch keeps where it goes on.
[[nodiscard]] Disposition poll_branch(Header* branch, Header* task) noexcept;

/// A Waker of the task, from a reference that the caller gives up.
[[nodiscard]] Waker waker_from_reference(Header* task) noexcept;

/// JoinHandle's parts.
/// Registers `waiter`, the task being polled, to be woken when `task` completes. True: it is
/// complete already.
[[nodiscard]] bool join_poll(Header* task, Header* waiter) noexcept;
/// Lets `listener` know when `task` completes, or its handle is dropped. False: it is complete
/// already.
[[nodiscard]] bool join_listen(Header* task, JoinListener* listener) noexcept;
void join_drop(Header* task) noexcept;

}  // namespace taskbench::rt::task
