// The memory of a task: one allocation.
//
//   | output, Trailer (cold) | Header (hot, 48 bytes) | coroutine frame (the future) ...
//   ^ block, 64-aligned      ^ 64-aligned             ^ Header + 48
//
// The frame begins with its two function pointers, so the header and what resuming needs fill
// exactly one cache line. The trailer and the output lie on the lines before it and are touched
// only by a task that suspends, is awaited, returns a value or fails: a small detached task never
// reads or writes them.
//
// The coroutine is destroyed when the task completes; the block lives on until the last handle or
// waker lets go (state.hpp). Header and trailer therefore lie outside the frame, whose storage a
// compiler may treat as dead from its destruction on.
//
// Who may touch what
//   state        any thread, through its transitions
//   queue_next   the holder of the poll right: the queue that the task is in or, during a poll, the
//     coroutine that goes on next (transfer_to), or the forks; of a complete task, the JoinSet that
//     it is in
//   resume, disposition, pending_references, flags, outcome, turn: the holder of the poll right
//   scheduler, vtable, block_units: constant once the task is spawned, or the root of a block_on
//     is polled for the first time
//   Trailer::previous, next: OwnedTasks, under its lock;  join_waker: see state.hpp;  member: the
//     owner of the JoinSet
//   Failure, output: written by the holder of the poll right before COMPLETE
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>

#include "runtime/base/cache_line.hpp"
#include "runtime/base/cell.hpp"
#include "runtime/task/schedule.hpp"
#include "runtime/task/state.hpp"

namespace taskbench::rt::task {

struct Header;
struct Leaf;

/// How a poll ended.
enum class Disposition : std::uint8_t {
  pending,      ///< suspended at a leaf that will wake it
  yielded,      ///< wants to go to the back of the queue
  finished,     ///< reached its end; the output is stored
  spending,     ///< pending, and the budget in the thread's context is that of this poll
  handed_over,  ///< its forks run on other threads, which own it now; never in a header
};

/// The kind of the output.
enum class Outcome : std::uint8_t { none, value, exception, cancelled };

/// What depends on the type of the output.
struct VTable {
  /// Ends the lifetime of a stored value; null: that needs nothing.
  void (*destroy_value)(Header*) noexcept;
  std::size_t prefix;  ///< bytes of the block before the header
};

struct Header {
  State state;
  Header* queue_next = nullptr;
  /// The innermost suspended coroutine; or, with the lowest bit set, the Leaf to poll before it.
  std::uintptr_t resume = 0;
  const VTable* vtable = nullptr;
  Schedule* scheduler = nullptr;
  std::uint16_t block_units = 0;  ///< size of the block, in cache lines; kBigBlock: see there
  /// Of work_stealing: the round reached by yielding, or 0; of sharded: the shard.
  std::uint16_t turn = 0;
  Outcome outcome = Outcome::none;
  Disposition disposition = Disposition::pending;
  std::uint8_t flags = 0;
  std::uint8_t pending_references = 0;  ///< wakers made during this poll, not in the state yet

  static constexpr std::uint8_t kSpawned = 1;     ///< the block is reference counted
  static constexpr std::uint8_t kOwned = 2;       ///< linked in an OwnedTasks
  static constexpr std::uint8_t kFrameGone = 4;   ///< the coroutine is being or was destroyed
  static constexpr std::uint8_t kAtFinal = 8;     ///< it reached its end while being destroyed
  static constexpr std::uint8_t kTransfers = 16;  ///< `queue_next` is the coroutine to resume next
  static constexpr std::uint8_t kForks = 32;      ///< `queue_next` is the ForkJoinBase to run next
  static constexpr std::uint8_t kInBranch = 64;   ///< a branch of it is polled
  static constexpr std::uint16_t kBigBlock = UINT16_MAX;  ///< this or more: freed without its size
};
static_assert(sizeof(Header) == 48, "header and frame pointers share one cache line");

/// The cold part, directly before the header.
struct Trailer {
  base::Cell<Header*> previous;  ///< in OwnedTasks, which constructs both
  base::Cell<Header*> next;
  std::uint32_t shard;   ///< which OwnedTasks shard
  std::uint32_t member;  ///< which member of its JoinSet
  /// The task that awaits the JoinHandle, a counted reference; or, with the lowest bit set, the
  /// JoinListener. Constructed when the first one is stored.
  base::Atomic<std::uintptr_t> join_waker;
};
static_assert(sizeof(Trailer) == 32);

/// What ended the task, in place of a value: directly before the trailer.
struct Failure {
  std::exception_ptr exception;
  /// Gets the exception if it is never taken; null: it is not reported. Owned, as the handle may
  /// outlive the runtime.
  base::Ref<UnhandledExceptions> unhandled;
};

/// Bytes before the header for an output of this size, which begins a line, or a Failure.
constexpr std::size_t prefix_bytes(std::size_t output_bytes) {
  const std::size_t bytes = output_bytes > sizeof(Failure) ? output_bytes : sizeof(Failure);
  return (sizeof(Trailer) + bytes + base::kCacheLineBytes - 1) / base::kCacheLineBytes *
         base::kCacheLineBytes;
}

inline Trailer& trailer_of(Header* header) {
  return *reinterpret_cast<Trailer*>(reinterpret_cast<std::byte*>(header) - sizeof(Trailer));
}

/// Storage of a failure.
inline Failure* failure_of(Header* header) {
  return reinterpret_cast<Failure*>(reinterpret_cast<std::byte*>(header) - sizeof(Trailer) -
                                    sizeof(Failure));
}

/// Storage of an output of type T; below the trailer, at the beginning of the block.
template <class T>
T* output_of(Header* header) {
  static_assert(alignof(T) <= base::kCacheLineBytes, "over-aligned results are not supported");
  return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(header) - prefix_bytes(sizeof(T)));
}

inline void* frame_of(Header* header) {
  return reinterpret_cast<std::byte*>(header) + sizeof(Header);
}
inline Header* header_of(void* frame) {
  return reinterpret_cast<Header*>(static_cast<std::byte*>(frame) - sizeof(Header));
}

/// Allocates a block for a frame of `frame_bytes` and constructs the header. Throws bad_alloc.
[[nodiscard]] void* allocate_frame(std::size_t frame_bytes, const VTable* vtable);

/// Destroys the coroutine, with its parameters and what it still holds; the block stays. What a
/// destructor throws becomes the output, unless that is an exception already. The coroutine awaits
/// no other: it is at its end, or was never resumed.
void destroy_coroutine(Header* header) noexcept;

/// Destroys the coroutine wherever it stands: those that it awaits first, from the innermost
/// outwards, as an exception would unwind them. A loop, so that a chain of any depth needs no
/// stack.
void destroy_suspended(Header* header) noexcept;

/// Makes `failure` the output of the spawned task that this thread is destroying, if there is one
/// that has no exception yet.
void fail_task_being_destroyed(const std::exception_ptr& failure) noexcept;

/// Makes `failure` the output, unless that is an exception already.
void store_failure(Header* header, const std::exception_ptr& failure) noexcept;

/// Ends the lifetime of the output, if one is stored. Reports the exception of a spawned task that
/// nobody has taken.
void destroy_stored_output(Header* header) noexcept;

/// Frees the block of a task whose coroutine and output are gone.
void free_task(Header* header) noexcept;

}  // namespace taskbench::rt::task
