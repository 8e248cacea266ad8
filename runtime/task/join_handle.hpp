// The owner's end of a spawned task: awaits, aborts or detaches it.
//
// A JoinHandle belongs to one thread at a time; an AbortHandle is copied freely and may be used
// from any thread. Both may outlive the runtime.
#pragma once

#include <exception>
#include <utility>

#include "runtime/task/task.hpp"

namespace taskbench::rt {

/// What awaiting a task throws when it was aborted, or cancelled by the end of its runtime.
class JoinError : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override {
    return "the task was cancelled before it finished";
  }
};

/// Aborts one task. A counted reference; does not keep the output alive.
class AbortHandle {
 public:
  /// For the runtime: takes over one reference.
  explicit AbortHandle(task::Header* header) noexcept : header_(header) {}
  AbortHandle(const AbortHandle& other) noexcept : header_(other.header_) {
    if (header_ != nullptr) task::add_reference(header_);
  }
  // A move copies, too: otherwise a moved-from handle would silently abort nothing.
  AbortHandle& operator=(AbortHandle other) noexcept {
    std::swap(header_, other.header_);
    return *this;
  }
  ~AbortHandle() {
    if (header_ != nullptr) task::drop_reference(header_);
  }

  /// The task ends at its next suspension, or at once if it is waiting; a task that is finishing
  /// at this moment may still finish. Nothing happens to a task that has finished. A call of
  /// spawn_blocking() that waits for a thread ends when its turn comes (see there).
  void abort() const noexcept {
    if (header_ != nullptr) task::abort(header_);
  }
  [[nodiscard]] bool is_finished() const noexcept {
    return header_ == nullptr || header_->state.is_complete();
  }

 private:
  task::Header* header_;
};

/// Dropping the handle detaches the task.
template <class T>
class [[nodiscard]] JoinHandle {
 public:
  /// For the runtime: takes over the join interest of a task whose output is a T.
  explicit JoinHandle(task::Header* header) noexcept : header_(header) {}
  JoinHandle(JoinHandle&& other) noexcept
      : header_(std::exchange(other.header_, nullptr)),
        was_awaited_(std::exchange(other.was_awaited_, false)) {}
  JoinHandle& operator=(JoinHandle&& other) noexcept {
    if (this != &other) {
      detach();
      header_ = std::exchange(other.header_, nullptr);
      was_awaited_ = std::exchange(other.was_awaited_, false);
    }
    return *this;
  }
  JoinHandle(const JoinHandle&) = delete;
  JoinHandle& operator=(const JoinHandle&) = delete;
  ~JoinHandle() { detach(); }

  /// For the runtime: the task, or nullptr.
  [[nodiscard]] task::Header* header() const noexcept { return header_; }

  /// Like AbortHandle::abort. Like the next two functions, not to be called after detach() or a
  /// move.
  void abort() const noexcept {
    if (knows_task()) task::abort(header_);
  }
  [[nodiscard]] AbortHandle abort_handle() const noexcept {
    if (knows_task()) task::add_reference(header_);
    return AbortHandle(header_);
  }
  [[nodiscard]] bool is_finished() const noexcept {
    return !knows_task() || header_->state.is_complete();
  }
  /// Lets the task go on without an owner; its output will be destroyed.
  void detach() noexcept {
    if (header_ != nullptr) task::join_drop(std::exchange(header_, nullptr));
  }

  class Awaiter : private task::Leaf {
   public:
    explicit Awaiter(JoinHandle& handle) noexcept : Leaf(&Awaiter::poll_join), handle_(handle) {}
    bool await_ready() const noexcept {
      // Here and not in the constructor: an awaiter may be kept until another has ended.
      TASKBENCH_ASSERT(handle_.header_ != nullptr,
                       "a JoinHandle is awaited once, and not after detach() or a move");
      return handle_.header_->state.is_complete();
    }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> coroutine) {
      // As suspend_on() does, but without the check of a later poll: await_ready() has made it.
      task::Header* const waiter = task::task_of(coroutine);
      if (task::join_poll(handle_.header_, waiter)) return false;
      task::resume_when_ready(waiter, *this, coroutine);
      return true;
    }
    T await_resume() {
      // Consumes the handle's end whether this returns or throws.
      handle_.was_awaited_ = true;
      JoinHandle finished(std::exchange(handle_.header_, nullptr));
      return task::take_output<T>(finished.header_);
    }

   private:
    static bool poll_join(task::Leaf* leaf, task::Header* waiter) {
      task::Header* const awaited = static_cast<Awaiter*>(leaf)->handle_.header_;
      TASKBENCH_ASSERT(awaited != nullptr,
                       "a JoinHandle is awaited by one branch of a task, and neither detached nor "
                       "moved meanwhile");
      return task::join_poll(awaited, waiter);
    }
    JoinHandle& handle_;
  };

  /// Waits for the end of the task: its value, its exception, or JoinError. Cancellation-safe:
  /// an await that is given up leaves the handle as it was. The handle must not be moved during the
  /// await; it is empty afterwards. Of two tasks that await it, only the later one is woken.
  Awaiter operator co_await() & noexcept { return Awaiter(*this); }
  Awaiter operator co_await() && noexcept { return Awaiter(*this); }

 private:
  /// False after the await, when the task is known to have ended.
  [[nodiscard]] bool knows_task() const noexcept {
    TASKBENCH_ASSERT(header_ != nullptr || was_awaited_,
                     "a JoinHandle knows nothing of its task after detach() or a move");
    return header_ != nullptr;
  }

  task::Header* header_;
  bool was_awaited_ = false;
};

}  // namespace taskbench::rt
