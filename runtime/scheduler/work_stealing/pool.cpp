#include "runtime/scheduler/work_stealing/pool.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/scheduler/root.hpp"
#include "runtime/task/context.hpp"

namespace taskbench::rt::work_stealing {

base::Ref<Pool> Pool::make(RuntimeOptions options) {
  base::Ref<Pool> pool(new Pool(std::move(options)));
  pool->start();
  return pool;
}

void Pool::start() {
  threads_.reserve(worker_count());
  {
    base::LockGuard lock(exit_mutex_);
    running_ = worker_count();
  }
  for (std::uint32_t i = 0; i < worker_count(); ++i) {
    try {
      threads_.emplace_back([keep = base::Ref<Pool>(this), this, i] { thread_main(i); });
    } catch (...) {
      close();
      {
        base::LockGuard lock(exit_mutex_);
        running_ -= worker_count() - i;
      }
      for (base::Thread& thread : threads_) thread.join();
      threads_.clear();
      drain();  // what the threads' hooks have spawned
      throw;
    }
  }
}

void Pool::thread_main(std::uint32_t index) noexcept {
  // 15 characters and the terminator are what Linux takes.
  std::string name = options().thread_name;
  const std::string suffix = "-" + std::to_string(index);
  name.resize(std::min(name.size(), 15 - std::min<std::size_t>(suffix.size(), 15)));
  base::name_this_thread((name + suffix).c_str());

  Worker& own = worker(index);
  {
    // The hooks may spawn: outside of the worker's context, so through the injector.
    const task::EnterContext enter_pool(this, nullptr);
    if (options().on_thread_start) options().on_thread_start(index);
    {
      const task::EnterContext enter_worker(this, &own);
      own.run();
    }
    if (options().on_thread_stop) options().on_thread_stop(index);
  }
  bool last = false;
  {
    base::LockGuard lock(exit_mutex_);
    last = running_ == 1;
    if (!last) --running_;
  }
  if (!last) return;
  drain();
  {
    base::LockGuard lock(exit_mutex_);
    running_ = 0;
  }
  joiner_.unpark();
}

void Pool::run_root(task::Header* root) noexcept { scheduler::Root(*this).run(root); }

bool Pool::join(Clock::time_point deadline) noexcept {
  if (local_worker() != nullptr) return false;
  while (!has_ended()) {
    if (!joiner_.park_until(deadline) && !has_ended()) return false;
  }
  for (base::Thread& thread : threads_) thread.join();
  threads_.clear();
  return true;
}

void Pool::detach() noexcept {
  for (base::Thread& thread : threads_) thread.detach();
  threads_.clear();
}

bool Pool::has_ended() noexcept {
  const base::LockGuard lock(exit_mutex_);
  return running_ == 0;
}

}  // namespace taskbench::rt::work_stealing
