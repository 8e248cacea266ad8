// What the scheduler `go` alone promises: a blocked thread does not keep its processor, a slice of
// time ends, and the task that is next in line can be stolen. What it shares with the other
// schedulers is tested with them.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "runtime/runtime.hpp"
#include "runtime/sync/mutex.hpp"
#include "runtime/sync/oneshot.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt::testing {
namespace {

Runtime go(unsigned workers) { return build({"go", workers, "go"}); }

/// Blocks the thread, as a system call would.
void wait_for(const std::atomic<int>& count, int wanted) {
  EXPECT_TRUE(eventually([&] { return count.load() >= wanted; }));
}

Task<> block_until(std::atomic<int>* count, int wanted) {
  block_in_place([&] { wait_for(*count, wanted); });
  co_return;
}

Task<> add_one(std::atomic<int>* count) {
  count->fetch_add(1);
  co_return;
}

TEST(Go, a_blocked_task_leaves_its_only_processor_to_the_others) {
  std::atomic<int> count{0};
  Runtime runtime = go(1);
  runtime.block_on([&]() -> Task<> {
    JoinHandle<void> blocked = spawn(block_until(&count, 100));
    for (int i = 0; i < 100; ++i) spawn(add_one(&count)).detach();
    co_await blocked;
  }());
  EXPECT_EQ(count.load(), 100);
}

TEST(Go, more_tasks_than_processors_block_at_once) {
  constexpr int kTasks = 20;
  std::atomic<int> inside{0};
  Runtime runtime = go(2);
  const auto block = [&]() -> Task<> {
    block_in_place([&] {
      inside.fetch_add(1);
      wait_for(inside, kTasks);
    });
    co_return;
  };
  runtime.block_on([&]() -> Task<> {
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < kTasks; ++i) handles.push_back(spawn(block()));
    co_await join_all(handles);
  }());
  EXPECT_EQ(inside.load(), kTasks);
  if (kCounted) {
    // All are inside at once, and only two of them can have had a processor to keep.
    EXPECT_GE(runtime.stats().total().hand_offs, kTasks - 2U);
  }
}

TEST(Go, what_was_queued_behind_a_blocked_task_is_run_and_what_it_spawns_afterwards_too) {
  std::atomic<int> count{0};
  Runtime runtime = go(1);
  const int answer = run_as_task(runtime, [&]() -> Task<int> {
    for (int i = 0; i < 300; ++i) spawn(add_one(&count)).detach();
    const int seen = block_in_place([&] {
      wait_for(count, 300);
      spawn(add_one(&count)).detach();
      wait_for(count, 301);
      return count.load();
    });
    JoinHandle<void> last = spawn(add_one(&count));
    co_await last;
    co_return seen + count.load();
  });
  EXPECT_EQ(answer, 301 + 302);
}

TEST(Go, short_blocking_sections_one_after_the_other_keep_every_count) {
  std::atomic<int> count{0};
  Runtime runtime = go(2);
  const auto block_often = [&]() -> Task<> {
    for (int turn = 0; turn < 200; ++turn) {
      // Some are shorter than the monitor allows, some longer.
      block_in_place([&] { std::this_thread::sleep_for(turn % 3 * 20us); });
      spawn(add_one(&count)).detach();
      if (turn % 10 == 0) co_await yield_now();
    }
  };
  runtime.block_on([&]() -> Task<> {
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < 8; ++i) handles.push_back(spawn(block_often()));
    co_await join_all(handles);
  }());
  EXPECT_TRUE(eventually([&] { return count.load() == 8 * 200; }));
  runtime.shutdown();
  const WorkerCounters total = runtime.stats().total();
  if (kCounted) {
    EXPECT_EQ(total.tasks_completed, total.tasks_spawned);
  }
}

TEST(Go, an_exception_out_of_a_blocking_section_reaches_who_joins) {
  Runtime runtime = go(1);
  const auto fail = []() -> Task<> {
    block_in_place([] {
      std::this_thread::sleep_for(2ms);
      throw std::runtime_error("blocked in vain");
    });
    co_return;
  };
  EXPECT_THROW(run_as_task(runtime, fail), std::runtime_error);
  EXPECT_EQ(run_as_task(runtime, [] { return number(1); }), 1);
}

TEST(Go, a_shutdown_waits_for_a_blocking_section_and_cancels_the_rest) {
  Census census;
  std::atomic<bool> inside{false};
  std::atomic<bool> left{false};
  const auto block = [&](Resident) -> Task<> {
    block_in_place([&] {
      inside.store(true);
      std::this_thread::sleep_for(30ms);
    });
    left.store(true);
    co_await yield_now();
    ADD_FAILURE() << "ran on after the shutdown";
  };
  {
    Runtime runtime = go(1);
    runtime.spawn(block(Resident(census))).detach();
    ASSERT_TRUE(eventually([&] { return inside.load(); }));
    runtime.spawn(yield_forever(Resident(census))).detach();
  }
  EXPECT_TRUE(left.load());
  EXPECT_EQ(census.living(), 0);
}

// The poll that spawned it never ends by itself: only a thief can run it.
TEST(Go, a_task_that_is_next_in_line_can_be_stolen) {
  std::atomic<int> count{0};
  Runtime runtime = go(2);
  run_as_task(runtime, [&]() -> Task<> {
    spawn(add_one(&count)).detach();
    wait_for(count, 1);
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
    // Displaced by the partner, it waits in the queue behind the two.
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

/// Its successor is always the next in line.
Task<> respawn_until_set(std::atomic<bool>* flag) {
  if (!flag->load()) spawn(respawn_until_set(flag)).detach();
  co_return;
}

TEST(Go, looks_at_the_global_queue_do_not_prolong_the_slice_of_tasks_that_succeed_one_another) {
  std::atomic<bool> ran{false};
  Runtime runtime = go(1);
  // Goes to the global queue at each turn, which is never empty for long.
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

TEST(BlockInPlace, is_a_plain_call_where_no_worker_can_be_handed_on) {
  EXPECT_EQ(block_in_place([] { return 1; }), 1);
  for (const SchedulerInfo& row : schedulers()) {
    Runtime runtime = build({row.name, 1, ""});
    EXPECT_EQ(runtime.block_on([]() -> Task<int> {
      const int outside = block_in_place([] { return block_in_place([] { return 2; }); });
      co_return outside + co_await spawn([]() -> Task<int> {
        co_return block_in_place([] { return block_in_place([] { return 3; }); });
      }());
    }()),
              5)
        << row.name;
  }
}

}  // namespace
}  // namespace taskbench::rt::testing
