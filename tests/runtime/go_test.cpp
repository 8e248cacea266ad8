// What only the scheduler `go` promises: time slices end, and the task next in line can be stolen.
// What it shares with other schedulers is tested with them.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/runtime.hpp"
#include "runtime/sync/mutex.hpp"
#include "runtime/task/context.hpp"
#include "runtime/time/sleep.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/no_threads.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt::tests {
namespace {

Runtime go(unsigned workers) { return build({"go", workers, "go"}); }

Task<> add_one(std::atomic<int>* count) {
  count->fetch_add(1);
  co_return;
}

// The poll that spawned the task never ends by itself: only a thief can run it.
TEST(Go, a_task_that_is_next_in_line_can_be_stolen) {
  std::atomic<int> count{0};
  Runtime runtime = go(2);
  run_as_task(runtime, [&]() -> Task<> {
    spawn(add_one(&count)).detach();
    EXPECT_TRUE(eventually([&] { return count.load() == 1; }));
    co_return;
  });
  EXPECT_EQ(count.load(), 1);
}

Task<> set(std::atomic<bool>* flag) {
  flag->store(true);
  co_return;
}

/// Wakes its partner and waits for it, repeatedly: each is always the next in line.
Task<> pass_on(std::atomic<bool>* stop, Waker* partner, Waker* own) {
  int turn = 0;
  co_await poll_fn([&](PollContext& context) -> std::optional<bool> {
    if (stop->load()) return true;
    if (turn++ == 0) *own = context.waker();
    // Displaced by the partner, the new task waits in the queue behind the two.
    if (turn == 1000) spawn(set(stop)).detach();
    partner->wake_by_ref();
    return std::nullopt;
  });
}

TEST(Go, two_tasks_that_wake_each_other_have_one_slice_of_time_together) {
  std::atomic<bool> stop{false};
  Waker one;
  Waker two;
  // The global queue, to which the two tasks go at the end of their slice, gets no turn of its own.
  Runtime runtime = builder({"go", 1, "go"}).global_queue_interval(UINT32_MAX).build();
  run_as_task(runtime, [&]() -> Task<> {
    JoinHandle<void> first = spawn(pass_on(&stop, &two, &one));
    JoinHandle<void> second = spawn(pass_on(&stop, &one, &two));
    while (!stop.load()) co_await wake_itself();
    one.wake_by_ref();
    two.wake_by_ref();
    co_await first;
    co_await second;
  });
  EXPECT_TRUE(stop.load());
}

/// Spawns its successor, which is always the next in line.
Task<> respawn_until_set(std::atomic<bool>* flag) {
  if (!flag->load()) spawn(respawn_until_set(flag)).detach();
  co_return;
}

TEST(Go, looks_at_the_global_queue_do_not_prolong_the_slice_of_tasks_that_succeed_one_another) {
  std::atomic<bool> ran{false};
  Runtime runtime = go(1);
  // This task goes to the global queue at each turn, so the queue is never empty for long.
  runtime.spawn(yield_forever()).detach();
  runtime
      .spawn([](std::atomic<bool>* flag) -> Task<> {
        spawn(set(flag)).detach();
        spawn(respawn_until_set(flag)).detach();  // displaces set() into the local queue
        co_return;
      }(&ran))
      .detach();
  EXPECT_TRUE(eventually([&] { return ran.load(); }));
}

TEST(Go, a_task_whose_slice_is_over_gives_way_where_its_await_is_ready) {
  constexpr int kOperations = 100;  // fewer than its budget
  Runtime runtime = go(1);
  const int begun = run_as_task(runtime, []() -> Task<int> {
    std::atomic<bool> ran{false};
    JoinHandle<void> other = spawn(set(&ran));
    sync::Mutex mutex;
    int operations = 0;
    for (; !ran.load() && operations < kOperations; ++operations) {
      std::this_thread::sleep_for(5ms);
      const auto guard = co_await mutex.lock();
    }
    co_await other;
    co_return operations;
  });
  EXPECT_LT(begun, kOperations);
}

TEST(Go, a_processor_that_falls_idle_is_counted_and_recorded_until_it_is_held_again) {
  if (!kCounted) GTEST_SKIP() << "whether a processor is idle is told by the counters";
  Runtime runtime = builder({"go", 2, "go"}).trace(1024).build();
  for (const std::uint64_t parks : {2U, 3U, 4U}) {
    ASSERT_TRUE(eventually([&] { return runtime.stats().total().parks >= parks; }));
    run_as_task(runtime, nothing);
  }
  runtime.shutdown();
  const Trace trace = runtime.trace();
  for (const TraceRow& row : trace.workers) {
    const auto count = [&](TraceEventKind kind) {
      return std::ranges::count(row.events, kind, &TraceEvent::kind);
    };
    EXPECT_GT(count(TraceEventKind::park), 0);
    EXPECT_EQ(count(TraceEventKind::unpark), count(TraceEventKind::park));
  }
}

/// Keeps the local queue from running empty.
Task<> wake_itself_until(std::atomic<bool>* flag) {
  while (!flag->load()) co_await wake_itself();
}

TEST(Go, a_processor_that_is_never_idle_looks_at_the_global_queue) {
  std::atomic<bool> ran{false};
  Runtime runtime = go(1);
  JoinHandle<void> busy = runtime.spawn(wake_itself_until(&ran));
  runtime.spawn(set(&ran)).detach();
  runtime.block_on([](JoinHandle<void>& handle) -> Task<> { co_await handle; }(busy));
}

TEST(Go, a_machine_that_comes_back_is_given_a_processor_that_is_never_idle_by_one_that_is_kept) {
  std::atomic<int> threads{0};
  Runtime runtime =
      builder({"go", 1, "go"}).on_thread_start([&](unsigned) { threads.fetch_add(1); }).build();
  for (int round = 0; round < 5; ++round) {
    std::atomic<bool> runs{false};
    std::atomic<bool> is_back{false};
    run_as_task(runtime, [&]() -> Task<> {
      JoinHandle<void> busy = spawn([](std::atomic<bool>* begun, std::atomic<bool>* end) -> Task<> {
        begun->store(true);
        co_await wake_itself_until(end);
      }(&runs, &is_back));
      block_in_place([&] { EXPECT_TRUE(eventually([&] { return runs.load(); })); });
      is_back.store(true);
      co_await busy;
    });
  }
  EXPECT_EQ(threads.load(), 2);
}

TEST(Go, where_the_interval_is_one_the_global_queue_comes_first) {
  std::vector<int> order;
  const auto note = [&](int number) -> Task<> {
    order.push_back(number);
    co_return;
  };
  Runtime runtime = builder({"go", 1, "go"}).global_queue_interval(1).build();
  run_as_task(runtime, [&]() -> Task<> {
    std::vector<JoinHandle<void>> handles;
    for (int number : {3, 4, 5}) handles.push_back(spawn(note(number)));
    std::thread([&] {
      for (int number : {1, 2}) handles.push_back(runtime.spawn(note(number)));
    }).join();
    co_await join_all(handles);
  });
  ASSERT_EQ(order.size(), 5U);
  EXPECT_EQ(order[0], 1);
  EXPECT_EQ(order[1], 2);
}

TEST(Go, a_task_that_wakes_itself_goes_to_the_global_queue_if_its_slice_is_over) {
  if (!kCounted) GTEST_SKIP() << "where it goes is told by the counters";
  Runtime runtime = go(1);
  const auto to_global = [&] { return runtime.stats().workers[0].remote_schedules; };
  run_as_task(runtime, [&]() -> Task<> {
    std::uint64_t before = 0;
    do {
      before = to_global();
      co_await wake_itself();
    } while (to_global() != before);
    while (to_global() == before) {
      std::this_thread::sleep_for(40ms);
      co_await wake_itself();
    }
  });
}

TEST(Go, what_was_spawned_last_runs_next_if_there_is_a_place_for_it) {
  for (const bool lifo : {false, true}) {
    Runtime runtime = builder({"go", 1, "go"}).lifo_slot(lifo).build();
    std::vector<int> order;
    const auto note = [&](int number) -> Task<> {
      order.push_back(number);
      co_return;
    };
    const std::vector<int> expected = lifo ? std::vector{3, 1, 2} : std::vector{1, 2, 3};
    // More than once, as the slice may be over.
    EXPECT_TRUE(eventually([&] {
      order.clear();
      run_as_task(runtime, [&]() -> Task<> {
        std::vector<JoinHandle<void>> handles;
        for (int number : {1, 2, 3}) handles.push_back(spawn(note(number)));
        co_await join_all(handles);
      });
      return order == expected;
    }));
  }
}

TEST(Go, nothing_is_stolen_where_there_is_nothing) {
  Runtime runtime = go(2);
  if (kCounted) {
    EXPECT_TRUE(eventually([&] { return runtime.stats().total().parks >= 2; }));
  }
  runtime.shutdown();
  EXPECT_EQ(runtime.stats().total().steal_operations, 0U);
  EXPECT_EQ(runtime.stats().total().stolen_tasks, 0U);
  EXPECT_GE(runtime.stats().total().searches, kCounted ? 1U : 0U);
}

/// Whether the monitor has ended the slice of the calling task.
bool slice_is_over() {
  // relaxed: advice
  return task::thread_context().slice_is_over->load(base::relaxed);
}

TEST(Go, a_task_that_has_given_way_has_a_new_slice) {
  Runtime runtime = go(1);
  run_as_task(runtime, []() -> Task<> {
    EXPECT_TRUE(eventually(slice_is_over));
    bool is_over = true;
    // More than once: a task taken out at the interval gets no new slice.
    for (int i = 0; i < 1000 && is_over; ++i) {
      co_await yield_now();
      is_over = slice_is_over();
    }
    EXPECT_FALSE(is_over);
  });
}

// The only processor looks at the driver neither between polls nor when its queue is empty, and no
// thread is in block_on. Nor does it look at the global queue, where the task then goes.
TEST(Go, the_monitor_looks_at_the_driver_for_a_processor_that_never_does) {
  if (!kCounted) GTEST_SKIP() << "that the timer has fired is told by the counters";
  std::atomic<bool> sleeps{false};
  std::atomic<bool> is_over{false};
  Runtime runtime = builder({"go", 1, "go"}).global_queue_interval(UINT32_MAX).build();
  const auto outside = [&] { return runtime.stats().outside.remote_schedules; };
  runtime
      .spawn([&]() -> Task<> {
        spawn([&]() -> Task<> {
          sleeps.store(true);
          co_await time::sleep(1ms);
        }).detach();
        spawn(wake_itself_until(&is_over)).detach();
        co_return;
      })
      .detach();
  EXPECT_TRUE(eventually([&] { return sleeps.load() && outside() == 2; }));
  is_over.store(true);
}

/// What the system says of how often the thread of this name has fallen asleep; empty: there is no
/// such thread.
std::string sleeps_of_thread(std::string_view name) {
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream comm(each.path() / "comm");
    std::string line;
    if (!std::getline(comm, line) || line != name) continue;
    std::ifstream status(each.path() / "status");
    while (std::getline(status, line)) {
      if (line.starts_with("voluntary_ctxt_switches")) return line;
    }
  }
  return {};
}

TEST(Go, the_monitor_sleeps_while_there_is_nothing_to_do) {
  const Runtime runtime = go(2);
  EXPECT_TRUE(eventually(
      [] {
        const std::string before = sleeps_of_thread("taskbench-mon");
        std::this_thread::sleep_for(100ms);
        return !before.empty() && sleeps_of_thread("taskbench-mon") == before;
      },
      10s));
}

// A task has returned from a blocking section and holds the only processor. The machine that gave
// it up sleeps in the driver until a timer is due.
TEST(Go, what_a_machine_without_a_processor_wakes_goes_to_the_global_queue) {
  if (!kCounted) GTEST_SKIP() << "where it goes is told by the counters";
  std::atomic<bool> sleeps{false};
  std::atomic<bool> is_over{false};
  std::atomic<bool> has_ended{false};
  const auto sleep_again_and_again = [&]() -> Task<> {
    while (!is_over.load()) {
      sleeps.store(true);
      co_await time::sleep(20ms);
    }
  };
  Runtime runtime = go(1);
  const auto local = [&] { return runtime.stats().workers[0].local_schedules; };
  const auto outside = [&] { return runtime.stats().outside.remote_schedules; };
  runtime
      .spawn([&]() -> Task<> {
        JoinHandle<void> sleeper = spawn(sleep_again_and_again());
        JoinHandle<void> busy = spawn(wake_itself_until(&is_over));
        block_in_place([&] { EXPECT_TRUE(block_worker_until(sleeps)); });
        for (bool is_woken = false; !is_woken;) {
          co_await yield_now();
          const std::uint64_t local_before = local();
          const std::uint64_t outside_before = outside();
          // The wait fails if the sleeper was woken before and has yet to be polled.
          is_woken = eventually(
              [&] { return local() != local_before || outside() != outside_before; }, 1s);
          EXPECT_EQ(local(), local_before);
        }
        is_over.store(true);
        co_await sleeper;
        co_await busy;
        has_ended.store(true);
      })
      .detach();
  EXPECT_TRUE(eventually([&] { return has_ended.load(); }));
}

// The sanitizers make threads in their own way.
#if !defined(TASKBENCH_SYSTEM_BLOCKS)
TEST(Go, threads_that_the_system_does_not_give_have_no_numbers) {
  if (!kCounted) GTEST_SKIP() << "who is woken is told by the counters";
  std::mutex mutex;
  std::vector<unsigned> numbers;
  std::atomic<bool> blocks{false};
  std::atomic<bool> ends{false};
  std::atomic<bool> ran{false};
  Runtime runtime = builder({"go", 1, "go"})
                        .on_thread_start([&](unsigned number) {
                          const std::lock_guard lock(mutex);
                          numbers.push_back(number);
                        })
                        .build();
  runtime
      .spawn([&]() -> Task<> {
        block_in_place([&] {
          blocks.store(true);
          EXPECT_TRUE(block_worker_until(ends));
        });
        co_return;
      })
      .detach();
  ASSERT_TRUE(eventually([&] { return blocks.load(); }));
  {
    const std::uint64_t before = runtime.stats().outside.unparks;
    const NoThreads none;
    // A spawner that finds the retaken processor idle asks for a thread.
    EXPECT_TRUE(eventually([&] {
      runtime.spawn(nothing()).detach();
      return runtime.stats().outside.unparks >= before + 3;
    }));
  }
  runtime.spawn(set(&ran)).detach();
  EXPECT_TRUE(eventually([&] { return ran.load(); }));
  ends.store(true);
  runtime.shutdown();
  EXPECT_EQ(numbers, (std::vector{0U, 1U}));
}
#endif

TEST(Go, what_comes_after_a_blocking_section_is_recorded_as_a_poll_of_the_same_task) {
  Runtime runtime = builder({"go", 1, "go"}).trace(1024).build();
  run_as_task(runtime, []() -> Task<> {
    block_in_place([] {});
    co_return;
  });
  runtime.shutdown();
  std::vector<std::uint64_t> polled;
  const Trace trace = runtime.trace();
  for (const TraceEvent& event : trace.workers[0].events) {
    if (event.kind == TraceEventKind::poll_start) polled.push_back(event.task);
  }
  ASSERT_EQ(polled.size(), 2U);
  EXPECT_EQ(polled[0], polled[1]);
}

}  // namespace
}  // namespace taskbench::rt::tests
