// The counters: what is counted, that it adds up, and that it can be read while the workers run.
#include "runtime/trace/counters.hpp"

#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

std::uint64_t if_counted(std::uint64_t count) { return kCounted ? count : 0; }

TEST(Counters, a_block_counts_and_is_read) {
  trace::CounterBlock block;
  block.polls.add();
  block.polls.add(4);
  block.yields.add();
  const WorkerCounters read = block.snapshot();
  EXPECT_EQ(read.polls, if_counted(5));
  EXPECT_EQ(read.yields, if_counted(1));
  EXPECT_EQ(read.parks, 0U);
}

TEST(Counters, each_field_is_summed_into_its_own) {
  const WorkerCounters one{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  WorkerCounters sum = one;
  sum += one;
  const std::uint64_t fields[] = {sum.polls,         sum.local_schedules, sum.remote_schedules,
                                  sum.lifo_hits,     sum.overflows,       sum.steal_operations,
                                  sum.stolen_tasks,  sum.parks,           sum.unparks,
                                  sum.searches,      sum.injector_polls,  sum.yields,
                                  sum.tasks_spawned, sum.tasks_completed, sum.hand_offs};
  std::uint64_t expected = 0;
  for (const std::uint64_t field : fields) EXPECT_EQ(field, expected += 2);
}

TEST(Counters, workers_count_on_lines_of_their_own) {
  EXPECT_GE(alignof(trace::CounterBlock), base::kFalseSharingBytes);
}

class CountersOf : public OnOneRuntime {};

Task<> spawn_and_join(int count, int yields) {
  std::vector<JoinHandle<void>> handles;
  for (int i = 0; i < count; ++i) handles.push_back(spawn(yield_times(yields)));
  co_await join_all(handles);
}

TEST_P(CountersOf, spawned_completed_polled_and_yielded_add_up) {
  // Inside a task, so that a pool counts on its workers.
  run_as_task(runtime_, [] { return spawn_and_join(500, 3); });
  runtime_.shutdown();
  const WorkerCounters total = runtime_.stats().total();
  EXPECT_EQ(total.tasks_spawned, if_counted(501));
  EXPECT_EQ(total.tasks_completed, if_counted(501));
  EXPECT_EQ(total.yields, if_counted(1500));
  EXPECT_GE(total.polls, if_counted(501 + 1500));
  EXPECT_GE(total.local_schedules + total.remote_schedules, if_counted(501));
}

TEST_P(CountersOf, threads_outside_are_counted_apart) {
  for (int i = 0; i < 10; ++i) runtime_.spawn(yield_times(0)).detach();
  EXPECT_EQ(runtime_.stats().outside.tasks_spawned, if_counted(10));
  EXPECT_EQ(runtime_.stats().outside.remote_schedules, if_counted(10));
  EXPECT_EQ(runtime_.stats().outside.polls, 0U);
}

TEST_P(CountersOf, what_a_task_spawns_and_wakes_is_counted_by_its_worker) {
  run_as_task(runtime_, [&]() -> Task<> {
    JoinHandle<void> waiter = spawn(wait_at(&gate_, Resident(census_)));
    while (gate_.waiting() == 0) co_await yield_now();
    gate_.open();
    co_await waiter;
  });
  // The root runs outside a pool.
  const bool is_driver = GetParam().scheduler == "current_thread";
  EXPECT_EQ(runtime_.stats().outside.tasks_spawned, if_counted(is_driver ? 0 : 1));
  EXPECT_EQ(runtime_.stats().outside.remote_schedules, if_counted(is_driver ? 0 : 1));
}

TEST_P(CountersOf, has_a_row_for_each_worker) {
  EXPECT_EQ(runtime_.stats().workers.size(), GetParam().workers);
  EXPECT_EQ(runtime_.worker_count(), GetParam().workers);
}

TEST_P(CountersOf, is_readable_while_running_and_never_goes_back) {
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    WorkerCounters before;
    while (!stop.load()) {
      const WorkerCounters now = runtime_.stats().total();
      EXPECT_GE(now.polls, before.polls);
      EXPECT_GE(now.tasks_spawned, before.tasks_spawned);
      EXPECT_GE(now.tasks_completed, before.tasks_completed);
      EXPECT_GE(now.local_schedules, before.local_schedules);
      EXPECT_GE(now.yields, before.yields);
      before = now;
    }
  });
  for (int i = 0; i < 20; ++i) runtime_.block_on(spawn_and_join(100, 10));
  stop.store(true);
  reader.join();
}

TEST_P(CountersOf, stay_readable_after_shutdown) {
  runtime_.block_on(spawn_and_join(10, 1));
  runtime_.shutdown();
  EXPECT_EQ(runtime_.stats().total().tasks_completed, if_counted(10));
}

TASKBENCH_ON_EVERY_SCHEDULER(CountersOf);

class CountersOfPools : public OnEveryPool {};
TASKBENCH_ON_EVERY_POOL(CountersOfPools);

TEST_P(CountersOfPools, tell_that_all_workers_sleep) {
  const Runtime runtime = build_runtime();
  EXPECT_TRUE(
      eventually([&] { return runtime.stats().total().parks >= if_counted(GetParam().workers); }));
}

TEST_P(CountersOfPools, tell_wakes_by_workers_from_those_by_threads_outside) {
  Runtime runtime = build_runtime();
  run_as_task(runtime, []() -> Task<> {
    for (int i = 0; i < 100; ++i) {
      Gate gate;
      JoinHandle<void> waiting = spawn([](Gate& at) -> Task<> { co_await at.passed(); }(gate));
      while (gate.waiting() == 0) co_await yield_now();
      gate.open();
      co_await waiting;
    }
  });
  const WorkerCounters outside = runtime.stats().outside;
  EXPECT_EQ(outside.remote_schedules, if_counted(1));
  EXPECT_LE(outside.unparks, if_counted(1));
}

TEST(CountersOfAPool, overflow_and_what_the_injector_gave_back_are_counted) {
  // Nobody steals from the only worker, so its queue must overflow.
  Runtime runtime = build(kOneWorker);
  run_as_task(runtime, [] { return spawn_and_join(2000, 0); });
  const WorkerCounters total = runtime.stats().total();
  EXPECT_GE(total.overflows, if_counted(1));
  EXPECT_GT(total.remote_schedules, if_counted(total.overflows));
  EXPECT_EQ(total.injector_polls, total.remote_schedules);
  EXPECT_GE(total.lifo_hits, if_counted(1));
  EXPECT_GE(total.local_schedules, if_counted(2000));
  EXPECT_EQ(total.stolen_tasks, 0U);
}

TEST(CountersOfAPool, steals_searches_parks_and_wake_ups_are_counted) {
  std::atomic<bool> helped{false};
  Runtime runtime = build(kTwoWorkers);
  const auto set_flag = [&]() -> Task<> {
    helped.store(true);
    co_return;
  };
  run_as_task(runtime, [&]() -> Task<> {
    // The second task displaces the first from the LIFO slot, where no thief could take it.
    JoinHandle<void> first = spawn(set_flag());
    JoinHandle<void> second = spawn(yield_times(0));
    EXPECT_TRUE(block_worker_until(helped));
    co_await first;
    co_await second;
  });
  // The first wake-up may have found a worker that was not asleep yet.
  EXPECT_TRUE(eventually([&] {
    runtime.block_on(spawn_and_join(1, 0));
    return !kCounted || runtime.stats().total().unparks > 0;
  }));
  EXPECT_TRUE(eventually([&] { return runtime.stats().total().parks >= if_counted(2); }));
  const WorkerCounters total = runtime.stats().total();
  EXPECT_GE(total.steal_operations, if_counted(1));
  EXPECT_GE(total.stolen_tasks, total.steal_operations);
  EXPECT_GE(total.searches, if_counted(1));
}

TEST(CountersOfAPool, who_has_searched_in_vain_has_stolen_nothing) {
  Runtime runtime = build(kTwoWorkers);
  EXPECT_TRUE(eventually([&] { return runtime.stats().total().parks >= if_counted(2); }));
  const WorkerCounters total = runtime.stats().total();
  EXPECT_GE(total.searches, if_counted(1));
  EXPECT_EQ(total.steal_operations, 0U);
  EXPECT_EQ(total.stolen_tasks, 0U);
}

}  // namespace
}  // namespace taskbench::rt
