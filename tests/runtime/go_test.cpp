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
#include "runtime/sync/oneshot.hpp"
#include "tests/runtime/fixtures.hpp"

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
  runtime.block_on([](std::atomic<int>* ran) -> Task<> {
    JoinHandle<void> blocked = spawn(block_until(ran, 100));
    for (int i = 0; i < 100; ++i) spawn(add_one(ran)).detach();
    co_await blocked;
  }(&count));
  EXPECT_EQ(count.load(), 100);
}

TEST(Go, more_tasks_than_processors_block_at_once) {
  constexpr int kTasks = 20;
  std::atomic<int> inside{0};
  Runtime runtime = go(2);
  runtime.block_on([](std::atomic<int>* blocked) -> Task<> {
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < kTasks; ++i) {
      handles.push_back(spawn([](std::atomic<int>* together) -> Task<> {
        block_in_place([&] {
          together->fetch_add(1);
          wait_for(*together, kTasks);
        });
        co_return;
      }(blocked)));
    }
    for (auto& handle : handles) co_await handle;
  }(&inside));
  EXPECT_EQ(inside.load(), kTasks);
}

TEST(Go, what_was_queued_behind_a_blocked_task_is_run_and_what_it_spawns_afterwards_too) {
  std::atomic<int> count{0};
  Runtime runtime = go(1);
  const int answer = runtime.block_on([](std::atomic<int>* ran) -> Task<int> {
    co_return co_await spawn([](std::atomic<int>* counted) -> Task<int> {
      for (int i = 0; i < 300; ++i) spawn(add_one(counted)).detach();
      const int seen = block_in_place([&] {
        wait_for(*counted, 300);
        spawn(add_one(counted)).detach();
        wait_for(*counted, 301);
        return counted->load();
      });
      JoinHandle<void> last = spawn(add_one(counted));
      co_await last;
      co_return seen + counted->load();
    }(ran));
  }(&count));
  EXPECT_EQ(answer, 301 + 302);
}

TEST(Go, short_blocking_sections_one_after_the_other_keep_every_count) {
  std::atomic<int> count{0};
  Runtime runtime = go(2);
  runtime.block_on([](std::atomic<int>* ran) -> Task<> {
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < 8; ++i) {
      handles.push_back(spawn([](std::atomic<int>* counted) -> Task<> {
        for (int turn = 0; turn < 200; ++turn) {
          // Some are shorter than the monitor allows, some longer.
          block_in_place([&] { std::this_thread::sleep_for(turn % 3 * 20us); });
          spawn(add_one(counted)).detach();
          if (turn % 10 == 0) co_await yield_now();
        }
      }(ran)));
    }
    for (auto& handle : handles) co_await handle;
    EXPECT_TRUE(eventually([&] { return ran->load() == 8 * 200; }));
  }(&count));
  runtime.shutdown();
  const WorkerCounters total = runtime.stats().total();
  EXPECT_EQ(count.load(), 8 * 200);
  if (kCounted) {
    EXPECT_EQ(total.tasks_completed, total.tasks_spawned);
  }
}

TEST(Go, an_exception_out_of_a_blocking_section_reaches_who_joins) {
  Runtime runtime = go(1);
  EXPECT_THROW(runtime.block_on([]() -> Task<> {
    co_await spawn([]() -> Task<> {
      block_in_place([] {
        std::this_thread::sleep_for(2ms);
        throw std::runtime_error("blocked in vain");
      });
      co_return;
    }());
  }()),
               std::runtime_error);
  EXPECT_EQ(runtime.block_on([]() -> Task<int> {
    co_return co_await spawn([]() -> Task<int> { co_return 1; }());
  }()),
            1);
}

TEST(Go, a_shutdown_waits_for_a_blocking_section_and_cancels_the_rest) {
  Census census;
  std::atomic<bool> inside{false};
  std::atomic<bool> left{false};
  {
    Runtime runtime = go(1);
    runtime
        .spawn([](std::atomic<bool>* in, std::atomic<bool>* out, Resident) -> Task<> {
          block_in_place([&] {
            in->store(true);
            std::this_thread::sleep_for(30ms);
          });
          out->store(true);
          co_await yield_now();
          ADD_FAILURE() << "ran on after the shutdown";
        }(&inside, &left, Resident(census)))
        .detach();
    ASSERT_TRUE(eventually([&] { return inside.load(); }));
    runtime
        .spawn([](Resident) -> Task<> {
          for (;;) co_await yield_now();
        }(Resident(census)))
        .detach();
  }
  EXPECT_TRUE(left.load());
  EXPECT_EQ(census.living(), 0);
}

// The poll that spawned it never ends by itself: only a thief can run it.
TEST(Go, a_task_that_is_next_in_line_can_be_stolen) {
  std::atomic<int> count{0};
  Runtime runtime = go(2);
  runtime.block_on([](std::atomic<int>* ran) -> Task<> {
    co_await spawn([](std::atomic<int>* stolen) -> Task<> {
      spawn(add_one(stolen)).detach();
      wait_for(*stolen, 1);
      co_return;
    }(ran));
  }(&count));
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
  runtime.block_on([](std::atomic<bool>* end, Waker* a, Waker* b) -> Task<> {
    co_await spawn([](std::atomic<bool>* finish, Waker* left, Waker* right) -> Task<> {
      JoinHandle<void> first = spawn(pass_on(finish, right, left));
      JoinHandle<void> second = spawn(pass_on(finish, left, right));
      co_await poll_fn([&](PollContext& context) -> std::optional<bool> {
        if (finish->load()) return true;
        context.wake_now();
        return std::nullopt;
      });
      left->wake_by_ref();
      right->wake_by_ref();
      co_await first;
      co_await second;
    }(end, a, b));
  }(&stop, &one, &two));
  EXPECT_TRUE(stop.load());
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
