// The waker: its size, its table of functions, which calls consume it, and the wakers of tasks.
#include "runtime/task/waker.hpp"

#include <type_traits>

#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

static_assert(!std::is_copy_constructible_v<Waker>);
static_assert(std::is_nothrow_move_constructible_v<Waker>);
static_assert(std::is_nothrow_move_assignable_v<Waker>);

/// How often each function of a custom table was called.
struct Calls {
  int clone = 0;
  int wake = 0;
  int wake_by_ref = 0;
  int drop = 0;

  [[nodiscard]] int held() const { return 1 + clone - wake - drop; }
};

constexpr WakerVTable kCounting{
    [](void* data) noexcept {
      ++static_cast<Calls*>(data)->clone;
      return data;
    },
    [](void* data) noexcept { ++static_cast<Calls*>(data)->wake; },
    [](void* data) noexcept { ++static_cast<Calls*>(data)->wake_by_ref; },
    [](void* data) noexcept { ++static_cast<Calls*>(data)->drop; }};

TEST(Waker, is_two_pointers_wide) { EXPECT_EQ(sizeof(Waker), 2 * sizeof(void*)); }

TEST(Waker, wake_consumes) {
  Calls calls;
  Waker waker(&calls, &kCounting);
  EXPECT_TRUE(waker);
  std::move(waker).wake();
  EXPECT_FALSE(waker);
  EXPECT_EQ(calls.wake, 1);
  std::move(waker).wake();
  waker.wake_by_ref();
  EXPECT_EQ(calls.wake, 1);
  EXPECT_EQ(calls.wake_by_ref, 0);
  EXPECT_EQ(calls.held(), 0);
}

TEST(Waker, wake_by_ref_does_not_consume) {
  Calls calls;
  {
    const Waker waker(&calls, &kCounting);
    waker.wake_by_ref();
    waker.wake_by_ref();
    EXPECT_TRUE(waker);
    EXPECT_EQ(calls.wake_by_ref, 2);
    EXPECT_EQ(calls.drop, 0);
  }
  EXPECT_EQ(calls.drop, 1);
  EXPECT_EQ(calls.held(), 0);
}

TEST(Waker, clone_and_moves_keep_the_books) {
  Calls calls;
  {
    Waker first(&calls, &kCounting);
    Waker second = first.clone();
    Waker third = std::move(first);
    EXPECT_FALSE(first);
    EXPECT_TRUE(third.will_wake(second));
    EXPECT_FALSE(third.will_wake(first));
    second = std::move(third);
    EXPECT_EQ(calls.drop, 1) << "what second held before";
    Waker& self = second;
    second = std::move(self);
    EXPECT_TRUE(second);
    first = second.clone();
    EXPECT_EQ(calls.held(), 2);
  }
  EXPECT_EQ(calls.held(), 0);
  EXPECT_EQ(calls.wake + calls.wake_by_ref, 0);
}

TEST(Waker, wakes_the_same_if_both_its_data_and_its_functions_are_the_same) {
  static constexpr WakerVTable kOther = kCounting;
  Calls calls;
  Calls others;
  const Waker waker(&calls, &kCounting);
  EXPECT_TRUE(waker.will_wake(Waker(&calls, &kCounting)));
  EXPECT_FALSE(waker.will_wake(Waker(&others, &kCounting)));
  EXPECT_FALSE(waker.will_wake(Waker(&calls, &kOther)));
}

TEST(Waker, an_empty_one_does_nothing) {
  Waker waker;
  EXPECT_FALSE(waker);
  waker.wake_by_ref();
  const Waker copy = waker.clone();
  EXPECT_FALSE(copy);
  EXPECT_TRUE(copy.will_wake(waker));
  std::move(waker).wake();
}

class TaskWaker : public OnOneRuntime {};

TEST_P(TaskWaker, each_wake_is_one_poll) {
  std::atomic<int> polled{0};
  std::vector<Waker> wakers;
  const auto wait_for_five_polls = [&]() -> Task<> {
    co_await poll_fn([&](PollContext& context) -> std::optional<bool> {
      if (polled.load() < 4) wakers.push_back(context.waker());
      return polled.fetch_add(1) == 4 ? std::optional(true) : std::nullopt;
    });
  };
  run([&]() -> Task<> {
    JoinHandle<void> task = spawn(wait_for_five_polls());
    for (int i = 1; i < 5; ++i) {
      co_await until([&] { return polled.load() >= i; });
      // On a pool, the task may still be in its poll: either kind of wake must lead to another
      // poll.
      Waker waker = std::move(wakers.back());
      if (i % 2 == 0) {
        std::move(waker).wake();
      } else {
        waker.wake_by_ref();
      }
    }
    co_await std::move(task);
  });
  EXPECT_EQ(polled.load(), 5);
}

TEST_P(TaskWaker, wakers_of_one_task_wake_the_same) {
  run([]() -> Task<> {
    co_await poll_fn([](PollContext& context) -> std::optional<bool> {
      const Waker first = context.waker();
      const Waker second = context.waker();
      const Waker copy = first.clone();
      EXPECT_TRUE(first.will_wake(second));
      EXPECT_TRUE(first.will_wake(copy));
      return true;
    });
  });
}

TEST_P(TaskWaker, a_thousand_wakers_made_in_one_poll_are_all_counted) {
  std::vector<Waker> wakers;
  const auto make_wakers = [&](Resident) -> Task<> {
    bool first = true;
    co_await poll_fn([&](PollContext& context) -> std::optional<bool> {
      if (!std::exchange(first, false)) return true;
      for (int i = 0; i < 1000; ++i) wakers.push_back(context.waker());
      context.wake_now();
      return std::nullopt;
    });
  };
  {
    Runtime runtime = build_runtime();
    run_as_task(runtime, [&] { return make_wakers(Resident(census_)); });
    EXPECT_EQ(census_.living(), 0) << "wakers do not keep the coroutine";
  }
  ASSERT_EQ(wakers.size(), 1000U);
  for (Waker& waker : wakers) std::move(waker).wake();
}

TEST_P(TaskWaker, a_wake_from_another_thread_runs_the_task) {
  for (int round = 0; round < tries(200); ++round) {
    Gate gate;
    std::thread waker([&gate] { gate.open(); });
    const auto pass = [&]() -> Task<> { co_await gate.passed(); };
    run([&]() -> Task<> {
      JoinHandle<void> task = spawn(pass());
      co_await gate.passed();
      co_await std::move(task);
    });
    waker.join();
  }
}

TEST_P(TaskWaker, a_stale_wake_does_not_resume_what_waits_for_something_else) {
  Gate first;
  Gate second;
  bool passed_second = false;
  const auto pass_both = [&]() -> Task<> {
    co_await first.passed();
    co_await second.passed();
    passed_second = true;
  };
  run([&]() -> Task<> {
    JoinHandle<void> task = spawn(pass_both());
    co_await until([&] { return first.waiting() > 0; });
    const std::vector<Waker> stale = first.take_wakers();
    first.open();
    stale.front().wake_by_ref();
    co_await until([&] { return second.waiting() > 0; });
    for (int i = 0; i < 100; ++i) {
      stale.front().wake_by_ref();
      co_await yield_now();
    }
    EXPECT_FALSE(task.is_finished());
    second.open();
    co_await std::move(task);
  });
  EXPECT_TRUE(passed_second);
}

TASKBENCH_ON_EVERY_SCHEDULER(TaskWaker);

}  // namespace
}  // namespace taskbench::rt
