// What is specific to tokio01: threads that end when idle and are started again, and queues that
// grow.
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "tests/runtime/allocations.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

/// Occupies all workers at once: each task waits until the others run, too.
Task<> occupy_all(unsigned workers) {
  std::atomic<unsigned> running{0};
  const auto run_beside_the_others = [&]() -> Task<> {
    running.fetch_add(1);
    EXPECT_TRUE(eventually([&] { return running.load() == workers; }));
    co_return;
  };
  std::vector<JoinHandle<void>> handles;
  for (unsigned i = 0; i < workers; ++i) handles.push_back(spawn(run_beside_the_others()));
  co_await join_all(handles);
}

TEST(Tokio01, idle_threads_end_and_are_started_again) {
  std::atomic<unsigned> started{0};
  std::atomic<unsigned> stopped{0};
  Runtime runtime = builder(kTokio01)
                        .on_thread_start([&](unsigned) { started.fetch_add(1); })
                        .on_thread_stop([&](unsigned) { stopped.fetch_add(1); })
                        .trace(1024)
                        .build();
  EXPECT_TRUE(eventually([&] { return stopped.load() == kTokio01.workers - 1; }));
  EXPECT_EQ(started.load(), kTokio01.workers);
  runtime.block_on(occupy_all(kTokio01.workers));
  run_as_task(runtime, [] { return occupy_all(kTokio01.workers); });
  // If this thread was held up for a second, more threads have ended and started meanwhile.
  EXPECT_GE(started.load(), 2 * kTokio01.workers - 1);
  EXPECT_TRUE(eventually([&] { return stopped.load() == started.load() - 1; }));
  runtime.shutdown();
  EXPECT_EQ(stopped.load(), started.load());
}

TEST(Tokio01, idle_threads_need_no_memory_to_fall_asleep_and_to_end_and_can_do_without_others) {
  std::atomic<unsigned> stopped{0};
  Runtime runtime =
      builder(kTokio01)
          .on_thread_start([](unsigned) { lack_of_memory_of_this_thread().emplace(); })
          .on_thread_stop([&](unsigned) { stopped.fetch_add(1); })
          .build();
  EXPECT_TRUE(eventually([&] { return stopped.load() == kTokio01.workers - 1; }));
  // The last one, woken for a task, has no memory to start another.
  runtime.block_on(runtime.spawn(nothing()));
}

TEST(Tokio01, a_task_from_outside_does_not_wait_behind_a_poll_while_others_are_idle) {
  Runtime runtime = build(kTokio01);
  for (int round = 0; round < 300; ++round) runtime.block_on(occupy_all(kTokio01.workers));
}

TEST(Tokio01, its_queues_grow) {
  constexpr int kTasks = 5'000;
  std::atomic<int> ran{0};
  Runtime runtime = build(kTokio01);
  const auto count = [&]() -> Task<> {
    co_await yield_now();
    ran.fetch_add(1);
  };
  run_as_task(runtime, [&]() -> Task<> {
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < kTasks; ++i) handles.push_back(spawn(count()));
    co_await join_all(handles);
  });
  EXPECT_EQ(ran.load(), kTasks);
}

}  // namespace
}  // namespace taskbench::rt
