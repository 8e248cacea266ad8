// rt::Task: lazy, moved and never copied, awaited as a part of its task; values, references and
// exceptions through several levels; poll_fn and yield_now inside of them.
#include "runtime/task/task.hpp"

#include <functional>
#include <memory>
#include <stdexcept>
#include <type_traits>

#include "runtime/base/sync_primitives.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace testing;

static_assert(!std::is_copy_constructible_v<Task<int>>);
static_assert(!std::is_copy_assignable_v<Task<int>>);
static_assert(std::is_nothrow_move_constructible_v<Task<int>>);
static_assert(std::is_nothrow_move_assignable_v<Task<int>>);
static_assert(!std::is_copy_constructible_v<JoinHandle<int>>);
static_assert(std::is_nothrow_move_constructible_v<JoinHandle<int>>);
static_assert(std::is_copy_constructible_v<AbortHandle>);

Task<int> count_and_return(int* runs, Resident) {
  ++*runs;
  co_return 7;
}

TEST(TaskObject, p1_is_lazy_and_destroyed_when_it_is_never_run) {
  Census census;
  int runs = 0;
  {
    Task<int> task = count_and_return(&runs, Resident(census));
    EXPECT_GT(census.living(), 0);
  }
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(census.living(), 0);
}

TEST(TaskObject, moves_keep_one_owner) {
  Census census;
  int runs = 0;
  {
    Task<int> first = count_and_return(&runs, Resident(census));
    Task<int> second = std::move(first);
    const long living = census.living();
    Task<int> third = count_and_return(&runs, Resident(census));
    third = std::move(second);
    EXPECT_EQ(census.living(), living) << "what third held before is gone";
    Task<int>& self = third;
    third = std::move(self);
    EXPECT_EQ(census.living(), living);
    EXPECT_EQ(build(kCurrentThread).block_on(std::move(third)), 7);
  }
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(census.living(), 0);
}

TEST(TaskObjectDeathTest, refuses_to_spawn_or_await_what_was_moved_from) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto spawn_nothing = [] {
    Runtime runtime = build(kCurrentThread);
    Task<> task = nothing();
    const Task<> taken = std::move(task);
    runtime.spawn(std::move(task)).detach();
  };
  EXPECT_DEATH(spawn_nothing(), "moved from");
  const auto await_nothing = [] {
    Runtime runtime = build(kCurrentThread);
    runtime.block_on([]() -> Task<> {
      Task<> task = nothing();
      const Task<> taken = std::move(task);
      co_await std::move(task);
    }());
  };
  EXPECT_DEATH(await_nothing(), "moved from");
}

TEST(TaskObjectDeathTest, refuses_an_awaitable_that_is_not_made_for_tasks) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto await_foreign = [] {
    Runtime runtime = build(kCurrentThread);
    runtime.block_on([]() -> Task<> { co_await std::suspend_always(); }());
  };
  EXPECT_DEATH(await_foreign(), "not made for tasks");
}

class TaskOn : public OnOneRuntime {};

Task<int> add(int left, int right) { co_return left + right; }
Task<int> depth(int levels) {
  if (levels == 0) {
    co_await yield_now();
    co_return 0;
  }
  co_return 1 + co_await depth(levels - 1);
}

TEST_P(TaskOn, p1_awaits_another_as_a_part_of_itself) {
  EXPECT_EQ(run([&]() -> Task<int> {
              const int sum = co_await add(1, 2);
              co_return co_await add(sum, 4);
            }),
            7);
}

TEST_P(TaskOn, p1_resumes_where_it_was_however_deep) {
  EXPECT_EQ(runtime_.block_on(depth(100)), 100);
}

// An await passes control on without a call, so that a loop of awaits needs no stack. g++ does so
// only where it optimises and no sanitizer stands in the way; there the loop must be shorter.
#if defined(__clang__) || \
    (defined(__OPTIMIZE__) && !defined(TASKBENCH_TSAN) && !defined(TASKBENCH_ASAN))
constexpr int kAwaits = 300'000;
#else
constexpr int kAwaits = 1000;
#endif

TEST_P(TaskOn, a_loop_of_awaits_that_end_at_once_needs_no_stack) {
  EXPECT_EQ(run([&]() -> Task<int> {
              int sum = 0;
              for (int i = 0; i < kAwaits; ++i) sum = co_await add(sum, 1);
              co_return sum;
            }),
            kAwaits);
}

Task<std::unique_ptr<int>> make_unique_number(int value) { co_return std::make_unique<int>(value); }
struct NoDefault {
  explicit NoDefault(int v) : value(v) {}
  int value;
};
Task<NoDefault> make_no_default() { co_return NoDefault(5); }
Task<std::string> from_literal() { co_return "literal"; }
Task<std::reference_wrapper<int>> refer(int* value) { co_return std::ref(*value); }

TEST_P(TaskOn, returns_values_of_every_kind) {
  int value = 1;
  EXPECT_EQ(*runtime_.block_on(make_unique_number(3)), 3);
  EXPECT_EQ(runtime_.block_on(make_no_default()).value, 5);
  EXPECT_EQ(runtime_.block_on(from_literal()), "literal");
  runtime_.block_on(refer(&value)).get() = 2;
  EXPECT_EQ(value, 2);
  EXPECT_EQ(*run_as_task(runtime_, [] { return make_unique_number(4); }), 4);
}

TEST_P(TaskOn, destroys_the_output_once) {
  const auto resident = [&]() -> Task<Resident> { co_return Resident(census_); };
  run([&]() -> Task<> {
    // Taken, never taken, detached before and after the end.
    const Resident taken = co_await spawn(resident());
    JoinHandle<Resident> kept = spawn(resident());
    co_await until([&] { return kept.is_finished(); });
    spawn(resident()).detach();
  });
  runtime_.shutdown();
  EXPECT_EQ(census_.living(), 0);
  EXPECT_GE(census_.ever(), 3);
}

Task<int> fail(const char* what) {
  co_await yield_now();
  throw std::runtime_error(what);
}

Task<int> await_failure(Resident) { co_return co_await fail("deep"); }

TEST_P(TaskOn, an_exception_passes_through_awaits_and_can_be_caught_there) {
  EXPECT_EQ(run([&]() -> Task<std::string> {
              try {
                co_await await_failure(Resident(census_));
              } catch (const std::runtime_error& failure) {
                co_return failure.what();
              }
              co_return "nothing";
            }),
            "deep");
}

TEST_P(TaskOn, goes_on_after_it_caught_an_exception) {
  EXPECT_EQ(run([&]() -> Task<int> {
              int caught = 0;
              for (int i = 0; i < 100; ++i) {
                try {
                  co_await fail("again");
                } catch (const std::runtime_error&) {
                  ++caught;
                }
              }
              co_return caught;
            }),
            100);
}

TEST_P(TaskOn, what_a_poll_function_throws_is_thrown_by_the_await) {
  EXPECT_THROW(run([&]() -> Task<> {
                 bool first = true;
                 co_await poll_fn([&first](PollContext& context) -> std::optional<bool> {
                   if (!std::exchange(first, false)) throw std::runtime_error("second poll");
                   context.wake_now();
                   return std::nullopt;
                 });
               }),
               std::runtime_error);
}

TEST_P(TaskOn, a_poll_function_is_asked_until_it_has_a_value) {
  const auto polled_five_times = []() -> Task<int> {
    int polls = 0;
    co_return co_await poll_fn([&polls](PollContext& context) -> std::optional<int> {
      if (++polls == 5) return polls;
      context.wake_now();
      return std::nullopt;
    });
  };
  EXPECT_EQ(run_as_task(runtime_, polled_five_times), 5);
}

TEST_P(TaskOn, locals_are_destroyed_in_order_and_before_the_output_is_delivered) {
  const auto hold_a_local = [&]() -> Task<> {
    const Resident local(census_);
    co_await yield_now();
  };
  const long living = run([&]() -> Task<long> {
    co_await spawn(hold_a_local());
    co_return census_.living();
  });
  EXPECT_EQ(living, 0);
}

TASKBENCH_ON_EVERY_SCHEDULER(TaskOn);

}  // namespace
}  // namespace taskbench::rt
