#include "runtime/scheduler/global_queue/global_queue.hpp"

#include "runtime/scheduler/root.hpp"
#include "runtime/scheduler/traced_poll.hpp"
#include "runtime/task/context.hpp"

namespace taskbench::rt::scheduler {

GlobalQueue::GlobalQueue(RuntimeOptions options)
    : recording_(options.workers, options.trace_events), owned_(1) {
  for (std::uint32_t i = 0; i < options.workers; ++i) {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->recorder = recording_.worker(i);
  }
  sleeping_.reserve(options.workers);
  threads_.reserve(options.workers);
}

base::Ref<GlobalQueue> GlobalQueue::make(RuntimeOptions options) {
  base::Ref<GlobalQueue> engine(new GlobalQueue(std::move(options)));
  // The last to leave drains: until all threads have started that is this one.
  engine->running_ = 1;
  try {
    for (const auto& worker : engine->workers_) {
      engine->queue_.locked([&] { ++engine->running_; });
      engine->threads_.emplace_back([engine, &worker] { engine->run_worker(*worker); });
    }
  } catch (...) {
    engine->close();
    engine->leave();  // for the thread that did not start
    engine->leave();
    static_cast<void>(engine->join(Clock::time_point::max()));
    throw;
  }
  engine->leave();
  return engine;
}

bool GlobalQueue::push(task::Header* task, queue::Admit admit) noexcept {
  return queue_.push(task, admit, [this] {
    if (sleeping_.empty()) return;
    sleeping_.back()->parker.unpark();
    sleeping_.pop_back();
  });
}

void GlobalQueue::schedule(task::Header* task) noexcept {
  // Until the task is queued it keeps the engine alive; from then on this does.
  const base::Ref<GlobalQueue> keep(this);
  push(task, queue::Admit::always);
}

void GlobalQueue::spawn(task::Header* task) noexcept {
  if (!push(task, queue::Admit::if_open)) task::cancel(task);
}

void GlobalQueue::run_root(task::Header* root) noexcept { Root(*this).run(root); }

void GlobalQueue::run_worker(Worker& worker) noexcept {
  {
    const task::EnterContext enter(this, &worker);
    task::Header* task = nullptr;
    while (wait(worker)) {
      if (queue_.pop_batch({&task, 1}) != 0) run_task(worker, task);
    }
  }
  leave();
}

void GlobalQueue::run_task(Worker& worker, task::Header* task) noexcept {
  worker.counters.polls.add();
  switch (scheduler::poll(task, worker.recorder)) {
    case task::Polled::finished:
      worker.counters.tasks_completed.add();
      break;
    case task::Polled::idle:
      break;
    case task::Polled::yielded:
      worker.counters.yields.add();
      [[fallthrough]];
    case task::Polled::woken:
      push(task, queue::Admit::always);
      break;
  }
}

bool GlobalQueue::wait(Worker& worker) noexcept {
  bool sleeps = false;
  bool closed = false;
  queue_.locked([&] {
    closed = closed_;
    sleeps = !closed && queue_.looks_empty();
    if (sleeps) sleeping_.push_back(&worker);
  });
  if (sleeps) {
    worker.counters.parks.add();
    worker.parker.park();
  }
  return !closed;
}

void GlobalQueue::close() noexcept {
  queue_.close();
  queue_.locked([this] {
    closed_ = true;
    for (Worker* worker : sleeping_) worker->parker.unpark();
    sleeping_.clear();
  });
}

void GlobalQueue::leave() noexcept {
  bool last = false;
  queue_.locked([&] {
    last = running_ == 1;
    if (!last) --running_;
  });
  if (!last) return;
  drain();
  queue_.locked([this] { running_ = 0; });
  joiner_.unpark();
}

void GlobalQueue::drain() noexcept {
  // Destructors of tasks may spawn (refused) and wake (queued) on this thread.
  const task::EnterContext enter(this, nullptr);
  for (;;) {
    owned_.cancel_idle();
    task::Header* task = nullptr;
    while (queue_.pop_batch({&task, 1}) != 0) task::cancel(task);
    // What is still owned is on its way here, in the hands of a thread that woke it.
    if (owned_.empty() && queue_.looks_empty()) return;
    base::yield_thread();
  }
}

bool GlobalQueue::join(Clock::time_point deadline) noexcept {
  const task::ThreadContext& context = task::thread_context();
  if (context.scheduler == this && context.worker != nullptr) return false;
  while (!has_ended()) {
    if (!joiner_.park_until(deadline) && !has_ended()) return false;
  }
  for (base::Thread& thread : threads_) thread.join();
  threads_.clear();
  return true;
}

void GlobalQueue::detach() noexcept {
  for (base::Thread& thread : threads_) thread.detach();
  threads_.clear();
}

bool GlobalQueue::has_ended() noexcept {
  bool ended = false;
  queue_.locked([&] { ended = running_ == 0; });
  return ended;
}

RuntimeStats GlobalQueue::stats() const {
  RuntimeStats stats;
  for (const auto& worker : workers_) stats.workers.push_back(worker->counters.snapshot());
  return stats;
}

}  // namespace taskbench::rt::scheduler
