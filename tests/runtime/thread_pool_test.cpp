// What the schedulers that work_stealing is compared with share: workers that never sleep fire
// timers, a wake-up is counted by its sender, and a new task is told where it starts.
#include "runtime/scheduler/thread_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "runtime/time/sleep.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

class ThreadPools : public OnEveryScheduler {};
INSTANTIATE_TEST_SUITE_P(Pools, ThreadPools,
                         ::testing::Values(kGlobalQueue, kSharded, kChannel, kTokio01),
                         [](const auto& instance) { return std::string(instance.param.name); });

// No thread is in block_on, where it would look at the timer.
TEST_P(ThreadPools, fire_a_timer_beside_a_task_that_is_always_runnable) {
  std::atomic<bool> rung{false};
  Runtime runtime = builder(GetParam()).workers(1).build();
  runtime
      .spawn([&]() -> Task<> {
        spawn([&]() -> Task<> {
          co_await time::sleep(1ms);
          rung.store(true);
        }).detach();
        spawn(until([&] { return rung.load(); })).detach();
        co_return;
      })
      .detach();
  EXPECT_TRUE(eventually([&] { return rung.load(); }));
}

TEST(ThreadPoolOfTwo, counts_a_wake_up_that_a_worker_sends_apart_from_those_by_threads_outside) {
  if (!kCounted) GTEST_SKIP() << "who has sent it is told by the counters";
  for (const Kind& kind :
       {Kind{"global_queue", 2, "global_queue_2"}, Kind{"tokio01", 2, "tokio01_2"}}) {
    Runtime runtime = build(kind);
    ASSERT_TRUE(eventually([&] { return runtime.stats().total().parks >= 2; }));
    run_as_task(runtime, []() -> Task<> {
      std::atomic<bool> ran{false};
      JoinHandle<void> other = spawn([&]() -> Task<> {
        ran.store(true);
        co_return;
      });
      EXPECT_TRUE(block_worker_until(ran));  // so that the other worker has to be woken
      co_await other;
    });
    const RuntimeStats stats = runtime.stats();
    EXPECT_LE(stats.outside.unparks, 1U) << kind.name;
    EXPECT_GE(stats.workers[0].unparks + stats.workers[1].unparks, 1U) << kind.name;
  }
}

TEST(ThreadPoolOfTwo, begins_what_a_task_spawns_on_the_shard_of_that_task) {
  Runtime runtime = build({"sharded", 2, "sharded_2"});
  for (int shard = 0; shard < 2; ++shard) {
    run_as_task(runtime, []() -> Task<> {
      const auto home = std::this_thread::get_id();
      JoinHandle<std::thread::id> other =
          spawn([]() -> Task<std::thread::id> { co_return std::this_thread::get_id(); });
      const std::thread::id place = co_await other;
      EXPECT_EQ(place, home);
    });
  }
}

}  // namespace
}  // namespace taskbench::rt
