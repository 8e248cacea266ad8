// What is specific to the channel scheduler: the order, and a full channel.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

constexpr int kRoom = 10'000;

/// Keeps the channel's only receiver busy until `release`.
void occupy(Runtime& runtime, const std::atomic<bool>& release) {
  std::atomic<bool> entered{false};
  runtime
      .spawn([](std::atomic<bool>& in, const std::atomic<bool>& out) -> Task<> {
        in.store(true);
        EXPECT_TRUE(block_worker_until(out));
        co_return;
      }(entered, release))
      .detach();
  ASSERT_TRUE(eventually([&] { return entered.load(); }));
}

TEST(Channel, a_thread_outside_waits_for_room) {
  std::atomic<bool> release{false};
  std::atomic<int> spawned{0};
  Census census;
  {
    Runtime runtime = build(kChannel);
    occupy(runtime, release);
    std::thread spawner([&] {
      for (int i = 0; i < kRoom + 100; ++i) {
        runtime.spawn([](Resident) -> Task<> { co_return; }(Resident(census))).detach();
        spawned.fetch_add(1);
      }
    });
    EXPECT_TRUE(eventually([&] { return spawned.load() == kRoom; }));
    std::this_thread::sleep_for(5ms);
    EXPECT_EQ(spawned.load(), kRoom);
    release.store(true);
    spawner.join();
    EXPECT_TRUE(eventually([&] { return census.living() == 0; }));
  }
}

TEST(Channel, a_shutdown_ends_the_wait_for_room) {
  std::atomic<bool> release{false};
  std::atomic<int> spawned{0};
  Census census;
  Runtime runtime = build(kChannel);
  occupy(runtime, release);
  std::thread spawner([&] {
    for (int i = 0; i < kRoom + 100; ++i) {
      runtime.spawn(wait_forever(Resident(census))).detach();
      spawned.fetch_add(1);
    }
  });
  EXPECT_TRUE(eventually([&] { return spawned.load() == kRoom; }));
  EXPECT_FALSE(runtime.shutdown_timeout(0s));
  spawner.join();
  release.store(true);
  runtime.shutdown();
  EXPECT_EQ(census.living(), 0);
}

TEST(Channel, a_task_does_not_wait_for_room_and_the_order_is_kept) {
  std::vector<int> order;
  Runtime runtime = build(kChannel);
  const auto note = [&](int number) -> Task<> {
    order.push_back(number);
    co_return;
  };
  run_as_task(runtime, [&]() -> Task<> {
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < 2 * kRoom + 5; ++i) handles.push_back(spawn(note(i)));
    co_await join_all(handles);
  });
  ASSERT_EQ(order.size(), 2U * kRoom + 5);
  EXPECT_TRUE(std::ranges::is_sorted(order));
}

}  // namespace
}  // namespace taskbench::rt
