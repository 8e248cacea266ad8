// What is peculiar to tokio01: threads that end when they are idle and are started again, and
// queues that grow.
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace testing;

/// Has tasks for all workers at once: each waits until the others run, too.
Task<> occupy_all(unsigned workers) {
  std::atomic<unsigned> running{0};
  std::vector<JoinHandle<void>> handles;
  for (unsigned i = 0; i < workers; ++i) {
    handles.push_back(spawn([](std::atomic<unsigned>* count, unsigned all) -> Task<> {
      count->fetch_add(1);
      EXPECT_TRUE(eventually([&] { return count->load() == all; }));
      co_return;
    }(&running, workers)));
  }
  for (JoinHandle<void>& handle : handles) co_await handle;
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
  runtime.block_on(
      [](unsigned workers) -> Task<> { co_await spawn(occupy_all(workers)); }(kTokio01.workers));
  // Where this thread was kept waiting for a second, more have ended and begun meanwhile.
  EXPECT_GE(started.load(), 2 * kTokio01.workers - 1);
  runtime.shutdown();
  EXPECT_EQ(stopped.load(), started.load());
}

TEST(Tokio01, a_task_from_outside_does_not_wait_behind_a_poll_while_others_are_idle) {
  Runtime runtime = build(kTokio01);
  for (int round = 0; round < 300; ++round) runtime.block_on(occupy_all(kTokio01.workers));
}

TEST(Tokio01, its_queues_grow) {
  constexpr int kTasks = 5'000;
  std::atomic<int> ran{0};
  Runtime runtime = build(kTokio01);
  runtime.block_on([](Runtime* pool, std::atomic<int>* count) -> Task<> {
    co_await pool->spawn([](std::atomic<int>* own) -> Task<> {
      std::vector<JoinHandle<void>> handles;
      for (int i = 0; i < kTasks; ++i) {
        handles.push_back(spawn([](std::atomic<int>* all) -> Task<> {
          co_await yield_now();
          all->fetch_add(1);
        }(own)));
      }
      for (JoinHandle<void>& handle : handles) co_await handle;
    }(count));
  }(&runtime, &ran));
  EXPECT_EQ(ran.load(), kTasks);
}

}  // namespace
}  // namespace taskbench::rt
