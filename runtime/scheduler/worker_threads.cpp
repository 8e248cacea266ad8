#include "runtime/scheduler/worker_threads.hpp"

#include <algorithm>
#include <string>

#include "runtime/task/context.hpp"

namespace taskbench::rt::scheduler {
namespace {

struct OwnerTag;

/// The WorkerThreads to which this thread belongs, if any.
const WorkerThreads*& threads_of_this() noexcept {
  return base::of_this_thread<const WorkerThreads*, OwnerTag>();
}

}  // namespace

void WorkerThreads::start(Engine& engine, Work& work, const RuntimeOptions& options) {
  {
    // Counted before the first starts, which could otherwise be the last to leave.
    base::LockGuard lock(exit_mutex_);
    running_ = options.workers;
  }
  for (std::uint32_t i = 0; i < options.workers; ++i) {
    try {
      start_thread(engine, work, options, i);
    } catch (...) {
      engine.close();
      join_threads();
      // Drains tasks that the threads' hooks have spawned: no thread has drained, as threads that
      // were never started count as not having left. Hooks may also have begun blocking calls.
      engine.blocking_pool().close();
      work.drain();
      static_cast<void>(engine.blocking_pool().join(Engine::Clock::time_point::max()));
      throw;
    }
  }
}

void WorkerThreads::add(Engine& engine, Work& work, const RuntimeOptions& options,
                        std::uint32_t index) {
  const auto count = [this](std::uint32_t threads) {
    base::LockGuard lock(exit_mutex_);
    running_ += threads;
  };
  count(1);
  try {
    start_thread(engine, work, options, index);
  } catch (...) {
    count(-1U);
    throw;
  }
}

void WorkerThreads::start_thread(Engine& engine, Work& work, const RuntimeOptions& options,
                                 std::uint32_t index) {
  base::LockGuard lock(threads_mutex_);
  join_those_that_left();
  Worked& own = threads_.emplace_back();
  try {
    own.thread = base::Thread([this, keep = base::Ref<Engine>(&engine), &work, &options, index,
                               &own] { run(*keep, work, options, index, own); });
  } catch (...) {
    threads_.pop_back();
    throw;
  }
  if (detached_) own.thread.detach();
}

void WorkerThreads::join_those_that_left() noexcept {
  std::erase_if(threads_, [this](Worked& each) {
    {
      const base::LockGuard lock(exit_mutex_);
      if (!each.has_left.get()) return false;
    }
    if (each.thread.joinable()) each.thread.join();
    return true;
  });
}

void WorkerThreads::join_threads() noexcept {
  for (;;) {
    std::list<Worked> threads;
    {
      const base::LockGuard lock(threads_mutex_);
      threads.swap(threads_);
    }
    if (threads.empty()) return;
    // Without the mutex: if not all could be started, one of them may be about to add another.
    for (Worked& each : threads) each.thread.join();
  }
}

void WorkerThreads::run(Engine& engine, Work& work, const RuntimeOptions& options,
                        std::uint32_t index, Worked& own) noexcept {
  threads_of_this() = this;
  base::name_this_thread(options.name_of_thread(std::to_string(index)).c_str());
  {
    // The hooks may spawn: outside of the worker's context, as any other thread.
    const task::EnterContext enter(&engine, nullptr);
    if (options.on_thread_start) options.on_thread_start(index);
    work.run_worker(index);
    if (options.on_thread_stop) options.on_thread_stop(index);
  }
  bool last = false;
  {
    base::LockGuard lock(exit_mutex_);
    last = running_ == 1;
    own.has_left.set(!last);
    if (!last) --running_;
  }
  if (!last) return;
  work.drain();
  {
    base::LockGuard lock(exit_mutex_);
    running_ = 0;
  }
  joiner_.unpark();
}

bool WorkerThreads::join(Engine::Clock::time_point deadline) noexcept {
  // A thread of this engine cannot wait for itself, even in a task that has lost its worker, or may
  // lose it.
  if (threads_of_this() == this) return false;
  // Who does not wait leaves the parker to the thread that does.
  const bool waits = deadline != Engine::Clock::time_point::min();
  if (waits && !has_ended()) static_cast<void>(joiner_.park_until(deadline));
  if (!has_ended()) return false;
  join_threads();
  return true;
}

void WorkerThreads::detach() noexcept {
  base::LockGuard lock(threads_mutex_);
  for (Worked& each : threads_) each.thread.detach();
  detached_ = true;
}

bool WorkerThreads::has_ended() noexcept {
  const base::LockGuard lock(exit_mutex_);
  return running_ == 0;
}

}  // namespace taskbench::rt::scheduler
