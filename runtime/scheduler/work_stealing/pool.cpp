#include "runtime/scheduler/work_stealing/pool.hpp"

#include <pthread.h>

#include <array>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/task/context.hpp"
#include "runtime/trace/planted_delay.hpp"

namespace taskbench::rt::work_stealing {

Pool::Pool(RuntimeOptions options)
    : idle(options.workers),
      options_(std::move(options)),
      recording_(options_.workers, options_.trace_events),
      owned_(options_.workers),
      outside_recorder_(recording_.outside()),
      random_(options_.seed) {
  static_cast<void>(base::prepare_asymmetric_fences());
  workers_.reserve(options_.workers);
  for (std::uint32_t i = 0; i < options_.workers; ++i) {
    workers_.push_back(std::make_unique<Worker>(*this, i));
  }
}

Pool::~Pool() = default;

void Pool::start() {
  if (runs_in_turn()) return;
  threads_.reserve(options_.workers);
  {
    base::LockGuard lock(exit_mutex_);
    running_ = options_.workers;
  }
  for (std::uint32_t i = 0; i < options_.workers; ++i) {
    try {
      threads_.emplace_back([self = shared_from_this(), i] { self->thread_main(i); });
    } catch (...) {
      close();
      {
        base::LockGuard lock(exit_mutex_);
        running_ -= options_.workers - i;
      }
      for (base::Thread& thread : threads_) thread.join();
      threads_.clear();
      drain();  // what the threads' hooks have spawned
      throw;
    }
  }
}

Worker* Pool::local_worker() const noexcept {
  const task::ThreadContext& context = task::thread_context();
  return context.scheduler == this ? static_cast<Worker*>(context.worker) : nullptr;
}

void Pool::schedule(task::Header* task) noexcept {
  if (Worker* worker = local_worker()) {
    worker->recorder.wake(task);
    worker->schedule_local(task);
    return;
  }
  // Until the task is queued it keeps the pool alive; from then on this does.
  const std::shared_ptr<Pool> keep = shared_from_this();
  injector.push(task, queue::Admit::always, [this, task] {
    outside_.remote_schedules.add();
    outside_recorder_.wake(task);
  });
  notify_from_outside();
}

void Pool::spawn(task::Header* task) noexcept {
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
    task::cancel(task);
  }
}

void Pool::adopt(task::Header* task) noexcept {
  const Worker* worker = local_worker();
  owned_.insert(task, worker != nullptr ? worker->index() : 0);
}

void Pool::disown(task::Header* task) noexcept { owned_.remove(task); }

void Pool::notify_from(Worker& worker) noexcept {
  const std::uint32_t index = idle.worker_to_notify(Idle::Pusher::worker);
  if (index == Idle::kNobody) return;
  worker.recorder.notify(index);
  workers_[index]->parker.unpark();
  worker.counters.unparks.add();
}

void Pool::notify_from_outside() noexcept {
  const std::uint32_t index = idle.worker_to_notify(Idle::Pusher::outside);
  if (index == Idle::kNobody) return;
  workers_[index]->parker.unpark();
  injector.locked([this, index] {
    outside_.unparks.add();
    outside_recorder_.notify(index);
  });
}

bool Pool::work_is_visible() const noexcept {
  if (!injector.looks_empty()) return true;
  for (const auto& worker : workers_) {
    if (!worker->queue.looks_empty()) return true;
  }
  return false;
}

void Pool::notify_if_work_is_visible(Worker& worker) noexcept {
  if (!work_is_visible()) return;
  const std::uint32_t index = idle.worker_to_notify_again();
  if (index == Idle::kNobody) return;
  worker.recorder.notify(index);
  workers_[index]->parker.unpark();
  worker.counters.unparks.add();
}

void Pool::close() noexcept {
  injector.close();
  // release: pairs with the acquire in closed(): whoever sees it sees all that was admitted before
  closed_.store(true, base::release);
  unpark_all();
}

void Pool::unpark_all() noexcept {
  for (const auto& worker : workers_) worker->parker.unpark();
}

void Pool::thread_main(std::uint32_t index) noexcept {
  // 15 characters and the terminator are what Linux takes.
  std::string name = options_.thread_name;
  const std::string suffix = "-" + std::to_string(index);
  name.resize(std::min(name.size(), 15 - std::min<std::size_t>(suffix.size(), 15)));
  pthread_setname_np(pthread_self(), (name + suffix).c_str());

  Worker& worker = *workers_[index];
  {
    // The hooks may spawn: outside of the worker's context, so through the injector.
    const task::EnterContext enter_pool(this, nullptr);
    if (options_.on_thread_start) options_.on_thread_start(index);
    {
      const task::EnterContext enter_worker(this, &worker);
      worker.run();
    }
    if (options_.on_thread_stop) options_.on_thread_stop(index);
  }
  bool last = false;
  {
    base::LockGuard lock(exit_mutex_);
    last = running_ == 1;
    if (!last) --running_;
  }
  if (last) {
    drain();
    base::LockGuard lock(exit_mutex_);
    running_ = 0;
  }
  exit_changed_.notify_all();
}

void Pool::drain() noexcept {
  // Destructors of tasks may spawn (refused) and wake (queued in the injector) on this thread.
  const task::EnterContext enter(this, nullptr);
  const auto cancel = [](task::Header* task) { task::cancel(task); };
  for (;;) {
    for (task::Header* task = owned_.claim_all(); task != nullptr;) {
      task::Header* const next = task->queue_next;
      cancel(task);
      task = next;
    }
    for (const auto& worker : workers_) worker->drain(cancel);
    std::array<task::Header*, 64> batch;
    std::size_t taken = 0;
    while ((taken = injector.pop_batch(batch)) != 0) {
      for (std::size_t i = 0; i < taken; ++i) cancel(batch[i]);
    }
    // What is still owned is on its way to the injector, in the hands of a thread that woke it.
    if (owned_.empty() && injector.looks_empty()) return;
    base::yield_thread();
  }
}

bool Pool::try_begin_turns() noexcept {
  const base::LockGuard lock(exit_mutex_);
  if (driver_ != nullptr) return false;
  driver_ = &task::thread_context();
  return true;
}

bool Pool::take_turn() noexcept {
  if (closed()) {
    {
      const base::LockGuard lock(exit_mutex_);
      if (drained_) return false;
    }
    drain();
    const base::LockGuard lock(exit_mutex_);
    drained_ = true;
    exit_changed_.notify_all();
    return false;
  }
  const std::uint32_t first = random_.below(worker_count());
  for (std::uint32_t i = 0; i < worker_count(); ++i) {
    const std::uint32_t index = (first + i) % worker_count();
    const task::EnterContext enter(this, workers_[index].get());
    if (workers_[index]->take_turn()) return true;
  }
  return false;
}

void Pool::end_turns() noexcept {
  // A task may have closed the pool and the root ended since. Who closes it later drains it.
  if (closed()) static_cast<void>(take_turn());
  const base::LockGuard lock(exit_mutex_);
  driver_ = nullptr;
  exit_changed_.notify_all();
}

bool Pool::join_in_turn(std::chrono::steady_clock::time_point deadline) noexcept {
  const task::ThreadContext* const self = &task::thread_context();
  base::UniqueLock lock(exit_mutex_);
  for (;;) {
    if (drained_) return true;
    // The driver itself is in the poll of its root here, and so in that of no task.
    if (driver_ == nullptr || driver_ == self) break;
    const auto changed = [this] { return drained_ || driver_ == nullptr; };
    if (deadline == std::chrono::steady_clock::time_point::max()) {
      exit_changed_.wait(lock, changed);
    } else if (!exit_changed_.wait_until(lock, deadline, changed)) {
      return false;
    }
  }
  const task::ThreadContext* const before = std::exchange(driver_, self);
  lock.unlock();
  drain();
  lock.lock();
  driver_ = before;
  drained_ = true;
  exit_changed_.notify_all();
  return true;
}

bool Pool::join(std::chrono::steady_clock::time_point deadline) noexcept {
  if (local_worker() != nullptr) return false;
  if (runs_in_turn()) return join_in_turn(deadline);
  {
    base::UniqueLock lock(exit_mutex_);
    const auto gone = [this] { return running_ == 0; };
    if (deadline == std::chrono::steady_clock::time_point::max()) {
      exit_changed_.wait(lock, gone);
    } else if (!exit_changed_.wait_until(lock, deadline, gone)) {
      return false;
    }
  }
  for (base::Thread& thread : threads_) thread.join();
  threads_.clear();
  return true;
}

bool Pool::has_ended() noexcept {
  base::LockGuard lock(exit_mutex_);
  return runs_in_turn() ? drained_ : running_ == 0;
}

void Pool::detach() noexcept {
  for (base::Thread& thread : threads_) thread.detach();
  threads_.clear();
}

}  // namespace taskbench::rt::work_stealing
