#include "runtime/scheduler/work_stealing/worker_set.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "runtime/scheduler/drain.hpp"
#include "runtime/task/context.hpp"
#include "runtime/trace/planted_delay.hpp"

namespace taskbench::rt::work_stealing {

WorkerSet::WorkerSet(RuntimeOptions options, Worker::Pace pace)
    : Engine(options),
      idle(options.workers),
      options_(std::move(options)),
      recording_(options_.workers, options_.trace_events),
      owned_(options_.workers),
      outside_recorder_(recording_.outside()) {
  workers_ = std::make_unique<base::Atomic<Worker*>[]>(options_.workers);
  all_.reserve(options_.workers);
  for (std::uint32_t i = 0; i < options_.workers; ++i) {
    all_.push_back(std::make_unique<Worker>(*this, i, pace));
    workers_[i].store(all_.back().get(), base::relaxed);  // relaxed: no other thread is there yet
  }
}

Worker* WorkerSet::local_worker() const noexcept {
  const task::ThreadContext& context = task::thread_context();
  return context.scheduler == this ? static_cast<Worker*>(context.worker) : nullptr;
}

void WorkerSet::schedule(task::Header* task) noexcept {
  Policy::Rounds::forget(task);
  if (Worker* worker = local_worker()) {
    worker->recorder.wake(task);
    worker->schedule_local(task);
    return;
  }
  // Until it is queued, the task keeps the engine alive; from then on `keep` does.
  const base::Ref<WorkerSet> keep(this);
  injector.push(task, queue::Admit::always, [this, task] {
    outside_.remote_schedules.add();
    outside_recorder_.wake(task);
  });
  notify_from_outside();
}

void WorkerSet::spawn(task::Header* task) noexcept {
  trace::planted_delay(DelaySite::spawn);
  if (Worker* worker = local_worker()) {
    worker->counters.tasks_spawned.add();
    worker->recorder.spawn(task);
    worker->schedule_local(task);
    return;
  }
  const bool admitted = injector.push(task, queue::Admit::if_open, [this, task] {
    outside_.tasks_spawned.add();
    outside_.remote_schedules.add();
    outside_recorder_.spawn(task);
  });
  if (admitted) {
    notify_from_outside();
  } else {
    Policy::cancel(task);
  }
}

void WorkerSet::adopt(task::Header* task) noexcept {
  using Side = Policy::OwnedTasks::Side;
  if (const Worker* worker = local_worker()) {
    owned_.insert(task, worker->index(), Side::owner);
  } else {
    owned_.insert(task, 0, Side::visitor);
  }
}

driver::Wheel& WorkerSet::timers() noexcept {
  Worker* const worker = local_worker();
  return worker != nullptr ? worker->timers() : driver().outside_wheel();
}

void WorkerSet::disown(task::Header* task) noexcept {
  using Side = Policy::OwnedTasks::Side;
  const Worker* worker = local_worker();
  const bool is_own = worker != nullptr && worker->index() == Policy::OwnedTasks::shard_of(task);
  owned_.remove(task, is_own ? Side::owner : Side::visitor);
}

void WorkerSet::unpark(std::uint32_t index, Worker& from) noexcept {
  from.recorder.notify(index);
  worker(index).parker.unpark();
  from.counters.unparks.add();
}

void WorkerSet::notify_from_outside() noexcept {
  const std::uint32_t index = idle.worker_to_notify(Idle::Pusher::outside);
  if (index == Idle::kNobody) return;
  worker(index).parker.unpark();
  injector.locked([this, index] {
    outside_.unparks.add();
    outside_recorder_.notify(index);
  });
}

bool WorkerSet::work_is_visible() const noexcept {
  if (!injector.looks_empty()) return true;
  for (std::uint32_t i = 0; i < worker_count(); ++i) {
    if (!worker(i).queue.looks_empty() || !worker(i).forks.looks_empty()) return true;
  }
  return false;
}

void WorkerSet::notify_if_work_is_visible(Worker& worker) noexcept {
  if (!work_is_visible()) return;
  const std::uint32_t index = idle.worker_to_notify_again();
  if (index != Idle::kNobody) unpark(index, worker);
}

void WorkerSet::close() noexcept {
  injector.close();
  // release: pairs with the acquire in closed(): makes all that was admitted before visible
  closed_.store(true, base::release);
  const base::LockGuard lock(mutex_);
  for (const auto& worker : all_) {
    worker->leave();
    worker->close_forks();
    worker->parker.unpark();
  }
}

Worker* WorkerSet::spare_worker(std::uint32_t index) noexcept {
  const auto spare = std::ranges::find(retired_, index, &Worker::index);
  if (spare != retired_.end()) return *spare;
  try {
    retired_.reserve(all_.size() + 1);  // retire() must not fail
    all_.push_back(std::make_unique<Worker>(*this, index, Worker::Pace::clock));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  retired_.push_back(all_.back().get());
  return retired_.back();
}

Worker* WorkerSet::take_over(Worker& blocked, std::uint32_t seen) noexcept {
  const base::LockGuard lock(mutex_);
  if (closed()) return nullptr;
  Worker* const next = spare_worker(blocked.index());
  if (next == nullptr || !blocked.lease.retake(seen)) return nullptr;
  std::erase(retired_, next);
  next->take_over(blocked);
  // release: pairs with the acquire in worker()
  workers_[next->index()].store(next, base::release);
  // A worker that was falling asleep may have missed these tasks on their way from queue to queue.
  if (!next->queue.looks_empty()) notify_from(*next);
  return next;
}

void WorkerSet::retire(Worker& worker) noexcept {
  bool any = false;
  worker.drain([&](task::Header* task) {
    injector.push(task, queue::Admit::always, [this] { outside_.remote_schedules.add(); });
    any = true;
  });
  {
    const base::LockGuard lock(mutex_);
    retired_.push_back(&worker);
  }
  if (any) notify_from_outside();
}

void WorkerSet::drain() noexcept {
  scheduler::drain(*this, owned_, [this] {
    bool any = false;
    const auto cancel = [&any](task::Header* task) {
      Policy::cancel(task);
      any = true;
    };
    for (const auto& worker : all_when_closed()) worker->drain(cancel);
    injector.drain(cancel);
    return any;
  });
}

RuntimeStats WorkerSet::stats() const {
  RuntimeStats stats;
  stats.workers.resize(worker_count());
  {
    const base::LockGuard lock(mutex_);
    for (const auto& worker : all_) stats.workers[worker->index()] += worker->counters.snapshot();
  }
  stats.outside = outside_.snapshot();
  return stats;
}

}  // namespace taskbench::rt::work_stealing
