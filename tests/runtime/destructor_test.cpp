// Destructors that do what destructors should not: throw, spawn, wake. Wherever they lie (a local
// of the task, a parameter of it, the same in a coroutine that it awaits), the exception stays in
// the task, and everything else that the task holds is destroyed once.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "runtime/runtime.hpp"
#include "tests/runtime/fixtures.hpp"

namespace taskbench::rt {
namespace {

using namespace testing;

class Destructors : public OnEveryScheduler {};

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
    runtime.block_on(
        [](JoinHandle<T> joined) -> Task<> { co_await std::move(joined); }(std::move(handle)));
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
  runtime.block_on([](Gate* entered) -> Task<> {
    while (entered->waiting() == 0) co_await yield_now();
  }(&gate));
  handle.abort();
}

TEST_P(Destructors, a_local_that_throws_at_the_end_fails_the_task) {
  Census census;
  Runtime runtime = build_runtime();
  EXPECT_EQ(failure_of(runtime, runtime.spawn(local_throws(Resident(census)))), "local");
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Destructors, a_parameter_that_throws_at_the_end_fails_the_task) {
  Census census;
  Runtime runtime = build_runtime();
  EXPECT_EQ(failure_of(runtime, runtime.spawn(parameter_throws(Resident(census), Resident(census),
                                                               Thrower("par")))),
            "par");
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Destructors, a_local_that_throws_at_the_end_propagates_from_block_on) {
  Census census;
  Runtime runtime = build_runtime();
  EXPECT_THROW(runtime.block_on(local_throws(Resident(census))), std::runtime_error);
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Destructors, a_parameter_that_throws_at_the_end_propagates_from_block_on) {
  Census census;
  Runtime runtime = build_runtime();
  EXPECT_THROW(
      runtime.block_on(parameter_throws(Resident(census), Resident(census), Thrower("par"))),
      std::runtime_error);
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Destructors, a_local_that_throws_on_abort_is_contained) {
  Census census;
  Gate gate;
  Runtime runtime = build_runtime();
  JoinHandle<void> handle = runtime.spawn(local_throws_when_aborted(&gate, Resident(census)));
  abort_when_waiting(runtime, gate, handle);
  EXPECT_EQ(failure_of(runtime, std::move(handle)), "local");
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Destructors, a_parameter_that_throws_on_abort_is_contained) {
  Census census;
  Gate gate;
  Runtime runtime = build_runtime();
  JoinHandle<void> handle = runtime.spawn(
      parameter_throws_when_aborted(&gate, Resident(census), Resident(census), Thrower("par")));
  abort_when_waiting(runtime, gate, handle);
  EXPECT_EQ(failure_of(runtime, std::move(handle)), "par");
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Destructors, a_parameter_that_throws_before_the_first_poll_is_contained) {
  Census census;
  {
    Runtime runtime = build_runtime();
    for (int i = 0; i < 20; ++i) {
      JoinHandle<int> handle =
          runtime.spawn(parameter_throws(Resident(census), Resident(census), Thrower("par")));
      handle.abort();
    }
  }
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Destructors, a_local_of_an_awaited_coroutine_that_throws_at_its_end_is_caught_there) {
  Census census;
  Runtime runtime = build_runtime();
  const bool caught = runtime.block_on([](Resident resident) -> Task<bool> {
    try {
      co_await local_throws(resident);
    } catch (const std::runtime_error&) {
      co_return true;
    }
    co_return false;
  }(Resident(census)));
  EXPECT_TRUE(caught);
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Destructors, a_local_of_an_awaited_coroutine_that_throws_on_abort_is_contained) {
  Census census;
  Gate gate;
  Runtime runtime = build_runtime();
  JoinHandle<void> handle = runtime.spawn(
      awaits(awaits(local_throws_when_aborted(&gate, Resident(census)), Resident(census)),
             Resident(census)));
  abort_when_waiting(runtime, gate, handle);
  EXPECT_NE(failure_of(runtime, std::move(handle)), "");
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Destructors, a_parameter_of_an_awaited_coroutine_that_throws_on_abort_is_contained) {
  Census census;
  Gate gate;
  Runtime runtime = build_runtime();
  JoinHandle<void> handle = runtime.spawn(awaits(
      parameter_throws_when_aborted(&gate, Resident(census), Resident(census), Thrower("par")),
      Resident(census)));
  abort_when_waiting(runtime, gate, handle);
  EXPECT_NE(failure_of(runtime, std::move(handle)), "");
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Destructors, a_parameter_of_an_awaited_coroutine_that_throws_at_its_end_is_contained) {
  Census census;
  Gate gate;
  gate.open();
  Runtime runtime = build_runtime();
  runtime.block_on([](Gate* open, Resident resident) -> Task<> {
    try {
      co_await parameter_throws_when_aborted(open, resident, resident, Thrower("par"));
    } catch (const std::runtime_error&) {
    }
  }(&gate, Resident(census)));
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Destructors, that_throw_at_shutdown_are_contained) {
  Census census;
  Gate gate;
  {
    Runtime runtime = build_runtime();
    for (int i = 0; i < 10; ++i) {
      runtime.spawn(local_throws_when_aborted(&gate, Resident(census))).detach();
      runtime
          .spawn(parameter_throws_when_aborted(&gate, Resident(census), Resident(census),
                                               Thrower("par")))
          .detach();
    }
    runtime.block_on([](Gate* entered) -> Task<> {
      while (entered->waiting() < 20) co_await yield_now();
    }(&gate));
  }
  EXPECT_EQ(census.living(), 0);
}

TASKBENCH_ON_EVERY_SCHEDULER(Destructors);

}  // namespace
}  // namespace taskbench::rt
