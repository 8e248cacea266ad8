// A task that the test polls by hand: no scheduler, no threads, each step where the test wants it.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <utility>

#include "runtime/task/harness.hpp"
#include "runtime/task/join_handle.hpp"
#include "runtime/task/schedule.hpp"
#include "runtime/task/task.hpp"

namespace taskbench::rt::tests {

/// Only the test's thread polls and drops; wakes may come from any thread.
template <class T = void>
class HandPolled : private task::Schedule {
 public:
  explicit HandPolled(Task<T> task)
      : header_(std::move(task).release_for_spawn(this)), handle_(header_) {}
  virtual ~HandPolled() { drop(); }
  HandPolled(const HandPolled&) = delete;
  HandPolled& operator=(const HandPolled&) = delete;

  /// Polls once, woken or not. True: the task has ended.
  bool poll() {
    if (finished_) return true;
    // A poll without a wake needs a spurious one.
    if (!is_woken()) task::wake_by_ref(header_);
    runnable_.store(false);
    switch (task::poll(header_)) {
      case task::Polled::finished:
        finished_ = true;
        break;
      case task::Polled::idle:
        break;
      case task::Polled::yielded:
      case task::Polled::woken:
        runnable_.store(true);
        break;
    }
    return finished_;
  }

  /// Whether the task was woken since the last poll; true before the first one.
  [[nodiscard]] bool is_woken() const { return runnable_.load(); }

  /// Polls if it was woken. Returns whether it was woken and has ended.
  bool resumes() { return is_woken() && poll(); }

  /// Polls once more, which must end the task. Returns its result, or throws what it threw.
  T finish() {
    EXPECT_TRUE(poll());
    return result();
  }

  /// Ends the task where it stands, as an abort does.
  void drop() {
    if (!finished_ && (is_woken() || task::claim_for_shutdown(header_))) task::cancel(header_);
    finished_ = true;
  }

  /// Returns the result of the finished task, or throws what it threw.
  T result() { return std::move(handle_).operator co_await().await_resume(); }

  [[nodiscard]] JoinHandle<T>& handle() { return handle_; }

  /// Called inside each wake that makes the task runnable, on the waker's thread.
  void on_wake(std::function<void()> called) { on_wake_ = std::move(called); }

 private:
  void schedule(task::Header*) noexcept override {
    runnable_.store(true);
    if (on_wake_) on_wake_();
  }

  std::atomic<bool> runnable_{true};  // whether the poll right is here
  bool finished_ = false;
  std::function<void()> on_wake_;
  task::Header* header_;
  JoinHandle<T> handle_;
};

template <class T>
HandPolled(Task<T>) -> HandPolled<T>;

/// A task that was polled once and now waits.
template <class T = void>
class Waiting : public HandPolled<T> {
 public:
  explicit Waiting(Task<T> task) : HandPolled<T>(std::move(task)) { EXPECT_FALSE(this->poll()); }
};

template <class T>
Waiting(Task<T>) -> Waiting<T>;

}  // namespace taskbench::rt::tests
