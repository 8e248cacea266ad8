#include "runtime/scheduler/current_thread/current_thread.hpp"

#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/scheduler/traced_poll.hpp"
#include "runtime/task/context.hpp"
#include "runtime/trace/planted_delay.hpp"

namespace taskbench::rt::scheduler {
namespace {

struct CancelledTag;

/// The scheduler whose tasks this thread is cancelling, if any.
const CurrentThread*& cancelled_by_this_thread() noexcept {
  return base::of_this_thread<const CurrentThread*, CancelledTag>();
}

}  // namespace

CurrentThread::CurrentThread(RuntimeOptions options)
    : Engine(options),
      options_(std::move(options)),
      recording_(1, options_.trace_events),
      recorder_(recording_.worker(0)),
      outside_recorder_(recording_.outside()),
      owned_(1) {}

bool CurrentThread::on_driver() const noexcept {
  const task::ThreadContext& context = task::thread_context();
  return context.scheduler == this && context.worker == this;
}

void CurrentThread::schedule(task::Header* task) noexcept {
  if (on_driver()) {
    counters_.local_schedules.add();
    recorder_.wake(task);
    queue_.push_back(task);
    return;
  }
  // Until it is queued, the task keeps the scheduler alive; from then on `keep` does.
  const base::Ref<CurrentThread> keep(this);
  inbox_.push(task, queue::Admit::always, [this, task] {
    outside_.remote_schedules.add();
    outside_recorder_.wake(task);
    unpark_driver();
  });
}

void CurrentThread::spawn(task::Header* task) noexcept {
  trace::planted_delay(DelaySite::spawn);
  if (on_driver()) {
    if (closing()) {
      task::cancel(task);
      return;
    }
    counters_.tasks_spawned.add();
    counters_.local_schedules.add();
    recorder_.spawn(task);
    queue_.push_back(task);
    return;
  }
  const bool admitted = inbox_.push(task, queue::Admit::if_open, [this, task] {
    outside_.tasks_spawned.add();
    outside_.remote_schedules.add();
    outside_recorder_.spawn(task);
    unpark_driver();
  });
  if (!admitted) task::cancel(task);
}

void CurrentThread::unpark_driver() noexcept {
  if (driver_ == nullptr || !driver_->parker_.unpark()) return;
  outside_.unparks.add();
  outside_recorder_.notify(0);
}

void CurrentThread::adopt(task::Header* task) noexcept { owned_.insert(task, 0); }

void CurrentThread::disown(task::Header* task) noexcept { owned_.remove(task); }

void CurrentThread::take_inbox() noexcept {
  const std::size_t taken = inbox_.take_all(queue_);
  if (taken == 0) return;
  counters_.injector_polls.add(taken);
  recorder_.injector_take(taken);
}

bool CurrentThread::run_some() noexcept {
  take_inbox();
  for (std::uint32_t i = 0; i < options_.injector_interval; ++i) {
    task::Header* const task = queue_.pop_front();
    if (task == nullptr) return i != 0;
    if (!queue_.empty()) __builtin_prefetch(queue_.front(), 1);
    counters_.polls.add();
    polling_task_ = true;
    const task::Polled polled = scheduler::poll(task, recorder_);
    polling_task_ = false;
    after_poll(polled, counters_, [&] { queue_.push_back(task); });
  }
  return true;
}

void CurrentThread::Root::schedule(task::Header*) noexcept {
  if (scheduler_.on_driver() && scheduler_.driver_ == this) {
    woken_ = true;
    return;
  }
  // The root, whose poll right this thread holds, keeps the scheduler alive until it is woken.
  const base::Ref<CurrentThread> keep(&scheduler_);
  scheduler_.wake_outside(*this);
}

void CurrentThread::wake_outside(Root& root) noexcept {
  inbox_.locked([&root] {
    root.woken_outside_ = true;
    root.parker_.unpark();
  });
}

bool CurrentThread::Root::take_woken() noexcept {
  if (std::exchange(woken_, false)) return true;
  return scheduler_.inbox_.locked([this] { return std::exchange(woken_outside_, false); });
}

bool CurrentThread::Root::poll(task::Header* root) noexcept {
  switch (task::poll(root)) {
    case task::Polled::finished:
      return true;
    case task::Polled::idle:
      break;
    case task::Polled::yielded:
    case task::Polled::woken:
      woken_ = true;
      break;
  }
  return false;
}

void CurrentThread::Root::run(task::Header* root) noexcept {
  root->scheduler = this;
  const bool was_driver = poll_to_end(root);
  scheduler_.leave(*this, was_driver);
}

bool CurrentThread::Root::poll_to_end(task::Header* root) noexcept {
  // rt::spawn works in the root of any thread; try_drive() lets the driver's root touch the queue.
  const task::EnterContext enter(&scheduler_, nullptr);
  bool driving = scheduler_.try_drive(*this);
  for (;;) {
    if (take_woken() && poll(root)) return driving;
    // Also if another thread drives, as that may be in a long poll.
    driver::Wheel* const own = driving ? &scheduler_.own_timers() : nullptr;
    scheduler_.driver().look(own);
    if (driving) {
      if (scheduler_.closing()) {
        static_cast<void>(scheduler_.cancel_some());
      } else if (scheduler_.run_some()) {
        continue;
      }
    }
    if (woken_) continue;
    if (!driving) {
      driving = scheduler_.try_drive(*this);
      if (driving) continue;
    }
    if (driving) {
      scheduler_.counters_.parks.add();
      scheduler_.recorder_.park();
    }
    static_cast<void>(parker_.park_once());
    if (driving) scheduler_.recorder_.unpark();
    scheduler_.driver().dispatch(own);
  }
}

bool CurrentThread::try_drive(Root& root) noexcept {
  const bool driving = inbox_.locked([&] {
    if (driver_ == nullptr) {
      driver_ = &root;
      return true;
    }
    if (!std::exchange(root.is_waiting_, true)) {
      root.next_waiting_ = std::exchange(waiting_, &root);
    }
    return false;
  });
  if (driving) task::thread_context().worker = this;
  return driving;
}

void CurrentThread::leave(Root& root, bool was_driver) noexcept {
  bool cancelled = false;
  bool left = false;
  while (!left) {
    if (was_driver && closing()) {
      cancel_all();
      cancelled = true;
    }
    inbox_.locked([&] {
      // A shutdown that has just begun left the cancelling to this thread.
      if (was_driver && closing() && !cancelled) return;
      left = true;
      if (root.is_waiting_) {
        Root** place = &waiting_;
        while (*place != &root) place = &(*place)->next_waiting_;
        *place = root.next_waiting_;
      }
      if (!was_driver) return;
      driver_ = nullptr;
      for (Root* next = waiting_; next != nullptr; next = next->next_waiting_) {
        next->parker_.unpark();
      }
    });
  }
}

void CurrentThread::close() noexcept {
  inbox_.close();
  Root closer(*this);
  const bool driven = inbox_.locked([&] {
    // release: pairs with the acquire in closing(): makes all that was admitted before visible
    closing_.store(true, base::release);
    if (driver_ == nullptr) {
      driver_ = &closer;  // no other thread may drive meanwhile
      return false;
    }
    driver_->parker_.unpark();
    return true;
  });
  // The driver itself can cancel at once in the poll of its root, but not in the poll of a task,
  // which is itself to be cancelled.
  if (!driven) {
    leave(closer, true);
  } else if (on_driver() && !polling_task_) {
    cancel_all();
  }
}

RuntimeStats CurrentThread::stats() const {
  return {.workers = {counters_.snapshot()}, .outside = outside_.snapshot()};
}

bool CurrentThread::has_ended() noexcept {
  // Under one lock: close() changes both, and may come in between.
  return inbox_.locked([this] { return closing() && driver_ == nullptr; });
}

bool CurrentThread::join(Clock::time_point) noexcept { return cancelled_by_this_thread() != this; }

bool CurrentThread::cancel_some() noexcept {
  // Destructors of tasks may spawn (refused) and wake (queued in the inbox) on this thread.
  const task::EnterContext enter(this, nullptr);
  const CurrentThread* const before = std::exchange(cancelled_by_this_thread(), this);
  owned_.cancel_idle();
  take_inbox();
  while (task::Header* task = queue_.pop_front()) task::cancel(task);
  cancelled_by_this_thread() = before;
  return owned_.empty();
}

void CurrentThread::cancel_all() noexcept {
  // A task that is still owned is on its way to the inbox, in the hands of a thread that woke it.
  while (!cancel_some()) base::yield_thread();
}

}  // namespace taskbench::rt::scheduler
