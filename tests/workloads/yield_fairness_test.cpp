// yield_now() is fair: tasks that only yield stay level with each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <iostream>
#include <limits>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/runtime.hpp"
#include "workloads/base/countdown.hpp"

namespace taskbench::workloads {
namespace {

constexpr std::uint32_t kTasks = 200;
constexpr std::uint32_t kYields = 1'000;
/// With one worker, the tasks take turns, and a task is seen either before or after its own turn.
constexpr std::uint32_t kMostApartOnOneWorker = 2;
/// With two workers, each cycles through its own share at its own pace; stealing and the injector
/// even out the shares.
constexpr std::uint32_t kMostApartOnTwoWorkers = 96;

struct Race {
  /// The number of workers that the system may preempt while another one looks: each holds the task
  /// that it polls, which no scheduler can move.
  std::size_t preempted = 0;
  /// The number of turns of the first task before the others are spawned.
  std::uint32_t turns_alone = 0;
  std::atomic<std::uint32_t> turns_waited{0};
  std::atomic<int> spawners{0};
  std::atomic<int> spawned{0};
  std::atomic<std::uint32_t> ready{0};
  std::vector<std::atomic<std::uint32_t>> yields = std::vector<std::atomic<std::uint32_t>>(kTasks);
  std::atomic<std::uint32_t> most_apart{0};
  Countdown finished;

  /// How far apart all tasks are, except the `preempted` least advanced ones. Looks for the most
  /// advanced task first: yields only grow, so a thread that is stopped between the two passes sees
  /// the tasks closer together, not further apart.
  std::uint32_t apart() const {
    std::uint32_t most = 0;
    for (const auto& yielded : yields) {
      most = std::max(most, yielded.load(std::memory_order_relaxed));
    }
    std::array<std::uint32_t, 2> least{};
    least.fill(std::numeric_limits<std::uint32_t>::max());
    for (const auto& yielded : yields) {
      const std::uint32_t seen = yielded.load(std::memory_order_relaxed);
      if (seen < least[0]) {
        least[1] = std::exchange(least[0], seen);
      } else if (seen < least[1]) {
        least[1] = seen;
      }
    }
    return most - std::min(most, least[preempted]);
  }

  void note(std::uint32_t now_apart) {
    std::uint32_t before = most_apart.load(std::memory_order_relaxed);
    while (now_apart > before && !most_apart.compare_exchange_weak(before, now_apart)) {
    }
  }
};

rt::Task<> runner(Race* race, std::uint32_t self) {
  // No task has a head start: yields do not count before the last task has been spawned and polled.
  // If all are spawned before the first is polled, no task waits: the scheduler would compensate
  // for turns spent waiting.
  race->ready.fetch_add(1);
  while (race->spawned.load() < 2 && race->ready.load() < kTasks) {
    race->turns_waited.fetch_add(1, std::memory_order_relaxed);
    co_await rt::yield_now();
  }
  for (std::uint32_t i = 0; i < kYields; ++i) {
    co_await rt::yield_now();
    race->yields[self].fetch_add(1, std::memory_order_relaxed);
    race->note(race->apart());
  }
  race->finished.count();
}

rt::Task<> start(Race* race) {
  SignalReceiver last = race->finished.begin(kTasks);
  for (std::uint32_t i = 0; i < kTasks; ++i) {
    rt::spawn(runner(race, i)).detach();
    while (race->turns_waited.load() < race->turns_alone) co_await rt::yield_now();
  }
  require_heard(co_await std::move(last));
}

/// Spawns runners into the queue of its own worker. Holds that worker until its twin has done the
/// same on the other one.
rt::Task<> spawn_share(Race* race, std::uint32_t begin, std::uint32_t end) {
  race->spawners.fetch_add(1);
  while (race->spawners.load() < 2) std::this_thread::yield();
  for (std::uint32_t i = begin; i < end; ++i) rt::spawn(runner(race, i)).detach();
  race->spawned.fetch_add(1);
  while (race->spawned.load() < 2) std::this_thread::yield();
  co_return;
}

rt::Task<> start_with_unequal_shares(Race* race) {
  SignalReceiver last = race->finished.begin(kTasks);
  rt::spawn(spawn_share(race, 0, kTasks / 5)).detach();
  rt::spawn(spawn_share(race, kTasks / 5, kTasks)).detach();
  require_heard(co_await std::move(last));
}

/// Returns the largest difference between the most and the least advanced task that any task saw.
std::uint32_t most_apart(std::string_view scheduler, unsigned workers,
                         std::uint32_t turns_alone = 0) {
  const auto race = std::make_unique<Race>();
  race->preempted = workers - 1;
  race->turns_alone = turns_alone;
  rt::Runtime runtime = rt::Runtime::Builder{}.scheduler(scheduler).workers(workers).build();
  runtime.block_on(workers == 2 ? start_with_unequal_shares(race.get()) : start(race.get()));
  EXPECT_EQ(race->finished.verify("tasks"), std::nullopt);
  const std::uint32_t apart = race->most_apart.load();
  testing::Test::RecordProperty("most_yields_apart", static_cast<int>(apart));
  std::cout << "most and least advanced task were at most " << apart << " yields apart\n";
  return apart;
}

TEST(yield_fairness, tasks_stay_level_on_the_current_thread) {
  EXPECT_LE(most_apart("current_thread", 1), kMostApartOnOneWorker);
}

TEST(yield_fairness, tasks_stay_level_on_one_worker) {
  EXPECT_LE(most_apart("work_stealing", 1), kMostApartOnOneWorker);
}

TEST(yield_fairness, a_task_that_was_long_alone_stays_level_with_those_that_come) {
  EXPECT_LE(most_apart("work_stealing", 1, 5'000), kMostApartOnOneWorker);
}

// One worker begins with four times as many tasks as the other. The best of several races counts,
// as a busy machine that stops a worker can only add to the difference.
TEST(yield_fairness, tasks_become_level_on_two_workers) {
  constexpr int kRaces = 20;
  std::uint32_t best = std::numeric_limits<std::uint32_t>::max();
  for (int race = 0; race < kRaces && best > kMostApartOnTwoWorkers; ++race) {
    best = std::min(best, most_apart("work_stealing", 2));
  }
  EXPECT_LE(best, kMostApartOnTwoWorkers);
}

}  // namespace
}  // namespace taskbench::workloads
