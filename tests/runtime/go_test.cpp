// What the scheduler `go` alone promises: a slice of time ends, and the task that is next in line
// can be stolen. What it shares with the other schedulers is tested with them.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "runtime/runtime.hpp"
#include "runtime/sync/mutex.hpp"
#include "tests/runtime/fixtures.hpp"
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

/// Wakes its partner and waits for it, again and again: each is always the next in line.
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
  // The global queue, to which the slice's end moves them, gets no turn of its own.
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
  // This task goes to the global queue at each turn, so that it is never empty for long.
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

}  // namespace
}  // namespace taskbench::rt::tests
