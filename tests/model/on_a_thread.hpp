// Coroutines without a scheduler.
#pragma once

#include <utility>

#include "runtime/base/cell.hpp"
#include "runtime/park/parker.hpp"
#include "runtime/task/harness.hpp"
#include "runtime/task/join_handle.hpp"
#include "runtime/task/schedule.hpp"
#include "runtime/task/task.hpp"

namespace taskbench::rt::model {

/// Stands for what the holder of the poll right does to a task in a queue: a data race unless it is
/// ordered after what earlier holders did.
class PollRight {
 public:
  void use() { uses_.set(uses_.get() + 1); }

 private:
  base::Cell<int> uses_{0};
};

/// One task, polled by the thread that calls run(), which sleeps between polls.
class OnAThread final : public task::Schedule {
 public:
  void schedule(task::Header*) noexcept override {
    right_.use();
    parker_.unpark();
  }

  /// Runs the task until it has finished.
  void run(task::Header* header) {
    if (!poll(header)) run_once_woken(header);
  }
  /// Runs a waiting task until it has finished.
  void run_once_woken(task::Header* header) {
    do parker_.park();
    while (!poll(header));
  }

  /// Polls once, and again while the task is runnable. True: it has finished.
  [[nodiscard]] bool poll(task::Header* header) {
    for (;;) {
      right_.use();
      const task::Polled polled = task::poll(header);
      if (polled == task::Polled::finished) return true;
      if (polled == task::Polled::idle) return false;
    }
  }

 private:
  park::Parker parker_;
  PollRight right_;
};

/// One task, polled by the thread that wakes it.
class WhereWoken final : public task::Schedule {
 public:
  void schedule(task::Header* header) noexcept override {
    for (;;) {
      right_.use();
      const task::Polled polled = task::poll(header);
      if (polled == task::Polled::finished || polled == task::Polled::idle) return;
    }
  }

 private:
  PollRight right_;
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

/// Like run_here(), with an extra poll after the first that nobody asked for.
template <class T>
T run_here_polled_twice(Task<T> task) {
  OnAThread thread;
  task::Header* const header = std::move(task).release_for_spawn(&thread);
  JoinHandle<T> handle(header);
  if (!thread.poll(header)) {
    task::wake_by_ref(header);
    thread.run_once_woken(header);
  }
  return std::move(handle).operator co_await().await_resume();
}

/// Polls `task` once. True: it did not finish, and was cancelled.
template <class T>
[[nodiscard]] bool polled_and_given_up(Task<T> task) {
  OnAThread thread;
  task::Header* const header = std::move(task).release_for_spawn(&thread);
  const JoinHandle<T> handle(header);
  if (thread.poll(header)) return false;
  if (task::claim_for_shutdown(header)) {
    task::cancel(header);
  } else {
    thread.run_once_woken(header);
  }
  return true;
}

}  // namespace taskbench::rt::model
