// Coroutines without a scheduler: a task is polled by the thread that calls, which sleeps in
// between.
#pragma once

#include <utility>

#include "runtime/park/parker.hpp"
#include "runtime/task/harness.hpp"
#include "runtime/task/join_handle.hpp"
#include "runtime/task/schedule.hpp"
#include "runtime/task/task.hpp"

namespace taskbench::rt::model {

class OnAThread final : public task::Schedule {
 public:
  void schedule(task::Header*) noexcept override { parker_.unpark(); }

  void run(task::Header* header) {
    for (;;) {
      switch (task::poll(header)) {
        case task::Polled::finished:
          return;
        case task::Polled::idle:
          parker_.park();
          break;
        case task::Polled::yielded:
        case task::Polled::woken:
          break;
      }
    }
  }

 private:
  park::Parker parker_;
};

/// Polls `task` to its end on the calling thread, and returns what it returned.
template <class T>
T run_here(Task<T> task) {
  OnAThread thread;
  task::Header* const header = std::move(task).release_for_spawn(&thread);
  JoinHandle<T> handle(header);
  thread.run(header);
  return std::move(handle).operator co_await().await_resume();
}

}  // namespace taskbench::rt::model
