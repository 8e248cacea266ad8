// Destructors that do what destructors should not: throw, spawn, wake. Wherever they lie (a local
// of the task, a parameter of it, the same in a coroutine that it awaits), the exception stays in
// the task, and everything else that the task holds is destroyed once.

#include <stdexcept>

#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

class Destructors : public OnOneRuntime {};

/// Throws when it is destroyed, unless it was moved from or another exception is under way.
class Thrower {
 public:
  explicit Thrower(const char* what) : what_(what) {}
  Thrower(Thrower&& other) noexcept : what_(std::exchange(other.what_, nullptr)) {}
  Thrower& operator=(Thrower&&) = delete;
  ~Thrower() noexcept(false) {
    if (what_ != nullptr && std::uncaught_exceptions() == 0) throw std::runtime_error(what_);
  }

 private:
  const char* what_;
};

/// What awaiting `handle` on `runtime` throws; "" if nothing.
template <class T>
std::string failure_of(Runtime& runtime, JoinHandle<T> handle) {
  try {
    runtime.block_on([&]() -> Task<> { co_await handle; }());
  } catch (const std::exception& failure) {
    return failure.what();
  }
  return "";
}

Task<int> local_throws(Resident) {
  Thrower thrower("local");
  co_return 1;
}
// The thrower is the last parameter: frames made by g++ 12 lose the parameters after it.
Task<int> parameter_throws(Resident, Resident, Thrower) { co_return 1; }
Task<> local_throws_when_aborted(Gate* gate, Resident resident) {
  Resident before(resident);
  Thrower thrower("local");
  Resident after(resident);
  co_await gate->passed();
}
Task<> parameter_throws_when_aborted(Gate* gate, Resident, Resident, Thrower) {
  co_await gate->passed();
}
Task<> awaits(Task<> inner, Resident resident) {
  Resident local(resident);
  co_await std::move(inner);
}

void abort_when_waiting(Runtime& runtime, Gate& gate, const JoinHandle<void>& handle) {
  runtime.block_on(until([&] { return gate.waiting() > 0; }));
  handle.abort();
}

TEST_P(Destructors, a_local_that_throws_at_the_end_fails_the_task) {
  EXPECT_EQ(failure_of(runtime_, runtime_.spawn(local_throws(Resident(census_)))), "local");
}

TEST_P(Destructors, a_parameter_that_throws_at_the_end_fails_the_task) {
  EXPECT_EQ(failure_of(runtime_, runtime_.spawn(parameter_throws(
                                     Resident(census_), Resident(census_), Thrower("par")))),
            "par");
}

TEST_P(Destructors, a_local_that_throws_at_the_end_propagates_from_block_on) {
  EXPECT_THROW(runtime_.block_on(local_throws(Resident(census_))), std::runtime_error);
}

TEST_P(Destructors, a_parameter_that_throws_at_the_end_propagates_from_block_on) {
  EXPECT_THROW(
      runtime_.block_on(parameter_throws(Resident(census_), Resident(census_), Thrower("par"))),
      std::runtime_error);
}

TEST_P(Destructors, a_local_that_throws_on_abort_is_contained) {
  JoinHandle<void> handle = runtime_.spawn(local_throws_when_aborted(&gate_, Resident(census_)));
  abort_when_waiting(runtime_, gate_, handle);
  EXPECT_EQ(failure_of(runtime_, std::move(handle)), "local");
}

TEST_P(Destructors, a_parameter_that_throws_on_abort_is_contained) {
  JoinHandle<void> handle = runtime_.spawn(
      parameter_throws_when_aborted(&gate_, Resident(census_), Resident(census_), Thrower("par")));
  abort_when_waiting(runtime_, gate_, handle);
  EXPECT_EQ(failure_of(runtime_, std::move(handle)), "par");
}

TEST_P(Destructors, a_parameter_that_throws_before_the_first_poll_is_contained) {
  for (int i = 0; i < 20; ++i) {
    runtime_.spawn(parameter_throws(Resident(census_), Resident(census_), Thrower("par"))).abort();
  }
  runtime_.shutdown();
}

TEST_P(Destructors, a_local_of_an_awaited_coroutine_that_throws_at_its_end_is_caught_there) {
  EXPECT_TRUE(run([&]() -> Task<bool> {
    try {
      co_await local_throws(Resident(census_));
    } catch (const std::runtime_error&) {
      co_return true;
    }
    co_return false;
  }));
}

TEST_P(Destructors, a_local_of_an_awaited_coroutine_that_throws_on_abort_is_contained) {
  JoinHandle<void> handle = runtime_.spawn(
      awaits(awaits(local_throws_when_aborted(&gate_, Resident(census_)), Resident(census_)),
             Resident(census_)));
  abort_when_waiting(runtime_, gate_, handle);
  EXPECT_NE(failure_of(runtime_, std::move(handle)), "");
}

TEST_P(Destructors, a_parameter_of_an_awaited_coroutine_that_throws_on_abort_is_contained) {
  JoinHandle<void> handle = runtime_.spawn(awaits(
      parameter_throws_when_aborted(&gate_, Resident(census_), Resident(census_), Thrower("par")),
      Resident(census_)));
  abort_when_waiting(runtime_, gate_, handle);
  EXPECT_NE(failure_of(runtime_, std::move(handle)), "");
}

TEST_P(Destructors, a_parameter_of_an_awaited_coroutine_that_throws_at_its_end_is_contained) {
  gate_.open();
  run([&]() -> Task<> {
    try {
      co_await parameter_throws_when_aborted(&gate_, Resident(census_), Resident(census_),
                                             Thrower("par"));
    } catch (const std::runtime_error&) {
    }
  });
}

TEST_P(Destructors, that_throw_at_shutdown_are_contained) {
  for (int i = 0; i < 10; ++i) {
    runtime_.spawn(local_throws_when_aborted(&gate_, Resident(census_))).detach();
    runtime_
        .spawn(parameter_throws_when_aborted(&gate_, Resident(census_), Resident(census_),
                                             Thrower("par")))
        .detach();
  }
  runtime_.block_on(until([&] { return gate_.waiting() == 20; }));
  runtime_.shutdown();
}

TASKBENCH_ON_EVERY_SCHEDULER(Destructors);

}  // namespace
}  // namespace taskbench::rt
