// poll_fn(): makes an awaitable of a function that is asked each time the task is woken.
#pragma once

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "runtime/task/leaf.hpp"
#include "runtime/task/waker.hpp"

namespace taskbench::rt {

/// The argument of a poll function: lets it arrange a later wake-up.
class PollContext {
 public:
  explicit PollContext(task::Header* header) noexcept : header_(header) {}

  /// A waker of the task that is being polled. May outlive the poll, the task and the runtime.
  [[nodiscard]] Waker waker() const noexcept {
    return task::waker_from_reference(task::reference_in_poll(header_));
  }
  /// Lets the task be polled again soon, after the others that are runnable.
  void wake_now() const noexcept { task::wake_by_ref(header_); }

 private:
  task::Header* header_;
};

namespace task {

template <class Function>
class PollFn : private Leaf {
  using Result = std::invoke_result_t<Function&, PollContext&>;

 public:
  explicit PollFn(Function function) : Leaf(&PollFn::ask), function_(std::move(function)) {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) {
    return suspend_on(*this, coroutine);
  }
  typename Result::value_type await_resume() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return std::move(*result_);
  }

 private:
  static bool ask(Leaf* leaf, Header* header) {
    auto& self = *static_cast<PollFn*>(leaf);
    PollContext context(header);
    try {
      self.result_ = self.function_(context);
    } catch (...) {
      self.failure_ = std::current_exception();
      return true;
    }
    return self.result_.has_value();
  }

  Function function_;
  Result result_;
  std::exception_ptr failure_;
};

}  // namespace task

/// `function(PollContext&)` returns std::optional: a value ends the wait; if it returns nullopt, it
/// must have arranged a wake-up through the context. The co_await throws what the function throws.
/// The result is awaited by one coroutine at a time, also in branches of one task.
template <class Function>
[[nodiscard]] auto poll_fn(Function function) {
  return task::PollFn<Function>(std::move(function));
}

}  // namespace taskbench::rt
