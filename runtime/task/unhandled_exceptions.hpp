// Exceptions that ended a task and that nobody takes: the task was detached, or its JoinHandle was
// dropped without having been awaited.
//
// A task that fails keeps a reference to its runtime's UnhandledExceptions beside the exception, as
// its JoinHandle may be dropped after the runtime has ended. So they cost nothing until a task
// throws.
//
// Threads: any.
#pragma once

#include <exception>
#include <functional>

#include "runtime/base/shared.hpp"

namespace taskbench::rt::task {

class UnhandledExceptions : public base::Shared {
 public:
  /// `hook` is called with each; empty: a line on stderr shows the exception's type and text.
  explicit UnhandledExceptions(std::function<void(std::exception_ptr)> hook);

  /// Leaves out a JoinError: the abort of a task, or of one that it awaited, is not a failure.
  void report(const std::exception_ptr& exception) const noexcept;

 private:
  const std::function<void(std::exception_ptr)> hook_;
};

}  // namespace taskbench::rt::task
