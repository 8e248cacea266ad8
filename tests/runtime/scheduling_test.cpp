// What the schedulers promise about order, fairness and who helps whom: the LIFO slot, the look at
// the injector, stealing from a worker that is stuck, waking one at a time.

#include <algorithm>
#include <set>

#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace testing;

using Log = std::vector<int>;

Task<> note(Log* log, int id) {
  log->push_back(id);
  co_return;
}

/// Runs `body` as a task of a pool with one worker, until that has ended and the log has `entries`.
Log log_of(Runtime runtime, Task<> (*body)(Log*), std::size_t entries) {
  Log log;
  std::atomic<bool> done{false};
  runtime.block_on(
      [](Task<> (*run)(Log*), Log* lines, std::atomic<bool>* flag, std::size_t count) -> Task<> {
        co_await spawn([](Task<> (*inner)(Log*), Log* own, std::atomic<bool>* end,
                          std::size_t wanted) -> Task<> {
          co_await inner(own);
          while (own->size() < wanted) co_await yield_now();
          end->store(true);
        }(run, lines, flag, count));
      }(body, &log, &done, entries));
  return log;
}

Task<> spawn_three(Log* log) {
  for (int id = 1; id <= 3; ++id) spawn(note(log, id)).detach();
  log->push_back(0);
  co_return;
}

TEST(LifoSlot, p8_the_newest_runs_next_and_the_displaced_go_to_the_back) {
  EXPECT_EQ(log_of(build(kOneWorker), &spawn_three, 4), (Log{0, 3, 1, 2}));
}

TEST(LifoSlot, p8_without_it_the_order_is_first_in_first_out) {
  EXPECT_EQ(log_of(builder(kOneWorker).lifo_slot(false).build(), &spawn_three, 4),
            (Log{0, 1, 2, 3}));
}

Task<> wake_one_behind_others(Log* log) {
  Gate gate;
  JoinHandle<void> waiting = spawn([](Gate* closed, Log* lines) -> Task<> {
    co_await closed->passed();
    lines->push_back(9);
  }(&gate, log));
  while (gate.waiting() == 0) co_await yield_now();
  spawn(note(log, 1)).detach();
  spawn(note(log, 2)).detach();
  gate.open();  // displaces 2
  co_await std::move(waiting);
}

TEST(LifoSlot, p8_a_task_that_was_woken_runs_next) {
  EXPECT_EQ(log_of(build(kOneWorker), &wake_one_behind_others, 3), (Log{9, 1, 2}));
}

Task<> respawn_until(const std::atomic<bool>* stop, std::atomic<int>* links) {
  links->fetch_add(1);
  if (!stop->load()) spawn(respawn_until(stop, links)).detach();
  co_return;
}

TEST(LifoSlot, s4_a_chain_that_respawns_itself_cannot_starve_its_neighbours) {
  std::atomic<bool> stop{false};
  std::atomic<int> links{0};
  Runtime runtime = build(kOneWorker);
  // The root only waits: all of it happens on the one worker.
  runtime.block_on([](std::atomic<bool>* end, std::atomic<int>* count) -> Task<> {
    co_await spawn([](std::atomic<bool>* flag, std::atomic<int>* counter) -> Task<> {
      spawn(respawn_until(flag, counter)).detach();
      for (int i = 0; i < 100; ++i) co_await yield_now();
      flag->store(true);
    }(end, count));
  }(&stop, &links));
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

TEST(LifoSlot, s4_two_tasks_that_wake_each_other_cannot_starve_a_third) {
  std::atomic<bool> stop{false};
  std::vector<Waker> wakers[2];
  Runtime runtime = build(kOneWorker);
  runtime.block_on([](std::vector<Waker>* slots, std::atomic<bool>* end) -> Task<> {
    co_await spawn([](std::vector<Waker>* both, std::atomic<bool>* flag) -> Task<> {
      JoinHandle<void> ping = spawn(bounce(&both[0], &both[1], flag));
      JoinHandle<void> pong = spawn(bounce(&both[1], &both[0], flag));
      for (int i = 0; i < 100; ++i) co_await yield_now();
      flag->store(true);
      both[0].front().wake_by_ref();
      both[1].front().wake_by_ref();
      co_await std::move(ping);
      co_await std::move(pong);
    }(slots, end));
  }(wakers, &stop));
}

class InjectorInterval : public ::testing::TestWithParam<std::uint32_t> {};

/// Yields until `flag`, and counts how often.
Task<> count_yields(const std::atomic<bool>* flag, int* yields) {
  while (!flag->load()) {
    ++*yields;
    co_await yield_now();
  }
}

TEST_P(InjectorInterval, p6_a_loaded_worker_looks_at_the_injector) {
  Runtime runtime = builder(kOneWorker).global_queue_interval(GetParam()).build();
  for (int round = 0; round < 20; ++round) {
    int yields = 0;
    std::atomic<bool> ran{false};
    runtime.block_on([](Runtime* own, int* count, std::atomic<bool>* flag) -> Task<> {
      co_await spawn([](Runtime* pool, int* counter, std::atomic<bool>* set) -> Task<> {
        JoinHandle<void> other = spawn(count_yields(set, counter));
        co_await yield_now();
        // From outside, while this worker is loaded with two tasks that yield.
        std::thread([pool, set] {
          pool->spawn([](std::atomic<bool>* reached) -> Task<> {
                reached->store(true);
                co_return;
              }(set))
              .detach();
        }).join();
        *counter = 0;
        co_await count_yields(set, counter);
        co_await std::move(other);
      }(own, count, flag));
    }(&runtime, &yields, &ran));
    // Every `interval` polls, and some for the tasks that were taken along.
    EXPECT_LE(yields, static_cast<int>(GetParam()) + 20);
  }
}

INSTANTIATE_TEST_SUITE_P(Polls, InjectorInterval, ::testing::Values(1U, 2U, 61U, 500U));

class Fairness : public OnEveryScheduler {};

TEST_P(Fairness, s4_every_task_that_yields_gets_its_turns) {
  constexpr int kTasks = 20;
  constexpr int kTurns = 500;
  std::vector<std::atomic<int>> turns(kTasks);
  std::atomic<int> satisfied{0};
  Runtime runtime = build_runtime();
  // Each goes on until all have had their turns: a task that starves would let nobody end.
  std::vector<JoinHandle<void>> handles;
  for (std::atomic<int>& own : turns) {
    handles.push_back(runtime.spawn([](std::atomic<int>* count, std::atomic<int>* all) -> Task<> {
      while (all->load() < kTasks) {
        if (count->fetch_add(1) + 1 == kTurns) all->fetch_add(1);
        co_await yield_now();
      }
    }(&own, &satisfied)));
  }
  runtime.block_on([](std::vector<JoinHandle<void>> tasks) -> Task<> {
    for (JoinHandle<void>& task : tasks) co_await task;
  }(std::move(handles)));
  for (const std::atomic<int>& own : turns) EXPECT_GE(own.load(), kTurns);
}

TEST_P(Fairness, s4_tasks_spawned_from_outside_run_under_load_of_every_kind) {
  std::atomic<bool> stop{false};
  std::atomic<int> links{0};
  std::atomic<int> ran{0};
  Runtime runtime = build_runtime();
  for (int i = 0; i < 8; ++i) {
    runtime.spawn(yield_forever()).detach();
    runtime.spawn(respawn_until(&stop, &links)).detach();
  }
  std::thread outside([&ran, handle = runtime.handle()] {
    for (int i = 0; i < 100; ++i) {
      handle
          .spawn([](std::atomic<int>* count) -> Task<> {
            co_await yield_now();
            count->fetch_add(1);
          }(&ran))
          .detach();
    }
  });
  runtime.block_on([](std::atomic<int>* count) -> Task<> {
    while (count->load() < 100) co_await yield_now();
  }(&ran));
  outside.join();
  stop.store(true);
}

TASKBENCH_ON_EVERY_SCHEDULER(Fairness);

TEST(FairnessOfOneWorker, s4_tasks_that_yield_take_turns) {
  constexpr int kTasks = 50;
  constexpr int kTurns = 1000;
  std::vector<int> turns(kTasks);
  int widest = 0;
  Runtime runtime = build(kOneWorker);
  runtime.block_on([](std::vector<int>* counts, int* spread) -> Task<> {
    co_await spawn([](std::vector<int>* all, int* widest_spread) -> Task<> {
      std::vector<JoinHandle<void>> handles;
      for (int& own : *all) {
        handles.push_back(spawn([](std::vector<int>* every, int* count, int* gap) -> Task<> {
          for (int i = 0; i < kTurns; ++i) {
            ++*count;
            const auto [least, most] = std::minmax_element(every->begin(), every->end());
            if (*least > 0) *gap = std::max(*gap, *most - *least);
            co_await yield_now();
          }
        }(all, &own, widest_spread)));
      }
      for (JoinHandle<void>& handle : handles) co_await handle;
    }(counts, spread));
  }(&turns, &widest));
  EXPECT_EQ(std::count(turns.begin(), turns.end(), kTurns), kTasks);
  // A task may have begun as much later as the ones before it had turns in a row.
  EXPECT_LE(widest, 64);
}

// Stealing.

/// Spawns `tasks` from inside a poll that then occupies its worker until they have run elsewhere;
/// all but the last, which sits in the LIFO slot and is this worker's own.
Task<> spawn_and_get_stuck(int tasks, std::atomic<int>* ran, std::atomic<bool>* helped) {
  for (int i = 0; i < tasks; ++i) {
    spawn([](std::atomic<int>* count, std::atomic<bool>* flag, int all) -> Task<> {
      if (count->fetch_add(1) + 1 == all - 1) flag->store(true);
      co_return;
    }(ran, helped, tasks))
        .detach();
  }
  EXPECT_TRUE(block_worker_until(*helped));
  co_return;
}

class Stealing : public ::testing::TestWithParam<int> {};

TEST_P(Stealing, p7_the_queue_of_a_worker_that_is_stuck_survives) {
  const int tasks = GetParam();
  for (int round = 0; round < 10; ++round) {
    std::atomic<int> ran{0};
    std::atomic<bool> helped{false};
    Runtime runtime = build(kTwoWorkers);
    runtime.block_on([](int count, std::atomic<int>* counter, std::atomic<bool>* flag) -> Task<> {
      co_await spawn(spawn_and_get_stuck(count, counter, flag));
      while (counter->load() < count) co_await yield_now();
    }(tasks, &ran, &helped));
    EXPECT_EQ(ran.load(), tasks);
  }
}

// A few, half a queue, a queue that overflows into the injector.
INSTANTIATE_TEST_SUITE_P(Tasks, Stealing, ::testing::Values(2, 10, 200, 3000));

TEST(StealingCounted, p7_takes_half_in_one_go) {
#if !defined(TASKBENCH_NO_COUNTERS)
  std::atomic<int> ran{0};
  std::atomic<bool> helped{false};
  Runtime runtime = build(kTwoWorkers);
  runtime.block_on([](std::atomic<int>* counter, std::atomic<bool>* flag) -> Task<> {
    co_await spawn(spawn_and_get_stuck(200, counter, flag));
  }(&ran, &helped));
  const WorkerCounters total = runtime.stats().total();
  EXPECT_GE(total.stolen_tasks, 1U);
  // One at a time would be up to 199 steals for 199 tasks; halves of what is left are far fewer.
  EXPECT_LE(total.steal_operations, 100U);
#endif
}

/// What a task does that gives up its turn: yields, or wakes itself.
enum class Turn { yield, self_wake };

class BehindTheLifoSlot : public ::testing::TestWithParam<Turn> {};

TEST_P(BehindTheLifoSlot, s4_a_task_that_gives_way_to_one_that_is_stuck_is_taken_by_another) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> went_on{false};
    Runtime runtime = build(kTwoWorkers);
    runtime.block_on([](std::atomic<bool>* flag, Turn turn) -> Task<> {
      co_await spawn([](std::atomic<bool>* set, Turn how) -> Task<> {
        // Let the other worker fall asleep.
        std::this_thread::sleep_for(2ms);
        JoinHandle<void> stuck = spawn([](std::atomic<bool>* wait) -> Task<> {
          EXPECT_TRUE(block_worker_until(*wait));
          co_return;
        }(set));
        if (how == Turn::yield) {
          co_await yield_now();
        } else {
          bool again = false;
          co_await poll_fn([&again](PollContext& context) -> std::optional<bool> {
            if (std::exchange(again, true)) return true;
            context.wake_now();
            return std::nullopt;
          });
        }
        set->store(true);
        co_await std::move(stuck);
      }(flag, turn));
    }(&went_on, GetParam()));
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

/// Workers that sit in a poll with one task each that can be stolen, and a thief set free: whose
/// task did it take first?
int first_victim(std::uint64_t seed) {
  constexpr int kVictims = 4;
  std::atomic<int> ready{0};
  std::atomic<int> first{-1};
  std::atomic<bool> thief_free{false};
  std::atomic<bool> fill{false};
  std::atomic<int> occupied{0};
  Runtime runtime = build_with_known_workers(kVictims + 1, seed);
  // All workers are occupied first, then each victim puts one task into its queue.
  for (int i = 0; i < kVictims; ++i) {
    runtime
        .spawn([](std::atomic<int>* all, const std::atomic<bool>* go, std::atomic<int>* filled,
                  std::atomic<int>* taken) -> Task<> {
          all->fetch_add(1);
          EXPECT_TRUE(block_worker_until(*go));
          const auto loot = [](std::atomic<int>* mark, int owner) -> Task<> {
            int nobody = -1;
            mark->compare_exchange_strong(nobody, owner);
            co_return;
          };
          const int own = static_cast<int>(this_worker);
          spawn(loot(taken, own)).detach();
          spawn(loot(taken, own)).detach();  // displaces the first into the queue
          filled->fetch_add(1);
          EXPECT_TRUE(eventually([taken] { return taken->load() >= 0; }));
          co_return;
        }(&occupied, &fill, &ready, &first))
        .detach();
  }
  runtime
      .spawn([](std::atomic<int>* all, const std::atomic<bool>* go) -> Task<> {
        all->fetch_add(1);
        EXPECT_TRUE(block_worker_until(*go));
        co_return;
      }(&occupied, &thief_free))
      .detach();
  EXPECT_TRUE(eventually([&] { return occupied.load() == kVictims + 1; }));
  fill.store(true);
  EXPECT_TRUE(eventually([&] { return ready.load() == kVictims; }));
  thief_free.store(true);
  EXPECT_TRUE(eventually([&] { return first.load() >= 0; }));
  return first.load();
}

TEST(StealingOrder, p9_the_scan_of_the_victims_starts_anywhere) {
  std::set<int> victims;
  // With a fixed start it would be the same, or at most two, of the four; all of 24 alike by
  // chance has a probability of 4^-23.
  for (std::uint64_t seed = 0; seed < 24; ++seed) victims.insert(first_victim(seed * 1000));
  EXPECT_GE(victims.size(), 3U);
}

// Waking.

TEST(Waking, p11_a_burst_wakes_all_workers_one_after_the_other) {
  constexpr int kWorkers = 4;
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> inside{0};
    std::atomic<bool> all_inside{false};
    Runtime runtime = build(kFourWorkers);
    runtime.block_on([](std::atomic<int>* count, std::atomic<bool>* flag) -> Task<> {
      co_await spawn([](std::atomic<int>* counter, std::atomic<bool>* set) -> Task<> {
        std::vector<JoinHandle<void>> handles;
        for (int i = 0; i < kWorkers; ++i) {
          handles.push_back(spawn([](std::atomic<int>* in, std::atomic<bool>* full) -> Task<> {
            if (in->fetch_add(1) + 1 == kWorkers) full->store(true);
            EXPECT_TRUE(block_worker_until(*full)) << "some worker was not woken";
            co_return;
          }(counter, set)));
        }
        for (JoinHandle<void>& handle : handles) co_await handle;
      }(count, flag));
    }(&inside, &all_inside));
    EXPECT_EQ(inside.load(), kWorkers);
  }
}

TEST(Waking, p11_tasks_from_outside_wake_all_workers_one_after_the_other) {
  constexpr int kWorkers = 4;
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> inside{0};
    std::atomic<bool> all_inside{false};
    Runtime runtime = build(kFourWorkers);
    for (int i = 0; i < kWorkers; ++i) {
      runtime
          .spawn([](std::atomic<int>* in, std::atomic<bool>* full) -> Task<> {
            if (in->fetch_add(1) + 1 == kWorkers) full->store(true);
            EXPECT_TRUE(block_worker_until(*full)) << "some worker was not woken";
            co_return;
          }(&inside, &all_inside))
          .detach();
    }
    EXPECT_TRUE(eventually([&] { return all_inside.load(); }));
  }
}

#if !defined(TASKBENCH_NO_COUNTERS)
TEST(Waking, p11_one_task_is_no_herd) {
  constexpr unsigned kWorkers = 8;
  constexpr int kRounds = 50;
  Runtime runtime = Runtime::Builder{}.workers(kWorkers).build();
  const auto all_asleep = [&runtime] {
    // A worker parks once more than it was woken.
    const WorkerCounters total = runtime.stats().total();
    return total.parks >= total.unparks + kWorkers;
  };
  ASSERT_TRUE(eventually(all_asleep));
  const std::uint64_t before = runtime.stats().total().unparks;
  for (int i = 0; i < kRounds; ++i) {
    runtime.spawn([]() -> Task<> { co_return; }()).detach();
    ASSERT_TRUE(eventually(all_asleep));
  }
  const std::uint64_t woken = runtime.stats().total().unparks - before;
  EXPECT_LE(woken, 2U * kRounds);
}

TEST(Overflowing, p4_a_burst_goes_over_into_the_injector_and_every_task_runs) {
  constexpr int kTasks = 10'000;
  for (const Kind& kind : {kOneWorker, kFourWorkers}) {
    std::atomic<int> ran{0};
    Runtime runtime = build(kind);
    runtime.block_on([](std::atomic<int>* counter) -> Task<> {
      co_await spawn([](std::atomic<int>* count) -> Task<> {
        for (int i = 0; i < kTasks; ++i) {
          spawn([](std::atomic<int>* c) -> Task<> {
            c->fetch_add(1);
            co_return;
          }(count))
              .detach();
        }
        while (count->load() < kTasks) co_await yield_now();
      }(counter));
    }(&ran));
    EXPECT_EQ(ran.load(), kTasks);
    // Where there are thieves, they may be as fast as the burst.
    EXPECT_GE(runtime.stats().total().overflows, kind.workers == 1 ? 1U : 0U);
  }
}
#endif

}  // namespace
}  // namespace taskbench::rt
