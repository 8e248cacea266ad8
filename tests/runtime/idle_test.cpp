// Idle: which worker a push wakes, how many workers may search, and which must look again.
#include "runtime/scheduler/work_stealing/idle.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "tests/runtime/allocations.hpp"

namespace taskbench::rt::work_stealing {
namespace {

constexpr std::uint32_t kNobody = Idle::kNobody;

/// All `count` workers are asleep, in the order of their indices.
struct Asleep : Idle {
  explicit Asleep(std::uint32_t count) : Idle(count) {
    for (std::uint32_t i = 0; i < count; ++i) EXPECT_TRUE(park(i, false));
  }
};

/// The rules are the same for both kinds of pushers; only the fences differ.
class IdleBy : public ::testing::TestWithParam<Idle::Pusher> {
 protected:
  static std::uint32_t push(Idle& idle) { return idle.worker_to_notify(GetParam()); }
};

TEST_P(IdleBy, wakes_nobody_while_all_are_awake) {
  Idle idle(4);
  EXPECT_EQ(push(idle), kNobody);
  EXPECT_EQ(idle.worker_to_notify_again(), kNobody);
}

TEST_P(IdleBy, wakes_one_sleeper_which_starts_out_searching) {
  Asleep idle(4);
  EXPECT_NE(push(idle), kNobody);
  // The woken worker is searching: further pushes wake nobody.
  EXPECT_EQ(push(idle), kNobody);
  EXPECT_EQ(idle.worker_to_notify_again(), kNobody);
}

TEST_P(IdleBy, wakes_nobody_while_another_worker_searches) {
  Idle idle(4);
  EXPECT_TRUE(idle.park(0, false));
  EXPECT_TRUE(idle.try_start_searching());
  EXPECT_EQ(push(idle), kNobody);
  EXPECT_TRUE(idle.stop_searching());
  EXPECT_EQ(push(idle), 0U);
}

TEST_P(IdleBy, each_searcher_that_finds_work_lets_the_next_be_woken) {
  constexpr std::uint32_t kWorkers = 8;
  Asleep idle(kWorkers);
  std::set<std::uint32_t> woken;
  for (std::uint32_t i = 0; i < kWorkers; ++i) {
    const std::uint32_t next = i == 0 ? push(idle) : idle.worker_to_notify_again();
    ASSERT_NE(next, kNobody);
    EXPECT_TRUE(woken.insert(next).second) << "a worker that was awake";
    EXPECT_EQ(push(idle), kNobody) << "one at a time";
    const bool somebody_sleeps = i + 1 < kWorkers;
    EXPECT_EQ(idle.stop_searching(), somebody_sleeps) << "the last searcher looks for more";
  }
  EXPECT_EQ(push(idle), kNobody);
}

INSTANTIATE_TEST_SUITE_P(Pushers, IdleBy,
                         ::testing::Values(Idle::Pusher::worker, Idle::Pusher::outside));

TEST(Idle, only_the_last_searcher_has_to_look_for_more) {
  Idle idle(8);
  EXPECT_TRUE(idle.park(0, false));
  EXPECT_TRUE(idle.try_start_searching());
  EXPECT_TRUE(idle.try_start_searching());
  EXPECT_FALSE(idle.stop_searching());
  EXPECT_TRUE(idle.stop_searching());
}

TEST(Idle, a_searcher_that_nobody_could_help_need_not_look) {
  Idle idle(4);
  EXPECT_TRUE(idle.try_start_searching());
  EXPECT_FALSE(idle.stop_searching());
}

TEST(Idle, a_sleeper_looks_again_unless_somebody_searches) {
  Idle idle(8);
  EXPECT_TRUE(idle.try_start_searching());
  EXPECT_FALSE(idle.park(0, false)) << "the searcher will look";
  EXPECT_TRUE(idle.try_start_searching());
  EXPECT_FALSE(idle.park(1, true)) << "the other searcher will look";
  EXPECT_TRUE(idle.park(2, true)) << "it was the last one";
}

TEST(Idle, wakes_the_one_that_slept_last) {
  Asleep idle(3);
  EXPECT_EQ(idle.worker_to_notify(Idle::Pusher::worker), 2U);
  EXPECT_TRUE(idle.stop_searching());
  EXPECT_EQ(idle.worker_to_notify(Idle::Pusher::worker), 1U);
}

TEST(Idle, a_worker_that_was_woken_can_sleep_again) {
  Asleep idle(2);
  for (int round = 0; round < 10; ++round) {
    const std::uint32_t woken = idle.worker_to_notify(Idle::Pusher::worker);
    ASSERT_NE(woken, kNobody);
    EXPECT_TRUE(idle.park(woken, true));
  }
}

TEST(Idle, a_worker_that_wakes_up_by_itself_is_awake_and_searches) {
  Asleep idle(3);
  EXPECT_TRUE(idle.leave(1));
  EXPECT_FALSE(idle.all_asleep());
  EXPECT_EQ(idle.worker_to_notify(Idle::Pusher::worker), kNobody) << "it searches";
  EXPECT_TRUE(idle.stop_searching());
  EXPECT_EQ(idle.worker_to_notify(Idle::Pusher::worker), 2U);
  EXPECT_TRUE(idle.stop_searching());
  EXPECT_EQ(idle.worker_to_notify(Idle::Pusher::worker), 0U);
  EXPECT_FALSE(idle.stop_searching()) << "nobody sleeps";
}

TEST(Idle, a_worker_that_wakes_up_by_itself_is_told_that_somebody_has_woken_it) {
  Asleep idle(2);
  EXPECT_EQ(idle.worker_to_notify(Idle::Pusher::outside), 1U);
  EXPECT_FALSE(idle.leave(1)) << "it is counted already";
  EXPECT_TRUE(idle.stop_searching()) << "by one alone, and the other sleeps";
  EXPECT_EQ(idle.worker_to_notify(Idle::Pusher::outside), 0U);
}

TEST(Idle, at_most_half_of_the_workers_search) {
  for (const std::uint32_t workers : {2U, 4U, 8U, 64U}) {
    Idle idle(workers);
    std::uint32_t searching = 0;
    while (idle.try_start_searching()) ++searching;
    EXPECT_EQ(searching, workers / 2);
    static_cast<void>(idle.stop_searching());
    EXPECT_TRUE(idle.try_start_searching());
  }
}

TEST(Idle, a_lone_worker_may_search) {
  Idle idle(1);
  EXPECT_TRUE(idle.try_start_searching());
  EXPECT_FALSE(idle.try_start_searching());
}

TEST(Idle, a_worker_needs_no_memory_to_fall_asleep) {
  Idle idle(3);
  int last_looks = 0;
  {
    const tests::NoMemory none;
    for (std::uint32_t i = 0; i < 3; ++i) last_looks += idle.park(i, false) ? 1 : 0;
  }
  EXPECT_EQ(last_looks, 3);
}

TEST(Idle, has_somebody_to_spare_while_one_searches_or_sleeps) {
  Idle idle(2);
  EXPECT_FALSE(idle.has_spare());
  EXPECT_TRUE(idle.try_start_searching());
  EXPECT_TRUE(idle.has_spare());
  EXPECT_FALSE(idle.stop_searching());
  EXPECT_FALSE(idle.has_spare());
  EXPECT_TRUE(idle.park(0, false));
  EXPECT_TRUE(idle.has_spare());
}

TEST(IdleThreads, no_sleeper_is_woken_twice_and_none_is_lost) {
  constexpr std::uint32_t kWorkers = 4;
  Asleep idle(kWorkers);
  std::vector<std::atomic<int>> awake(kWorkers);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop.load()) {
        const std::uint32_t woken = idle.worker_to_notify(Idle::Pusher::outside);
        if (woken == kNobody) continue;
        EXPECT_EQ(awake[woken].fetch_add(1), 0);
        awake[woken].fetch_sub(1);
        static_cast<void>(idle.park(woken, true));
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  // All workers are asleep again.
  std::set<std::uint32_t> woken;
  for (;;) {
    const std::uint32_t index = idle.worker_to_notify(Idle::Pusher::outside);
    if (index == kNobody) break;
    woken.insert(index);
    static_cast<void>(idle.stop_searching());
  }
  EXPECT_EQ(woken.size(), kWorkers);
}

}  // namespace
}  // namespace taskbench::rt::work_stealing
