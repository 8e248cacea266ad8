// Every rung of the ladder is a scheduler: it runs each task once, wakes, joins, overflows, and
// leaves nothing behind.
#include "runtime/ladder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string_view>
#include <vector>

#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

class OnEveryRung : public ::testing::TestWithParam<Rung> {
 protected:
  static Runtime build_rung(unsigned workers) {
    return Runtime::Builder{}.scheduler(*GetParam().scheduler).workers(workers).build();
  }
};

INSTANTIATE_TEST_SUITE_P(Ladder, OnEveryRung, ::testing::ValuesIn(ladder()),
                         [](const auto& rung) { return std::string(rung.param.scheduler->name); });

Task<> yield_and_count(std::atomic<int>* ran, int yields, Resident) {
  for (int i = 0; i < yields; ++i) co_await yield_now();
  ran->fetch_add(1);
}

/// Spawns more tasks than fit into a queue, and awaits them all.
Task<> spawn_and_join(std::atomic<int>* ran, int tasks, Census* census) {
  std::vector<JoinHandle<void>> handles;
  for (int i = 0; i < tasks; ++i) {
    handles.push_back(spawn(yield_and_count(ran, i % 3, Resident(*census))));
  }
  for (JoinHandle<void>& handle : handles) co_await handle;
}

TEST_P(OnEveryRung, runs_every_task_once_also_those_of_a_queue_that_overflows) {
  constexpr int kTasks = 1000;
  for (const unsigned workers : {1U, 2U, 4U}) {
    Census census;
    std::atomic<int> ran{0};
    Runtime runtime = build_rung(workers);
    runtime.block_on([](Runtime* pool, std::atomic<int>* count, Census* all) -> Task<> {
      co_await pool->spawn(spawn_and_join(count, kTasks, all));
    }(&runtime, &ran, &census));
    EXPECT_EQ(ran.load(), kTasks);
    runtime.shutdown();
    EXPECT_EQ(census.living(), 0);
  }
}

TEST_P(OnEveryRung, wakes_what_other_threads_wake) {
  Census census;
  Gate gate;
  std::atomic<int> ran{0};
  Runtime runtime = build_rung(2);
  std::vector<JoinHandle<void>> handles;
  for (int i = 0; i < 300; ++i) {
    handles.push_back(runtime.spawn([](Gate* shut, std::atomic<int>* count, Resident) -> Task<> {
      co_await shut->passed();
      count->fetch_add(1);
    }(&gate, &ran, Resident(census))));
  }
  EXPECT_TRUE(eventually([&] { return gate.waiting() >= 100; }));
  gate.open();
  runtime.block_on([](std::vector<JoinHandle<void>> all) -> Task<> {
    for (JoinHandle<void>& handle : all) co_await handle;
  }(std::move(handles)));
  EXPECT_EQ(ran.load(), 300);
}

TEST_P(OnEveryRung, a_shutdown_destroys_tasks_in_every_state) {
  for (int round = 0; round < 10; ++round) {
    Census census;
    Gate gate;
    Runtime runtime = build_rung(2);
    for (int i = 0; i < 20; ++i) {
      runtime.spawn(wait_forever(Resident(census))).detach();
      runtime.spawn(yield_forever(Resident(census))).detach();
      runtime.spawn(wait_at(&gate, Resident(census))).detach();
      JoinHandle<void> aborted = runtime.spawn(wait_forever(Resident(census)));
      aborted.abort();
    }
    runtime.block_on([]() -> Task<> {
      for (int i = 0; i < 50; ++i) co_await yield_now();
    }());
    runtime.shutdown();
    EXPECT_EQ(census.living(), 0);
  }
}

/// The rungs whose counters satisfy `holds` after `body` has run as a task.
template <class Body, class Holds>
std::vector<std::string_view> rungs_where(unsigned workers, Body body, Holds holds) {
  std::vector<std::string_view> names;
  for (const Rung& rung : ladder()) {
    Runtime runtime = Runtime::Builder{}.scheduler(*rung.scheduler).workers(workers).build();
    run_as_task(runtime, body);
    runtime.shutdown();
    if (holds(runtime.stats().total())) names.push_back(rung.scheduler->name);
  }
  return names;
}

/// All rungs from `first` up; none if nothing is counted.
std::vector<std::string_view> rungs_from(std::string_view first) {
  std::vector<std::string_view> names;
  for (const Rung& rung : ladder()) {
    const bool is_above = !names.empty() || rung.scheduler->name == first;
    if (kCounted && is_above) names.push_back(rung.scheduler->name);
  }
  return names;
}

TEST(Ladder, what_was_made_runnable_last_runs_next_from_its_rung_up) {
  Census census;
  std::atomic<int> ran{0};
  EXPECT_EQ(rungs_where(
                1, [&] { return spawn_and_join(&ran, 50, &census); },
                [](const WorkerCounters& counted) { return counted.lifo_hits > 0; }),
            rungs_from("ladder_lifo_slot"));
}

/// Lets the only other worker steal from a queue of 64 tasks.
Task<> be_stolen_from() {
  constexpr int kTasks = 64;
  std::atomic<bool> is_held{false}, is_filled{false}, is_robbed{false};
  std::atomic<int> ran{0};
  const auto hold = [&]() -> Task<> {
    is_held.store(true);
    EXPECT_TRUE(block_worker_until(is_filled));
    co_return;
  };
  const auto count = [&]() -> Task<> {
    if (ran.fetch_add(1) + 1 == kTasks / 2) is_robbed.store(true);
    co_return;
  };
  std::vector<JoinHandle<void>> handles;
  handles.push_back(spawn(hold()));
  handles.push_back(spawn(count()));  // displaces it from the LIFO slot, which thieves cannot reach
  EXPECT_TRUE(block_worker_until(is_held));
  for (int i = 1; i < kTasks; ++i) handles.push_back(spawn(count()));
  is_filled.store(true);
  EXPECT_TRUE(block_worker_until(is_robbed));
  for (JoinHandle<void>& handle : handles) co_await handle;
}

TEST(Ladder, a_thief_takes_more_than_one_task_from_that_rung_up) {
  EXPECT_EQ(rungs_where(2, be_stolen_from,
                        [](const WorkerCounters& counted) {
                          return counted.stolen_tasks > counted.steal_operations;
                        }),
            rungs_from("ladder_steal_half"));
}

TEST(Ladder, begins_with_tokio01_and_ends_with_the_default) {
  EXPECT_EQ(ladder().front().scheduler->name, "tokio01");
  EXPECT_EQ(ladder().back().scheduler->name, schedulers().front().name);
  std::set<std::string_view> names;
  for (const Rung& rung : ladder()) names.insert(rung.scheduler->name);
  EXPECT_EQ(names.size(), ladder().size());
  for (const SchedulerInfo& each : schedulers()) {
    EXPECT_EQ(find_scheduler(each.name), &each) << "rungs are in no way of the others";
  }
}

}  // namespace
}  // namespace taskbench::rt
