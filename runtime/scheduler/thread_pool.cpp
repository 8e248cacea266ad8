#include "runtime/scheduler/thread_pool.hpp"

#include "runtime/scheduler/drain.hpp"
#include "runtime/scheduler/root.hpp"
#include "runtime/task/context.hpp"

namespace taskbench::rt::scheduler {

ThreadPool::ThreadPool(RuntimeOptions options)
    : Engine(options),
      options_(std::move(options)),
      recording_(options_.workers, options_.trace_events),
      owned_(options_.workers),
      outside_(recording_.outside()) {
  workers_.reserve(options_.workers);
}

base::Ref<Engine> ThreadPool::start(base::Ref<ThreadPool> pool) {
  pool->threads_.start(*pool, *pool, pool->options_);
  return pool;
}

ThreadPool::Worker* ThreadPool::local_worker() const noexcept {
  const task::ThreadContext& context = task::thread_context();
  return context.scheduler == this ? static_cast<Worker*>(context.worker) : nullptr;
}

void ThreadPool::schedule(task::Header* task) noexcept {
  if (Worker* worker = local_worker()) {
    worker->recorder.wake(task);
    push(task, worker);
    return;
  }
  // Until it is queued, the task keeps the engine alive; from then on `keep` does.
  const base::Ref<ThreadPool> keep(this);
  outside_.wake(task);
  push(task, nullptr);
}

void ThreadPool::spawn(task::Header* task) noexcept {
  trace::planted_delay(DelaySite::spawn);
  if (Worker* worker = local_worker()) {
    worker->counters.tasks_spawned.add();
    worker->recorder.spawn(task);
    begin(task, worker);
    push(task, worker);
    return;
  }
  const bool admitted = outside_.spawn(task, [&] {
    begin(task, nullptr);
    push(task, nullptr);
  });
  if (!admitted) task::cancel(task);
}

void ThreadPool::adopt(task::Header* task) noexcept {
  const Worker* const worker = local_worker();
  owned_.insert(task, worker != nullptr ? worker->index : 0);
}

driver::Wheel& ThreadPool::timers() noexcept {
  Worker* const worker = local_worker();
  return worker != nullptr ? worker->timers() : driver().outside_wheel();
}

void ThreadPool::unpark(Worker& worker, Worker* from) noexcept {
  if (from == nullptr) {
    outside_.notify(worker.index);
  } else {
    from->counters.unparks.add();
    from->recorder.notify(worker.index);
  }
  worker.parker.unpark();
}

void ThreadPool::run_worker(std::uint32_t index) noexcept {
  Worker& worker = *workers_[index];
  const task::EnterContext enter(this, &worker);
  run(worker);
}

void ThreadPool::run_root(task::Header* root) noexcept { Root(*this).run(root); }

void ThreadPool::close() noexcept {
  outside_.close();
  // release: pairs with the acquire in closed()
  closed_.store(true, base::release);
  for (const auto& worker : workers_) worker->parker.unpark();
  release_waiting();
}

bool ThreadPool::join(Clock::time_point deadline) noexcept { return threads_.join(deadline); }

void ThreadPool::drain() noexcept {
  scheduler::drain(*this, owned_, [this] {
    bool any = outside_.is_spawning();
    while (task::Header* task = pop_left_over()) {
      cancel_left_over(task);
      any = true;
    }
    return any;
  });
}

RuntimeStats ThreadPool::stats() const {
  RuntimeStats stats;
  for (const auto& worker : workers_) stats.workers.push_back(worker->counters.snapshot());
  stats.outside = outside_.counters();
  return stats;
}

}  // namespace taskbench::rt::scheduler
