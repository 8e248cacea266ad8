// What the schedulers promise about order, fairness and help between workers: the LIFO slot, the
// look at the injector, stealing from a stuck worker, waking one worker at a time.

#include <algorithm>
#include <functional>
#include <set>

#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/order.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

Task<> spawn_three(Log* log) {
  for (int id = 1; id <= 3; ++id) spawn(note_id(log, id)).detach();
  log->push_back(0);
  co_return;
}

TEST(LifoSlot, the_newest_runs_next_and_the_displaced_go_to_the_back) {
  EXPECT_EQ(log_of(build(kOneWorker), &spawn_three, 4), (Log{0, 3, 1, 2}));
}

TEST(LifoSlot, without_it_the_order_is_first_in_first_out) {
  EXPECT_EQ(log_of(builder(kOneWorker).lifo_slot(false).build(), &spawn_three, 4),
            (Log{0, 1, 2, 3}));
}

Task<> wake_one_behind_others(Log* log) {
  Gate gate;
  const auto wait = [&]() -> Task<> {
    co_await gate.passed();
    log->push_back(9);
  };
  JoinHandle<void> waiting = spawn(wait());
  while (gate.waiting() == 0) co_await yield_now();
  spawn(note_id(log, 1)).detach();
  spawn(note_id(log, 2)).detach();
  gate.open();  // displaces task 2
  co_await std::move(waiting);
}

TEST(LifoSlot, a_task_that_was_woken_runs_next) {
  EXPECT_EQ(log_of(build(kOneWorker), &wake_one_behind_others, 3), (Log{9, 1, 2}));
}

TEST(LifoSlot, a_chain_that_respawns_itself_cannot_starve_its_neighbours) {
  std::atomic<bool> stop{false};
  std::atomic<int> links{0};
  Runtime runtime = build(kOneWorker);
  run_as_task(runtime, [&]() -> Task<> {
    spawn(respawn_until(&stop, &links)).detach();
    co_await yield_times(100);
    stop.store(true);
  });
  EXPECT_GE(links.load(), 100) << "the chain did run in between";
  EXPECT_LE(links.load(), 100 * 100) << "a turn each few dozen polls";
}

/// Wakes `partner` each time it is woken, until `stop`.
Task<> bounce(std::vector<Waker>* own, std::vector<Waker>* partner, const std::atomic<bool>* stop) {
  co_await poll_fn([=](PollContext& context) -> std::optional<bool> {
    for (const Waker& waker : *partner) waker.wake_by_ref();
    if (stop->load()) return true;
    if (own->empty()) own->push_back(context.waker());
    return std::nullopt;
  });
}

TEST(LifoSlot, two_tasks_that_wake_each_other_cannot_starve_a_third) {
  std::atomic<bool> stop{false};
  std::vector<Waker> wakers[2];
  Runtime runtime = build(kOneWorker);
  run_as_task(runtime, [&]() -> Task<> {
    JoinHandle<void> ping = spawn(bounce(&wakers[0], &wakers[1], &stop));
    JoinHandle<void> pong = spawn(bounce(&wakers[1], &wakers[0], &stop));
    co_await yield_times(100);
    stop.store(true);
    for (const auto& slot : wakers) slot.front().wake_by_ref();
    co_await std::move(ping);
    co_await std::move(pong);
  });
}

class InjectorInterval : public ::testing::TestWithParam<std::uint32_t> {};

/// Yields until `flag`, and counts the yields.
Task<> count_yields(const std::atomic<bool>* flag, int* yields) {
  while (!flag->load()) {
    ++*yields;
    co_await yield_now();
  }
}

TEST_P(InjectorInterval, a_loaded_worker_looks_at_the_injector) {
  Runtime runtime = builder(kOneWorker).global_queue_interval(GetParam()).build();
  for (int round = 0; round < 20; ++round) {
    int yields = 0;
    std::atomic<bool> ran{false};
    const auto run_elsewhere = [&]() -> Task<> {
      ran.store(true);
      co_return;
    };
    run_as_task(runtime, [&]() -> Task<> {
      JoinHandle<void> other = spawn(count_yields(&ran, &yields));
      co_await yield_now();
      // From outside, while this worker is busy with two yielding tasks.
      std::thread([&] { runtime.spawn(run_elsewhere()).detach(); }).join();
      yields = 0;
      co_await count_yields(&ran, &yields);
      co_await std::move(other);
    });
    // One look every `interval` polls, plus some more polls of the tasks taken at the same time.
    EXPECT_LE(yields, static_cast<int>(GetParam()) + 20);
  }
}

Task<> yield_beside(Arrivals& arrivals) {
  while (!arrivals.are_over()) {
    arrivals.count_poll();
    co_await yield_now();
  }
}

TEST_P(InjectorInterval, is_the_number_of_polls_between_two_looks) {
  Runtime runtime = builder(kOneWorker).global_queue_interval(GetParam()).build();
  // Tasks that arrive later owe nothing to one that was alone before.
  run_as_task(runtime, [] { return yield_times(1000); });
  Arrivals arrivals(runtime);
  run_as_task(runtime, [&]() -> Task<> {
    JoinHandle<void> other = spawn(yield_beside(arrivals));
    arrivals.begin();
    co_await yield_beside(arrivals);
    co_await other;
  });
  for (const int polls : arrivals.polls_between()) {
    EXPECT_EQ(polls, static_cast<int>(GetParam()) - 1);
  }
}

// The worker also looks at its queue every eight polls, which counts as one.
TEST_P(InjectorInterval, is_kept_beside_a_task_that_is_alone) {
  Runtime runtime = builder(kOneWorker).global_queue_interval(GetParam()).build();
  Arrivals arrivals(runtime);
  run_as_task(runtime, [&]() -> Task<> {
    arrivals.begin();
    co_await yield_beside(arrivals);
  });
  const int most = static_cast<int>(GetParam()) - 1;
  for (const int polls : arrivals.polls_between()) {
    EXPECT_LE(polls, most);
    EXPECT_GE(polls, most - most / 8);
  }
}

/// A chain of tasks, each of them next in line; the last one opens the gate.
Task<> respawn_beside(Arrivals& arrivals, Gate& end) {
  arrivals.count_poll();
  if (arrivals.are_over()) {
    end.open();
  } else {
    spawn(respawn_beside(arrivals, end)).detach();
  }
  co_return;
}

TEST_P(InjectorInterval, is_exceeded_by_the_turns_of_the_lifo_slot_alone) {
  Runtime runtime = builder(kOneWorker).global_queue_interval(GetParam()).build();
  Arrivals arrivals(runtime);
  Gate end;
  run_as_task(runtime, [&]() -> Task<> {
    spawn(respawn_beside(arrivals, end)).detach();
    arrivals.begin();
    co_await end.passed();
  });
  const int least = static_cast<int>(GetParam()) - 1;
  for (const int polls : arrivals.polls_between()) {
    EXPECT_GE(polls, least);
    EXPECT_LE(polls, least + 33);
  }
}

INSTANTIATE_TEST_SUITE_P(Polls, InjectorInterval, ::testing::Values(1U, 2U, 61U, 500U));

class Fairness : public OnEveryScheduler {};

TEST_P(Fairness, every_task_that_yields_gets_its_turns) {
  constexpr int kTasks = 20;
  constexpr int kTurns = 500;
  std::vector<std::atomic<int>> turns(kTasks);
  std::atomic<int> satisfied{0};
  Runtime runtime = build_runtime();
  // Each task continues until all have had their turns: a starved task would keep all from ending.
  const auto take_turns = [&](std::atomic<int>& own) -> Task<> {
    while (satisfied.load() < kTasks) {
      if (own.fetch_add(1) + 1 == kTurns) satisfied.fetch_add(1);
      co_await yield_now();
    }
  };
  std::vector<JoinHandle<void>> handles;
  for (std::atomic<int>& own : turns) handles.push_back(runtime.spawn(take_turns(own)));
  runtime.block_on(join_all(handles));
  for (const std::atomic<int>& own : turns) EXPECT_GE(own.load(), kTurns);
}

TEST_P(Fairness, tasks_spawned_from_outside_run_under_load_of_every_kind) {
  std::atomic<bool> stop{false};
  std::atomic<int> links{0};
  std::atomic<int> ran{0};
  Runtime runtime = build_runtime();
  for (int i = 0; i < 8; ++i) {
    runtime.spawn(yield_forever()).detach();
    runtime.spawn(respawn_until(&stop, &links)).detach();
  }
  const auto yield_once = [&]() -> Task<> {
    co_await yield_now();
    ran.fetch_add(1);
  };
  std::thread outside([&, handle = runtime.handle()] {
    for (int i = 0; i < 100; ++i) handle.spawn(yield_once()).detach();
  });
  runtime.block_on(until([&] { return ran.load() == 100; }));
  outside.join();
  stop.store(true);
}

TASKBENCH_ON_EVERY_SCHEDULER(Fairness);

TEST(FairnessOfOneWorker, a_task_that_was_woken_has_no_turns_to_make_up_for) {
  Runtime runtime = build(kOneWorker);
  Log log;
  Gate gate;
  run_as_task(runtime, [&]() -> Task<> {
    JoinHandle<void> waits = spawn([&]() -> Task<> {
      co_await yield_now();
      co_await gate.passed();
      co_await note_and_yield(&log, 1, 10);
    });
    while (gate.waiting() == 0) co_await yield_now();
    co_await yield_times(100);
    gate.open();
    co_await note_and_yield(&log, 2, 10);
    co_await std::move(waits);
  });
  ASSERT_EQ(log.size(), 20U);
  EXPECT_EQ(std::ranges::adjacent_find(log), log.end()) << "they take turns";
}

TEST(FairnessOfOneWorker, tasks_that_yield_take_turns) {
  constexpr int kTasks = 50;
  constexpr int kTurns = 1000;
  std::vector<int> turns(kTasks);
  int widest = 0;
  Runtime runtime = build(kOneWorker);
  const auto take_turns = [&](int& own) -> Task<> {
    for (int i = 0; i < kTurns; ++i) {
      ++own;
      const auto [least, most] = std::ranges::minmax(turns);
      if (least > 0) widest = std::max(widest, most - least);
      co_await yield_now();
    }
  };
  run_as_task(runtime, [&]() -> Task<> {
    std::vector<JoinHandle<void>> handles;
    for (int& own : turns) handles.push_back(spawn(take_turns(own)));
    co_await join_all(handles);
  });
  EXPECT_EQ(std::count(turns.begin(), turns.end(), kTurns), kTasks);
  // A task may start later by as many turns as earlier ones had in a row.
  EXPECT_LE(widest, 64);
}

// Stealing.

/// Spawns `tasks` tasks from a poll that then occupies its worker until all but the last have run
/// elsewhere; the last one is in the LIFO slot and belongs to this worker. Calls `spawned` in
/// between.
Task<> spawn_and_get_stuck(
    int tasks, std::atomic<int>& ran, std::function<void()> spawned = [] {}) {
  std::atomic<bool> helped{false};
  // Captures nothing: once the last task has counted, this frame may be gone.
  const auto count = [](std::atomic<int>& counted, std::atomic<bool>& all_but_one,
                        int all) -> Task<> {
    if (counted.fetch_add(1) + 1 == all - 1) all_but_one.store(true);
    co_return;
  };
  for (int i = 0; i < tasks; ++i) spawn(count(ran, helped, tasks)).detach();
  spawned();
  EXPECT_TRUE(block_worker_until(helped));
  while (ran.load() < tasks) co_await yield_now();
}

class Stealing : public ::testing::TestWithParam<int> {};

TEST_P(Stealing, the_queue_of_a_worker_that_is_stuck_survives) {
  const int tasks = GetParam();
  for (int round = 0; round < 10; ++round) {
    std::atomic<int> ran{0};
    Runtime runtime = build(kTwoWorkers);
    run_as_task(runtime, [&] { return spawn_and_get_stuck(tasks, ran); });
    EXPECT_EQ(ran.load(), tasks);
  }
}

// A few, half a queue, and a queue that overflows into the injector.
INSTANTIATE_TEST_SUITE_P(Tasks, Stealing, ::testing::Values(2, 10, 200, 3000));

TEST(StealingCounted, takes_half_in_one_go) {
#if !defined(TASKBENCH_NO_COUNTERS)
  constexpr int kTasks = 200;
  std::atomic<int> ran{0};
  std::atomic<bool> is_held{false}, is_filled{false};
  const auto hold = [&]() -> Task<> {
    is_held.store(true);
    EXPECT_TRUE(block_worker_until(is_filled));
    co_return;
  };
  Runtime runtime = build(kTwoWorkers);
  run_as_task(runtime, [&]() -> Task<> {
    // The thief comes when the queue is full; an earlier one would find one task at a time.
    JoinHandle<void> thief = spawn(hold());
    JoinHandle<void> own = spawn(yield_times(0));  // displaces it from the LIFO slot
    EXPECT_TRUE(block_worker_until(is_held));
    co_await spawn_and_get_stuck(kTasks, ran, [&] { is_filled.store(true); });
    co_await thief;
    co_await own;
  });
  const WorkerCounters total = runtime.stats().total();
  EXPECT_GE(total.stolen_tasks, kTasks - 1U);
  // Each steal takes half of what is left; a few more are for the tasks around them.
  EXPECT_LE(total.steal_operations, 20U);
#endif
}

/// How a task gives up its turn: by yielding, or by waking itself.
enum class Turn { yield, self_wake };

class BehindTheLifoSlot : public ::testing::TestWithParam<Turn> {};

TEST_P(BehindTheLifoSlot, a_task_that_gives_way_to_one_that_is_stuck_is_taken_by_another) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> went_on{false};
    const auto wait = [&]() -> Task<> {
      EXPECT_TRUE(block_worker_until(went_on));
      co_return;
    };
    Runtime runtime = build(kTwoWorkers);
    run_as_task(runtime, [&]() -> Task<> {
      std::this_thread::sleep_for(2ms);  // until the other worker is asleep
      JoinHandle<void> stuck = spawn(wait());
      if (GetParam() == Turn::yield) {
        co_await yield_now();
      } else {
        co_await wake_itself();
      }
      went_on.store(true);
      co_await std::move(stuck);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Turns, BehindTheLifoSlot, ::testing::Values(Turn::yield, Turn::self_wake));

thread_local unsigned this_worker = 0;

Runtime build_with_known_workers(unsigned workers, std::uint64_t seed) {
  return Runtime::Builder{}
      .workers(workers)
      .seed(seed)
      .on_thread_start([](unsigned index) { this_worker = index; })
      .build();
}

/// Several workers sit in a poll with one stealable task each, and a thief is set free. Returns the
/// worker whose task it took first.
int first_victim(std::uint64_t seed) {
  constexpr int kVictims = 4;
  std::atomic<int> ready{0};
  std::atomic<int> first{-1};
  std::atomic<bool> thief_free{false};
  std::atomic<bool> fill{false};
  std::atomic<int> occupied{0};
  const auto loot = [&](int owner) -> Task<> {
    int nobody = -1;
    first.compare_exchange_strong(nobody, owner);
    co_return;
  };
  const auto victim = [&]() -> Task<> {
    occupied.fetch_add(1);
    EXPECT_TRUE(block_worker_until(fill));
    const int own = static_cast<int>(this_worker);
    spawn(loot(own)).detach();
    spawn(loot(own)).detach();  // displaces the first into the queue
    ready.fetch_add(1);
    EXPECT_TRUE(eventually([&] { return first.load() >= 0; }));
    co_return;
  };
  const auto thief = [&]() -> Task<> {
    occupied.fetch_add(1);
    EXPECT_TRUE(block_worker_until(thief_free));
    co_return;
  };
  Runtime runtime = build_with_known_workers(kVictims + 1, seed);
  // All workers are occupied first; then each victim puts one task into its queue.
  for (int i = 0; i < kVictims; ++i) runtime.spawn(victim()).detach();
  runtime.spawn(thief()).detach();
  EXPECT_TRUE(eventually([&] { return occupied.load() == kVictims + 1; }));
  fill.store(true);
  EXPECT_TRUE(eventually([&] { return ready.load() == kVictims; }));
  thief_free.store(true);
  EXPECT_TRUE(eventually([&] { return first.load() >= 0; }));
  return first.load();
}

TEST(StealingOrder, the_scan_of_the_victims_starts_anywhere) {
  std::set<int> victims;
  // With a fixed start, the first victim would always be the same, or one of at most two. That all
  // 24 agree by chance has a probability of 4^-23.
  for (std::uint64_t seed = 0; seed < 24; ++seed) victims.insert(first_victim(seed * 1000));
  EXPECT_GE(victims.size(), 3U);
}

// Waking.

TEST(Waking, a_burst_from_inside_or_outside_wakes_all_workers_one_after_the_other) {
  constexpr int kWorkers = 4;
  for (int round = 0; round < 40; ++round) {
    std::atomic<int> inside{0};
    std::atomic<bool> all_inside{false};
    const auto enter = [&]() -> Task<> {
      if (inside.fetch_add(1) + 1 == kWorkers) all_inside.store(true);
      EXPECT_TRUE(block_worker_until(all_inside)) << "some worker was not woken";
      co_return;
    };
    const auto burst = [&](auto& runs_on) {
      std::vector<JoinHandle<void>> handles;
      for (int i = 0; i < kWorkers; ++i) handles.push_back(runs_on.spawn(enter()));
      return handles;
    };
    Runtime runtime = build(kFourWorkers);
    if (round % 2 == 0) {
      run_as_task(runtime, [&]() -> Task<> {
        Handle here = Handle::current();
        std::vector<JoinHandle<void>> handles = burst(here);
        co_await join_all(handles);
      });
    } else {
      std::vector<JoinHandle<void>> handles = burst(runtime);
      runtime.block_on(join_all(handles));
    }
    EXPECT_EQ(inside.load(), kWorkers);
  }
}

#if !defined(TASKBENCH_NO_COUNTERS)
TEST(Waking, one_task_wakes_no_herd) {
  constexpr unsigned kWorkers = 8;
  constexpr int kRounds = 50;
  Runtime runtime = Runtime::Builder{}.workers(kWorkers).build();
  const auto all_asleep = [&runtime] {
    // A worker parks once more often than it is woken.
    const WorkerCounters total = runtime.stats().total();
    return total.parks >= total.unparks + kWorkers;
  };
  ASSERT_TRUE(eventually(all_asleep));
  const std::uint64_t before = runtime.stats().total().unparks;
  for (int i = 0; i < kRounds; ++i) {
    runtime.spawn(nothing()).detach();
    ASSERT_TRUE(eventually(all_asleep));
  }
  const std::uint64_t woken = runtime.stats().total().unparks - before;
  EXPECT_LE(woken, 2U * kRounds);
}

TEST(Overflowing, a_burst_goes_over_into_the_injector_and_every_task_runs) {
  constexpr int kTasks = 10'000;
  for (const Kind& kind : {kOneWorker, kFourWorkers}) {
    std::atomic<int> ran{0};
    Runtime runtime = build(kind);
    const auto count = [&]() -> Task<> {
      ran.fetch_add(1);
      co_return;
    };
    run_as_task(runtime, [&]() -> Task<> {
      for (int i = 0; i < kTasks; ++i) spawn(count()).detach();
      while (ran.load() < kTasks) co_await yield_now();
    });
    EXPECT_EQ(ran.load(), kTasks);
    // Thieves may be as fast as the burst.
    EXPECT_GE(runtime.stats().total().overflows, kind.workers == 1 ? 1U : 0U);
  }
}
#endif

}  // namespace
}  // namespace taskbench::rt
