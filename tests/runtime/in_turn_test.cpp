// The pool whose workers run in turn: runs are repeatable, and its only driver must do what the
// threads of other pools do. What all schedulers promise is tested elsewhere.

#include <algorithm>

#include "runtime/sync/oneshot.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

using Log = std::vector<int>;

Task<> stepper(Log* log, int id, int steps) {
  for (int i = 0; i < steps; ++i) {
    log->push_back(id);
    co_await yield_now();
  }
}

/// The outcome of tasks that spawn, yield and join on the workers of an in_turn runtime.
struct Outcome {
  Log log;
  WorkerCounters total;
};

Task<> parent(Log* log, int id) {
  std::vector<JoinHandle<void>> children;
  for (int i = 0; i < 5; ++i) children.push_back(spawn(stepper(log, 10 * id + i, i + 1)));
  co_await join_all(children);
  log->push_back(id);
}

Task<> family(Log* log) {
  std::vector<JoinHandle<void>> parents;
  for (int id = 1; id <= 8; ++id) parents.push_back(spawn(parent(log, id)));
  co_await join_all(parents);
}

Outcome outcome_of(std::uint64_t seed, unsigned workers = 4) {
  Outcome outcome;
  Runtime runtime = builder(kInTurn).workers(workers).seed(seed).build();
  runtime.block_on(family(&outcome.log));
  outcome.total = runtime.stats().total();
  return outcome;
}

TEST(InTurn, the_same_seed_gives_the_same_schedule) {
  const Outcome first = outcome_of(1);
  ASSERT_EQ(first.log.size(), 8U * (15 + 1));
  for (int again = 0; again < 5; ++again) {
    const Outcome next = outcome_of(1);
    EXPECT_EQ(next.log, first.log);
    EXPECT_EQ(next.total.polls, first.total.polls);
    EXPECT_EQ(next.total.searches, first.total.searches);
    EXPECT_EQ(next.total.parks, first.total.parks);
  }
}

TEST(InTurn, another_seed_gives_another_schedule) {
  const Log first = outcome_of(1).log;
  int others = 0;
  for (std::uint64_t seed = 2; seed < 10; ++seed) others += outcome_of(seed).log != first ? 1 : 0;
  EXPECT_GE(others, 6);
}

TEST(InTurn, its_workers_steal_park_and_are_woken) {
  Log log;
  Runtime runtime = builder(kInTurn).workers(4).build();
  for (int round = 0; round < 3; ++round) {
    runtime.block_on(family(&log));
    runtime.block_on(yield_times(20));  // nothing else is left to do meanwhile
  }
  const WorkerCounters total = runtime.stats().total();
  EXPECT_GT(total.stolen_tasks, 0U);
  EXPECT_GE(total.parks, 3U);
  EXPECT_GE(total.unparks, 2U);
  EXPECT_EQ(total.tasks_completed, 3U * (8 + 40));
}

/// Returns the most turns by which yielding tasks were apart. Neighbours in a queue are stolen
/// together, and the first of them end soon, so one worker is left with few, the other with many.
int widest_gap(std::uint64_t seed) {
  constexpr int kShort = 16;
  std::vector<int> turns(24);
  int widest = 0;
  Runtime runtime = builder(kInTurn).workers(2).seed(seed).build();
  const auto take_turns = [&](int& own) -> Task<> {
    for (int i = 0; i < 2000; ++i) {
      ++own;
      const auto [least, most] = std::ranges::minmax(turns);
      if (most < 2000) widest = std::max(widest, most - least);
      co_await yield_now();
    }
  };
  run_as_task(runtime, [&]() -> Task<> {
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < kShort; ++i) handles.push_back(spawn(yield_times(50)));
    for (int& own : turns) handles.push_back(spawn(take_turns(own)));
    co_await join_all(handles);
  });
  return widest;
}

TEST(InTurn, tasks_that_yield_stay_level_though_one_worker_has_few_of_them) {
  for (int seed = 0; seed < tries(8); ++seed) {
    EXPECT_LE(widest_gap(static_cast<std::uint64_t>(seed)), 40) << "seed " << seed;
  }
}

TEST(InTurn, everything_runs_on_the_thread_that_blocks) {
  Runtime runtime = build(kInTurn);
  const auto self = std::this_thread::get_id();
  const auto here = []() -> Task<std::thread::id> { co_return std::this_thread::get_id(); };
  for (int i = 0; i < 20; ++i) EXPECT_EQ(run_as_task(runtime, here), self);
}

TEST(InTurn, what_another_thread_spawns_runs_while_the_driver_has_nothing_to_do) {
  Runtime runtime = build(kInTurn);
  auto ends = sync::oneshot::channel<int>();
  const auto send = [&]() -> Task<> {
    static_cast<void>(ends.first.send(7));
    co_return;
  };
  std::thread other([&, handle = runtime.handle()] { handle.spawn(send()).detach(); });
  const auto got = runtime.block_on([&]() -> Task<int> { co_return *co_await ends.second; }());
  EXPECT_EQ(got, 7);
  other.join();
}

TEST(InTurn, a_shutdown_destroys_every_task_whoever_calls_it) {
  Census census;
  const auto run_forever = [&] { return yield_forever(Resident(census)); };
  {
    Runtime runtime = build(kInTurn);  // nobody was ever in block_on
    runtime.spawn(run_forever()).detach();
    runtime.shutdown();
    EXPECT_EQ(census.living(), 0);
  }
  {
    Runtime runtime = build(kInTurn);  // ended by the root
    runtime.block_on([&]() -> Task<> {
      for (int i = 0; i < 9; ++i) spawn(run_forever()).detach();
      co_await yield_times(50);
      runtime.shutdown();
      EXPECT_EQ(census.living(), 0);
    }());
  }
  {
    Runtime runtime = build(kInTurn);  // ended by a task
    EXPECT_THROW(run_as_task(runtime,
                             [&]() -> Task<> {
                               runtime.shutdown();
                               co_await run_forever();
                             }),
                 JoinError);
    EXPECT_EQ(census.living(), 0);
  }
  {
    Runtime runtime = build(kInTurn);  // ended by another thread, while the driver waits for a task
    std::thread other([&] {
      while (census.living() == 0) std::this_thread::yield();
      runtime.shutdown();
      EXPECT_EQ(census.living(), 0);
    });
    EXPECT_THROW(run_as_task(runtime, run_forever), JoinError);
    other.join();
  }
  EXPECT_GE(census.ever(), 12);
}

}  // namespace
}  // namespace taskbench::rt
