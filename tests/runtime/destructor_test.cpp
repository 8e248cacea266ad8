// Destructors that do what they should not: throw, spawn, wake. Wherever the object is (a local of
// the task, a parameter, or either of these in an awaited coroutine), the exception stays in the
// task, and everything else that the task holds is destroyed once.

#include <stdexcept>
#include <string>
#include <utility>

#include "runtime/task/join.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/hand_polled.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

class Destructors : public OnOneRuntime {};

/// Throws from its destructor, unless it was moved from or another exception is in flight.
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
// The thrower is the last parameter: frames made by g++ 12 leak the parameters after it.
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
  EXPECT_EQ(failure_of(runtime_, std::move(handle)), "local");
}

TEST_P(Destructors, a_parameter_of_an_awaited_coroutine_that_throws_on_abort_is_contained) {
  JoinHandle<void> handle = runtime_.spawn(awaits(
      parameter_throws_when_aborted(&gate_, Resident(census_), Resident(census_), Thrower("par")),
      Resident(census_)));
  abort_when_waiting(runtime_, gate_, handle);
  EXPECT_EQ(failure_of(runtime_, std::move(handle)), "par");
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

// Exceptions are handled alike on every scheduler, so these tests poll by hand.

class DestructorsByHand : public ::testing::Test {
 protected:
  ~DestructorsByHand() override { EXPECT_EQ(census_.living(), 0); }

  /// What the finished task of `polled` threw; "" if nothing.
  template <class T>
  static std::string failure_of(HandPolled<T>& polled) {
    try {
      polled.result();
    } catch (const JoinError&) {
      return "aborted";
    } catch (const std::exception& failure) {
      return failure.what();
    }
    return "";
  }

  Census census_;
  Gate gate_;
};

TEST_F(DestructorsByHand, of_two_that_throw_the_first_is_told) {
  const auto outer = [](Gate* gate, Resident resident) -> Task<> {
    const Thrower thrower("outer");
    co_await local_throws_when_aborted(gate, resident);
  };
  Waiting task(outer(&gate_, Resident(census_)));
  task.drop();
  EXPECT_EQ(failure_of(task), "local");
}

TEST_F(DestructorsByHand, a_value_is_destroyed_that_an_exception_replaces) {
  const auto returns_and_throws = [](Resident resident) -> Task<Resident> {
    const Thrower thrower("after the end");
    co_return resident;
  };
  HandPolled task(returns_and_throws(Resident(census_)));
  EXPECT_TRUE(task.poll());
  EXPECT_EQ(census_.living(), 0);
  EXPECT_EQ(failure_of(task), "after the end");
}

TEST_F(DestructorsByHand, what_a_parameter_throws_at_the_end_is_thrown_by_the_await) {
  const auto awaits_one = [](Task<int> awaited) -> Task<int> {
    co_return co_await std::move(awaited);
  };
  HandPolled task(
      awaits_one(parameter_throws(Resident(census_), Resident(census_), Thrower("parameter"))));
  EXPECT_TRUE(task.poll());
  EXPECT_EQ(failure_of(task), "parameter");
}

TEST_F(DestructorsByHand, what_a_coroutine_that_has_not_begun_throws_fails_the_task_that_held_it) {
  const auto holds = [](Task<int>) -> Task<> { co_await forever(); };
  Waiting task(holds(parameter_throws(Resident(census_), Resident(census_), Thrower("not begun"))));
  task.drop();
  EXPECT_EQ(failure_of(task), "not begun");
}

TEST_F(DestructorsByHand, what_a_branch_throws_fails_the_task_that_is_aborted) {
  const auto joins = [](Gate* gate, Resident resident) -> Task<> {
    co_await join(awaits(local_throws_when_aborted(gate, resident), resident), forever());
  };
  Waiting task(joins(&gate_, Resident(census_)));
  task.drop();
  EXPECT_EQ(failure_of(task), "local");
}

TEST_F(DestructorsByHand, what_is_thrown_where_no_task_ends_is_lost) {
  const auto throws = [this] {
    return parameter_throws(Resident(census_), Resident(census_), Thrower("lost"));
  };
  { const Task<int> never_run = throws(); }
  // A task that ended earlier, or one that awaits, does not get the exception either.
  Waiting task(wait_at(&gate_, Resident(census_)));
  task.drop();
  { const Task<int> never_run = throws(); }
  EXPECT_EQ(failure_of(task), "aborted");
  const auto keeps = [](Task<int>) -> Task<int> { co_return 7; };
  HandPolled awaiting([](Task<int> awaited) -> Task<int> {
    co_return co_await std::move(awaited);
  }(keeps(throws())));
  EXPECT_EQ(awaiting.finish(), 7);
}

/// Lets a task throw and catch while it is destroyed.
class Catches {
 public:
  explicit Catches(int* caught) : caught_(caught) {}
  Catches(Catches&& other) noexcept : caught_(std::exchange(other.caught_, nullptr)) {}
  Catches& operator=(Catches&&) = delete;
  ~Catches() {
    if (caught_ != nullptr) HandPolled(throws_and_catches(caught_)).finish();
  }

 private:
  static Task<> throws() {
    throw std::runtime_error("caught");
    co_return;
  }
  static Task<> throws_and_catches(int* caught) {
    try {
      co_await throws();
    } catch (const std::runtime_error&) {
      ++*caught;
    }
  }

  int* caught_;
};

TEST_F(DestructorsByHand, what_is_caught_while_a_task_is_destroyed_does_not_fail_it) {
  int caught = 0;
  const auto holds = [](Gate* gate, Catches) -> Task<> { co_await gate->passed(); };
  Waiting task(holds(&gate_, Catches(&caught)));
  task.drop();
  EXPECT_EQ(caught, 1);
  EXPECT_EQ(failure_of(task), "aborted");
}

}  // namespace
}  // namespace taskbench::rt
