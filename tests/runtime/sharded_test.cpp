// What is specific to the sharded scheduler: a task stays on the worker where it started.
#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <vector>

#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

Task<std::thread::id> here() { co_return std::this_thread::get_id(); }

Task<bool> stays(Gate* gate) {
  const auto home = std::this_thread::get_id();
  bool stayed = true;
  for (int i = 0; i < 20; ++i) {
    co_await yield_now();
    stayed = stayed && std::this_thread::get_id() == home;
  }
  co_await gate->passed();
  co_return stayed&& std::this_thread::get_id() == home;
}

TEST(Sharded, a_task_stays_on_its_worker_whoever_wakes_it) {
  for (const bool from_a_task : {true, false}) {
    Gate gate;
    Runtime runtime = build(kSharded);
    std::vector<JoinHandle<bool>> handles;
    for (int i = 0; i < 30; ++i) handles.push_back(runtime.spawn(stays(&gate)));
    ASSERT_TRUE(eventually([&] { return gate.waiting() == 30; }));
    const auto open = [&]() -> Task<> {
      gate.open();
      co_return;
    };
    if (from_a_task) {
      runtime.spawn(open()).detach();
    } else {
      gate.open();
    }
    runtime.block_on([&]() -> Task<> {
      for (JoinHandle<bool>& handle : handles) {
        const bool stayed = co_await handle;
        EXPECT_TRUE(stayed);
      }
    }());
    if (from_a_task) {
      const std::uint64_t of_others = 30 - 30 / kSharded.workers;
      const auto stats = runtime.stats();
      const std::uint64_t by_workers =
          stats.total().remote_schedules - stats.outside.remote_schedules;
      EXPECT_EQ(by_workers, kCounted ? of_others : 0);
    }
  }
}

TEST(Sharded, tasks_from_outside_go_to_the_workers_in_turn) {
  Runtime runtime = build(kSharded);
  std::map<std::thread::id, int> tasks;
  for (unsigned i = 0; i < 4 * kSharded.workers; ++i) {
    ++tasks[run_as_task(runtime, here)];
  }
  EXPECT_EQ(tasks.size(), kSharded.workers);
  for (const auto& [worker, count] : tasks) EXPECT_EQ(count, 4);
}

TEST(Sharded, what_comes_through_the_inboxes_is_counted) {
  Runtime runtime = build(kSharded);
  for (int i = 0; i < 4; ++i) run_as_task(runtime, nothing);
  EXPECT_EQ(runtime.stats().total().injector_polls, kCounted ? 4U : 0U);
}

TEST(Sharded, nobody_helps_a_worker_that_has_much_to_do) {
  Runtime runtime = build(kSharded);
  for (unsigned worker = 0; worker < kSharded.workers; ++worker) {
    run_as_task(runtime, []() -> Task<> {
      const auto home = std::this_thread::get_id();
      std::vector<JoinHandle<std::thread::id>> handles;
      for (int i = 0; i < 200; ++i) handles.push_back(spawn(here()));
      for (JoinHandle<std::thread::id>& handle : handles) {
        const std::thread::id where = co_await handle;
        EXPECT_EQ(where, home);
      }
    });
  }
}

}  // namespace
}  // namespace taskbench::rt
