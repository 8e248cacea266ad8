// rt::Task: lazy, movable and never copied, awaited as a part of its task; values, references and
// exceptions through several levels, with poll_fn and yield_now inside.
#include "runtime/task/task.hpp"

#include <functional>
#include <memory>
#include <stdexcept>
#include <type_traits>

#include "runtime/base/sync_primitives.hpp"
#include "runtime/task/frame_cache.hpp"
#include "tests/runtime/hand_polled.hpp"
#include "tests/runtime/tasks.hpp"
#include "tests/runtime/transfers.hpp"

namespace taskbench::rt {

Task<int> tests::depth_here(int levels) {
  if (levels == 0) co_return 0;
  const int below = co_await depth_elsewhere(levels - 1);
  co_return 1 + below;
}

namespace {

using namespace tests;

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

TEST(TaskObject, is_lazy_and_destroyed_when_it_is_never_run) {
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

struct FailsToMove {
  FailsToMove() = default;
  FailsToMove(FailsToMove&&) { throw std::runtime_error("not moved"); }
};
Task<> takes_what_fails_to_move(FailsToMove) { co_return; }

TEST(TaskObject, leaves_no_memory_behind_if_a_parameter_cannot_be_moved) {
  const auto fail = [] {
    EXPECT_THROW(static_cast<void>(takes_what_fails_to_move(FailsToMove())), std::runtime_error);
  };
  task::trim();  // what earlier tests have left would hide a leak
  fail();
  const std::size_t reserved = task::reserved_block_bytes();
  for (int i = 0; i < 10'000; ++i) fail();
  EXPECT_EQ(task::reserved_block_bytes(), reserved);
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

TEST(TaskObjectDeathTest, refuses_to_be_awaited_twice) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto await_twice = [] {
    build(kCurrentThread).block_on([]() -> Task<> {
      Task<> task = nothing();
      co_await std::move(task);
      co_await std::move(task);
    }());
  };
  EXPECT_DEATH(await_twice(), "awaited before");
}

TEST(TaskObjectDeathTest, refuses_an_awaitable_that_is_not_made_for_tasks) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto await_foreign = [] {
    Runtime runtime = build(kCurrentThread);
    runtime.block_on([]() -> Task<> { co_await std::suspend_always(); }());
  };
  EXPECT_DEATH(await_foreign(), "not made for tasks");
  const auto await_foreign_later = [] {
    Runtime runtime = build(kCurrentThread);
    runtime.block_on([]() -> Task<> {
      co_await nothing();
      co_await std::suspend_always();
    }());
  };
  EXPECT_DEATH(await_foreign_later(), "not made for tasks");
}

Task<int> add(int left, int right) { co_return left + right; }

Task<int> count_by_awaits(int times) {
  int sum = 0;
  for (int i = 0; i < times; ++i) {
    const int next = co_await add(sum, 1);
    sum = next;
  }
  co_return sum;
}

TEST(Awaits, a_million_that_end_at_once_need_no_stack) {
  constexpr int kAwaits = kWatched ? kDeep : 1'000'000;
  EXPECT_EQ(HandPolled(count_by_awaits(kAwaits)).finish(), kAwaits);
}

TEST(Awaits, in_branches_that_end_at_once_need_no_stack) {
  const auto both = []() -> Task<int> {
    const auto [left, right] = co_await join(count_by_awaits(kDeep), count_by_awaits(kDeep));
    co_return left + right;
  };
  EXPECT_EQ(HandPolled(both()).finish(), 2 * kDeep);
}

TEST(Awaits, pass_between_units_that_hand_control_on_in_different_ways) {
  const auto alternate = []() -> Task<int> {
    int sum = 0;
    for (int i = 0; i < kDeep; ++i) {
      const int once = co_await add_elsewhere(sum, 1);
      const int leaf = co_await leaves_elsewhere(0);
      sum = co_await add(once, leaf);
    }
    const int deep = co_await depth_here(1000);
    co_return sum + deep;
  };
  EXPECT_EQ(HandPolled(alternate()).finish(), 2 * kDeep + 1000);
}

TEST(Awaits, that_were_transferred_are_none_any_more_where_the_task_waits) {
  const auto waits = []() -> Task<> {
    const int one = co_await leaves_elsewhere(0);
    co_await add_elsewhere(one, 1);
    co_await forever();
  };
  Waiting task(waits());
  // From here on, only the queue that holds the task uses its link.
  EXPECT_EQ(task.handle().header()->flags & (task::Header::kTransfers | task::Header::kForks), 0);
}

// Chains of coroutines that each await the next: deeper than a stack has room for.

enum class End : std::uint8_t { returns, throws, waits };

/// A chain of coroutines, each of which holds `kept`.
Task<int> chain(int levels, End end, Resident kept) {
  if (levels == 0) {
    if (end == End::throws) throw std::runtime_error("the innermost");
    if (end == End::waits) co_await forever();
    co_return 0;
  }
  const int below = co_await chain(levels - 1, end, kept);
  co_return below + 1;
}

Task<int> wrap(Task<int> inner, Resident) {
  const int below = co_await std::move(inner);
  co_return below + 1;
}

/// Coroutines, each with the next as its parameter.
Task<int> wrapped(End end, Census& census, int levels = kDeep) {
  Task<int> task = chain(0, end, Resident(census));
  for (int i = 0; i < levels; ++i) task = wrap(std::move(task), Resident(census));
  return task;
}

class DeepChain : public ::testing::Test {
 protected:
  ~DeepChain() override { EXPECT_EQ(census_.living(), 0); }

  Task<int> deep(End end, int levels = kDeep) { return chain(levels, end, Resident(census_)); }

  Census census_;
};

TEST_F(DeepChain, returns_through_all_levels) {
  EXPECT_EQ(HandPolled(deep(End::returns)).finish(), kDeep);
  EXPECT_EQ(HandPolled(wrapped(End::returns, census_)).finish(), kDeep);
}

TEST_F(DeepChain, throws_through_all_levels) {
  // An exception takes longest, and an unwinder in each level would take a thousand bytes of stack.
  constexpr int kLevels = tries(kDeep);
  EXPECT_THROW(HandPolled(deep(End::throws, kLevels)).finish(), std::runtime_error);
  EXPECT_THROW(HandPolled(wrapped(End::throws, census_, kLevels)).finish(), std::runtime_error);
}

TEST_F(DeepChain, can_be_aborted) {
  Waiting waiting(deep(End::waits));
  waiting.drop();
  EXPECT_EQ(census_.living(), 0);
  Waiting wrapping(wrapped(End::waits, census_));
  wrapping.drop();
}

TEST_F(DeepChain, can_be_what_a_shutdown_ends) {
  Runtime runtime = build(kOneWorker);
  runtime.spawn(deep(End::waits)).detach();
  EXPECT_TRUE(eventually([&] { return census_.living() > kDeep; }));
  runtime.shutdown();
  EXPECT_EQ(census_.living(), 0);
}

TEST_F(DeepChain, can_be_a_branch_that_loses) {
  const auto lose = [&]() -> Task<std::size_t> {
    const auto won = co_await select(deep(End::waits), wrapped(End::waits, census_), add(1, 1));
    EXPECT_EQ(census_.living(), 0);
    co_return won.index();
  };
  EXPECT_EQ(HandPolled(lose()).finish(), 2U);
}

/// Appends its letter when it is destroyed.
class Noted {
 public:
  Noted(std::string* order, char letter) : order_(order), letter_(letter) {}
  Noted(Noted&& other) noexcept
      : order_(std::exchange(other.order_, nullptr)), letter_(other.letter_) {}
  Noted& operator=(Noted&&) = delete;
  ~Noted() {
    if (order_ != nullptr) order_->push_back(letter_);
  }

 private:
  std::string* order_;
  char letter_;
};

Task<> innermost_of(std::string* order) {
  const Noted first(order, 'a');
  const Noted second(order, 'b');
  co_await forever();
}
Task<> middle_of(std::string* order, Noted) {
  const Noted before(order, 'c');
  Task<> awaited = innermost_of(order);
  const Noted after(order, 'd');
  co_await std::move(awaited);
}
Task<> outermost_of(std::string* order) {
  const Noted local(order, 'e');
  co_await middle_of(order, Noted(order, 'p'));
}

TEST(Awaits, that_are_given_up_end_from_the_innermost_outwards) {
  std::string order;
  Waiting waiting(outermost_of(&order));
  waiting.drop();
  EXPECT_EQ(order, "badcpe");
}

TEST(Awaits, the_parameters_of_what_was_awaited_are_gone_once_it_has_ended) {
  Census census;
  const auto awaits = [&]() -> Task<long> {
    Task<int> one = chain(0, End::returns, Resident(census));
    co_await std::move(one);
    co_return census.living();
  };
  EXPECT_EQ(HandPolled(awaits()).finish(), 0);
}

class TaskOn : public OnOneRuntime {};

Task<int> depth(int levels) {
  if (levels == 0) {
    co_await yield_now();
    co_return 0;
  }
  co_return 1 + co_await depth(levels - 1);
}

TEST_P(TaskOn, awaits_another_as_a_part_of_itself) {
  EXPECT_EQ(run([&]() -> Task<int> {
              const int sum = co_await add(1, 2);
              co_return co_await add(sum, 4);
            }),
            7);
}

TEST_P(TaskOn, resumes_where_it_was_however_deep) { EXPECT_EQ(runtime_.block_on(depth(100)), 100); }

TEST_P(TaskOn, a_loop_of_awaits_that_end_at_once_needs_no_stack) {
  EXPECT_EQ(run([&]() -> Task<int> {
              int sum = 0;
              for (int i = 0; i < kDeep; ++i) sum = co_await add(sum, 1);
              co_return sum;
            }),
            kDeep);
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
    // Taken, never taken, and detached.
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

TEST_P(TaskOn, what_a_poll_function_has_thrown_is_not_thrown_by_the_next_await) {
  EXPECT_EQ(run([]() -> Task<int> {
              bool fails = true;
              auto asked = poll_fn([&fails](PollContext&) -> std::optional<int> {
                if (std::exchange(fails, false)) throw std::runtime_error("first poll");
                return 7;
              });
              bool thrown = false;
              try {
                co_await asked;
              } catch (const std::runtime_error&) {
                thrown = true;
              }
              EXPECT_TRUE(thrown);
              co_return co_await asked;
            }),
            7);
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
