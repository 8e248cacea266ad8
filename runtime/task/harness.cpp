#include "runtime/task/harness.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/task/context.hpp"
#include "runtime/task/fork.hpp"
#include "runtime/task/frame_cache.hpp"
#include "runtime/task/leaf.hpp"
#include "runtime/task/poll.hpp"
#include "runtime/task/task.hpp"
#include "runtime/trace/planted_delay.hpp"

namespace taskbench::rt::task {
namespace {

/// The spawned task whose coroutine this thread is destroying.
struct BeingDestroyedTag;
Header*& being_destroyed() noexcept { return base::of_this_thread<Header*, BeingDestroyedTag>(); }

/// While it exists, this thread is destroying what belongs to `header`.
class BeingDestroyed {
 public:
  explicit BeingDestroyed(Header* header) noexcept : outer_(being_destroyed()) {
    if ((header->flags & Header::kSpawned) != 0) being_destroyed() = header;
  }
  ~BeingDestroyed() { being_destroyed() = outer_; }
  BeingDestroyed(const BeingDestroyed&) = delete;
  BeingDestroyed& operator=(const BeingDestroyed&) = delete;

 private:
  Header* const outer_;
};

void destroy_frame(Header* header) noexcept {
  header->flags |= Header::kFrameGone;
  const auto coroutine = std::coroutine_handle<>::from_address(frame_of(header));
  try {
    coroutine.destroy();
    // A local's destructor threw: the coroutine caught that as its own, stored it as the output
    // and stands at its end, with its parameters still alive.
    if ((header->flags & Header::kAtFinal) != 0) coroutine.destroy();
  } catch (...) {
    store_failure(header, std::current_exception());
  }
}

/// The coroutine that goes on when that of `header` does: itself, or one that it awaits, directly
/// or through others. The caller destroys it: its leaf, which may outlive it, forgets it.
std::coroutine_handle<> innermost(Header* header) noexcept {
  if (header->resume == 0) return std::coroutine_handle<>::from_address(frame_of(header));
  if ((header->resume & kLeafTag) == 0) {
    return std::coroutine_handle<>::from_address(reinterpret_cast<void*>(header->resume));
  }
  return std::exchange(reinterpret_cast<Leaf*>(header->resume & ~kLeafTag)->waiting, nullptr);
}

constexpr std::uintptr_t kListenerTag = 1;

/// The waker that the handle has left in the trailer. The handle may be replacing it at this
/// moment, unless there is proof of the contrary.
std::uintptr_t join_waker_of(Header* task) noexcept {
  return trailer_of(task).join_waker.load(base::relaxed);  // relaxed: the proof orders it
}

/// The listener in a join waker; nullptr: the waker is a task.
JoinListener* listener_in(std::uintptr_t join_waker) noexcept {
  if ((join_waker & kListenerTag) == 0) return nullptr;
  return reinterpret_cast<JoinListener*>(join_waker & ~kListenerTag);
}

void wake_joiner(Header* task) noexcept {
  const std::uintptr_t waker = join_waker_of(task);
  if (JoinListener* const listener = listener_in(waker)) {
    listener->on_complete(task);
  } else {
    wake(reinterpret_cast<Header*>(waker));
  }
}

void drop_join_waker(std::uintptr_t waker) noexcept {
  if (JoinListener* const listener = listener_in(waker)) {
    listener->on_detach();
  } else {
    drop_reference(reinterpret_cast<Header*>(waker));
  }
}

/// finish() of a task that has a listener, or whose waker may change: the task is kept until the
/// waker has been read and called.
[[gnu::noinline]] void finish_in_two_steps(Header* task) noexcept {
  const State::Completed completed = task->state.complete(task->pending_references);
  if (completed.owns_output) {
    destroy_stored_output(task);
  } else if (completed.has_waker) {
    wake_joiner(task);
  }
  if (task->state.release_active()) free_task(task);
}

/// Completes a task whose coroutine is destroyed and whose outcome is stored.
void finish(Header* task) noexcept {
  if ((task->flags & Header::kOwned) != 0) task->scheduler->disown(task);
  const std::uint32_t references = task->pending_references;
  State::Ending ending = task->state.ending();
  while (ending.has_handle()) {
    // If try_complete() succeeds, the waker has not changed since it was read here.
    const std::uintptr_t waker = ending.has_waker() ? join_waker_of(task) : 0;
    if (ending.waker_may_change() || listener_in(waker) != nullptr) {
      finish_in_two_steps(task);
      return;
    }
    if (task->state.try_complete(ending, references)) {
      if (waker != 0) wake(reinterpret_cast<Header*>(waker));
      return;
    }
  }
  destroy_stored_output(task);
  if ((references == 0 && ending.has_sole_owner()) || task->state.complete_detached(references)) {
    free_task(task);
  }
}

/// For a coroutine that has returned without saying where the task goes on: it awaits forks, or was
/// compiled to transfer through here (transfer_to). Not inlined: coroutines that transfer by tail
/// calls never come here.
[[gnu::noinline]] Disposition go_on_elsewhere(Header* task) noexcept {
  do {
    std::coroutine_handle<> next;
    if ((task->flags & Header::kForks) != 0) {
      task->flags &= static_cast<std::uint8_t>(~Header::kForks);
      next = reinterpret_cast<ForkJoinBase*>(task->queue_next)->run_for(task);
      if (!next) return Disposition::handed_over;
      if (task->state.is_cancelled()) {
        // Some forks may not have run. The poll ends, and with it the task.
        resume_directly(task, next);
        return task->disposition;
      }
    } else {
      TASKBENCH_ASSERT((task->flags & Header::kTransfers) != 0,
                       "a task awaited something that is not made for tasks");
      task->flags &= static_cast<std::uint8_t>(~Header::kTransfers);
      next = std::coroutine_handle<>::from_address(task->queue_next);
    }
    next.resume();
  } while (task->resume == 0 && task->disposition != Disposition::finished);
  return task->disposition;
}

void schedule_woken(Header* task) noexcept {
  trace::planted_delay(DelaySite::wake);
  task->scheduler->schedule(task);
}

/// What follows in a poll when the coroutine has returned, or was not resumed; `ended` is the
/// task's disposition. Inlined, so that poll() is no longer than without end_poll().
[[gnu::always_inline]] inline Polled end_of_poll(Header* task, Disposition ended) noexcept {
  for (;;) {
    if (ended == Disposition::yielded) return Polled::yielded;
    if (ended == Disposition::finished) {
      destroy_coroutine(task);
      finish(task);
      return Polled::finished;
    }
    if (task->resume != 0) [[likely]]
      break;
    ended = go_on_elsewhere(task);
    if (ended == Disposition::handed_over) return Polled::idle;
  }
  if ((task->flags & Header::kOwned) == 0) task->scheduler->adopt(task);
  const std::uint32_t references = task->pending_references;
  task->pending_references = 0;
  switch (task->state.suspend(references)) {
    case State::Suspend::idle:
      return Polled::idle;
    case State::Suspend::again:
      return Polled::woken;
    case State::Suspend::cancel:
      break;
  }
  cancel(task);
  return Polled::finished;
}

}  // namespace

void* allocate_frame(std::size_t frame_bytes, const VTable* vtable) {
  const std::size_t bytes = vtable->prefix + sizeof(Header) + frame_bytes;
  const auto units =
      static_cast<std::uint32_t>((bytes + base::kCacheLineBytes - 1) / base::kCacheLineBytes);
  auto* block = static_cast<std::byte*>(allocate_block(units));
  auto* header = new (block + vtable->prefix) Header;
  header->vtable = vtable;
  header->block_units =
      static_cast<std::uint16_t>(std::min<std::uint32_t>(units, Header::kBigBlock));
  header->resume = reinterpret_cast<std::uintptr_t>(frame_of(header));
  return frame_of(header);
}

void destroy_coroutine(Header* header) noexcept {
  const BeingDestroyed scope(header);
  destroy_frame(header);
}

void destroy_suspended(Header* header) noexcept {
  const BeingDestroyed scope(header);
  for (std::coroutine_handle<> inner = innermost(header); inner.address() != frame_of(header);) {
    Header* const awaited = header_of(inner.address());
    inner = PromiseBase::of(inner).continuation();
    destroy_frame(awaited);  // the awaiter that holds it reports what it throws
  }
  destroy_frame(header);
}

void fail_task_being_destroyed(const std::exception_ptr& failure) noexcept {
  if (being_destroyed() != nullptr) store_failure(being_destroyed(), failure);
}

void free_task(Header* task) noexcept {
  const std::uint32_t units = task->block_units;
  deallocate_block(reinterpret_cast<std::byte*>(task) - task->vtable->prefix, units);
}

Polled poll(Header* task) noexcept {
  if (task->state.start_poll() == State::Start::cancel) {
    cancel(task);
    return Polled::finished;
  }
  return end_of_poll(task, go_on(task, Disposition::pending));
}

Polled end_poll(Header* task, Disposition ended) noexcept { return end_of_poll(task, ended); }

bool spend_budget(Header* task) noexcept {
  begin_budget(task);
  ThreadContext& context = thread_context();
  // relaxed: advice of go's monitor
  if (context.budget_left == 0 ||
      (context.slice_is_over != nullptr && context.slice_is_over->load(base::relaxed))) {
    task->disposition = Disposition::yielded;
    return false;
  }
  --context.budget_left;
  return true;
}

void begin_budget(Header* task) noexcept {
  if (task->disposition == Disposition::spending) return;
  task->disposition = Disposition::spending;
  thread_context().budget_left = kBudget;
}

Disposition poll_branch(Header* branch, Header* task) noexcept {
  const std::uintptr_t outer = std::exchange(task->resume, branch->resume);
  const std::uint8_t outer_flags = task->flags;
  task->flags |= Header::kInBranch;
  Disposition disposition = go_on(task, Disposition::spending);
  if (task->resume == 0 && disposition != Disposition::finished) [[unlikely]] {
    disposition = go_on_elsewhere(task);
  }
  if ((outer_flags & Header::kInBranch) == 0) {
    task->flags &= static_cast<std::uint8_t>(~Header::kInBranch);
  }
  branch->resume = std::exchange(task->resume, outer);
  return disposition;
}

void cancel(Header* task) noexcept {
  task->outcome = Outcome::cancelled;
  destroy_suspended(task);
  finish(task);
}

bool claim_for_shutdown(Header* task) noexcept {
  return task->state.abort() == State::Wake::schedule;
}

void wake_by_ref(Header* task) noexcept {
  if (task->state.wake_by_ref() == State::Wake::schedule) schedule_woken(task);
}

void wake(Header* task) noexcept {
  switch (task->state.wake()) {
    case State::Wake::nothing:
      break;
    case State::Wake::schedule:
      schedule_woken(task);
      break;
    case State::Wake::free:
      free_task(task);
      break;
  }
}

void abort(Header* task) noexcept {
  if (task->state.abort() == State::Wake::schedule) task->scheduler->schedule(task);
}

void add_reference(Header* task) noexcept { task->state.add_reference(); }

void drop_reference(Header* task) noexcept {
  if (task->state.drop_reference()) free_task(task);
}

Waker waker_from_reference(Header* task) noexcept {
  static constexpr WakerVTable kTaskWaker{
      [](void* data) noexcept -> void* {
        add_reference(static_cast<Header*>(data));
        return data;
      },
      [](void* data) noexcept { wake(static_cast<Header*>(data)); },
      [](void* data) noexcept { wake_by_ref(static_cast<Header*>(data)); },
      [](void* data) noexcept { drop_reference(static_cast<Header*>(data)); }};
  return Waker(task, &kTaskWaker);
}

bool join_poll(Header* task, Header* waiter) noexcept {
  if (task->state.is_complete()) return true;
  auto& waker = trailer_of(task).join_waker;
  if (task->state.has_join_waker()) {
    const std::uintptr_t before = join_waker_of(task);
    if (before == reinterpret_cast<std::uintptr_t>(waiter)) return false;
    if (!task->state.unset_join_waker()) return true;
    drop_join_waker(before);
    // relaxed: published by set_join_waker()
    waker.store(reinterpret_cast<std::uintptr_t>(reference_in_poll(waiter)), base::relaxed);
  } else {
    std::construct_at(&waker, reinterpret_cast<std::uintptr_t>(reference_in_poll(waiter)));
  }
  ThreadContext& context = thread_context();
  // The usual case of a task that is spawned and awaited: it has not gone anywhere yet.
  if (context.next == task && task->state.set_join_waker_unshared()) return false;
  if (task->state.set_join_waker()) {
    context.waits_for_task = true;
    return false;
  }
  drop_reference(waiter);
  return true;
}

bool join_listen(Header* task, JoinListener* listener) noexcept {
  std::construct_at(&trailer_of(task).join_waker,
                    reinterpret_cast<std::uintptr_t>(listener) | kListenerTag);
  return task->state.set_join_waker();
}

void join_drop(Header* task) noexcept {
  // The usual case of a task that is spawned and left alone: it has not gone anywhere yet.
  if (thread_context().next == task && task->state.drop_join_unshared()) return;
  // Read before the interest is dropped: from then on the task may be freed at any moment.
  const std::uintptr_t waker = task->state.has_join_waker() ? join_waker_of(task) : 0;
  const State::JoinDrop dropped = task->state.drop_join();
  if (!dropped.complete) {
    if (dropped.has_waker) drop_join_waker(waker);
    return;
  }
  destroy_stored_output(task);
  if (task->state.drop_complete_join()) free_task(task);
}

}  // namespace taskbench::rt::task
