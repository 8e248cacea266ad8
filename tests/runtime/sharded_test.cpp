// What is peculiar to sharded: a task stays on the worker where it began.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace testing;

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
    if (from_a_task) {
      runtime
          .spawn([](Gate* opened) -> Task<> {
            opened->open();
            co_return;
          }(&gate))
          .detach();
    } else {
      gate.open();
    }
    runtime.block_on([](std::vector<JoinHandle<bool>> all) -> Task<> {
      for (JoinHandle<bool>& handle : all) {
        const bool stayed = co_await handle;
        EXPECT_TRUE(stayed);
      }
    }(std::move(handles)));
  }
}

TEST(Sharded, tasks_from_outside_go_to_the_workers_in_turn) {
  Runtime runtime = build(kSharded);
  std::map<std::thread::id, int> tasks;
  for (unsigned i = 0; i < 4 * kSharded.workers; ++i) {
    ++tasks[runtime.block_on([](Runtime* pool) -> Task<std::thread::id> {
      co_return co_await pool->spawn(here());
    }(&runtime))];
  }
  EXPECT_EQ(tasks.size(), kSharded.workers);
  for (const auto& [worker, count] : tasks) EXPECT_EQ(count, 4);
}

TEST(Sharded, nobody_helps_a_worker_that_has_much_to_do) {
  Runtime runtime = build(kSharded);
  runtime.block_on([](Runtime* pool) -> Task<> {
    co_await pool->spawn([]() -> Task<> {
      const auto home = std::this_thread::get_id();
      std::vector<JoinHandle<std::thread::id>> handles;
      for (int i = 0; i < 200; ++i) handles.push_back(spawn(here()));
      for (JoinHandle<std::thread::id>& handle : handles) {
        const std::thread::id where = co_await handle;
        EXPECT_EQ(where, home);
      }
    }());
  }(&runtime));
}

}  // namespace
}  // namespace taskbench::rt
