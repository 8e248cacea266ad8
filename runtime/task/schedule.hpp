// What a task asks of the scheduler that it was spawned on: the interface upward.
#pragma once

#include <memory>

namespace taskbench::rt::task {

struct Header;

class Schedule {
 public:
  /// Queues a task that was made runnable. The caller hands over the poll right. Any thread.
  virtual void schedule(Header* task) noexcept = 0;

  /// Takes a task just created, with its poll right. After shutdown the task is cancelled, at once
  /// or with all that is left. Any thread.
  virtual void spawn(Header* task) noexcept = 0;

  /// Called by the holder of the poll right before an idle task is let go for the first time: the
  /// scheduler links it into its list of owned tasks.
  virtual void adopt(Header* task) noexcept = 0;

  /// Called once a task that was adopted has completed: the scheduler unlinks it.
  virtual void disown(Header* task) noexcept = 0;

  /// Joint ownership, for Handles. Empty for a schedule that lives on a stack.
  [[nodiscard]] virtual std::shared_ptr<Schedule> shared() noexcept { return nullptr; }

 protected:
  ~Schedule() = default;
};

}  // namespace taskbench::rt::task
