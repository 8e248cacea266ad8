// The waker: its size, its table of functions, which call consumes, and the wakers of tasks.
#include "runtime/task/waker.hpp"

#include <type_traits>

#include "tests/runtime/fixtures.hpp"

namespace taskbench::rt {
namespace {

using namespace testing;

static_assert(!std::is_copy_constructible_v<Waker>);
static_assert(std::is_nothrow_move_constructible_v<Waker>);
static_assert(std::is_nothrow_move_assignable_v<Waker>);

/// What a table of functions of one's own was asked for.
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

TEST(Waker, p2_is_two_pointers_wide) { EXPECT_EQ(sizeof(Waker), 2 * sizeof(void*)); }

TEST(Waker, p2_wake_consumes) {
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

TEST(Waker, p2_wake_by_ref_does_not_consume) {
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

TEST(Waker, p2_clone_and_moves_keep_the_books) {
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

/// Leaves a waker at `slot`, then ends on the `polls`-th poll.
Task<int> wait_for_polls(std::vector<Waker>* slot, std::atomic<int>* polled, int polls) {
  co_await poll_fn([=](PollContext& context) -> std::optional<bool> {
    if (polled->load() + 1 >= polls) {
      polled->fetch_add(1);
      return true;
    }
    slot->push_back(context.waker());
    polled->fetch_add(1);
    return std::nullopt;
  });
  co_return polled->load();
}

TEST_P(TaskWaker, p2_each_wake_is_one_poll) {
  std::atomic<int> polled{0};
  std::vector<Waker> wakers;
  const int polls = run([&]() -> Task<int> {
    JoinHandle<int> task = spawn(wait_for_polls(&wakers, &polled, 5));
    for (int i = 1; i < 5; ++i) {
      while (polled.load() < i) co_await yield_now();
      // On a pool the task may still be in its poll: either kind of wake must have it polled
      // again.
      Waker waker = std::move(wakers.back());
      if (i % 2 == 0) {
        std::move(waker).wake();
      } else {
        waker.wake_by_ref();
      }
    }
    co_return co_await std::move(task);
  });
  EXPECT_EQ(polls, 5);
}

TEST_P(TaskWaker, wakers_of_one_task_wake_the_same) {
  build_runtime().block_on([]() -> Task<> {
    co_await poll_fn([](PollContext& context) -> std::optional<bool> {
      const Waker first = context.waker();
      const Waker second = context.waker();
      const Waker copy = first.clone();
      EXPECT_TRUE(first.will_wake(second));
      EXPECT_TRUE(first.will_wake(copy));
      return true;
    });
  }());
}

TEST_P(TaskWaker, a_thousand_wakers_made_in_one_poll_are_all_counted) {
  Census census;
  std::vector<Waker> wakers;
  {
    Runtime runtime = build_runtime();
    JoinHandle<void> task = runtime.spawn([](std::vector<Waker>* slot, Resident) -> Task<> {
      bool first = true;
      co_await poll_fn([&](PollContext& context) -> std::optional<bool> {
        if (!std::exchange(first, false)) return true;
        for (int i = 0; i < 1000; ++i) slot->push_back(context.waker());
        context.wake_now();
        return std::nullopt;
      });
    }(&wakers, Resident(census)));
    runtime.block_on(
        [](JoinHandle<void> handle) -> Task<> { co_await std::move(handle); }(std::move(task)));
    EXPECT_EQ(census.living(), 0) << "wakers do not keep the coroutine";
  }
  ASSERT_EQ(wakers.size(), 1000U);
  for (Waker& waker : wakers) std::move(waker).wake();
}

TEST_P(TaskWaker, a_wake_from_another_thread_runs_the_task) {
  for (int round = 0; round < 200; ++round) {
    Gate gate;
    std::thread waker([&gate] { gate.open(); });
    run([&]() -> Task<> {
      JoinHandle<void> task =
          spawn([](Gate* waited) -> Task<> { co_await waited->passed(); }(&gate));
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
  build_runtime().block_on([](Gate* one, Gate* two, bool* passed) -> Task<> {
    JoinHandle<void> task = spawn([](Gate* a, Gate* b, bool* done) -> Task<> {
      co_await a->passed();
      co_await b->passed();
      *done = true;
    }(one, two, passed));
    while (one->waiting() == 0) co_await yield_now();
    const std::vector<Waker> stale = one->take_wakers();
    one->open();
    stale.front().wake_by_ref();
    while (two->waiting() == 0) co_await yield_now();
    for (int i = 0; i < 100; ++i) {
      stale.front().wake_by_ref();
      co_await yield_now();
    }
    EXPECT_FALSE(task.is_finished());
    two->open();
    co_await std::move(task);
  }(&first, &second, &passed_second));
  EXPECT_TRUE(passed_second);
}

TASKBENCH_ON_EVERY_SCHEDULER(TaskWaker);

}  // namespace
}  // namespace taskbench::rt
