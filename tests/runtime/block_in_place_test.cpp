// A thread that blocks does not keep its worker, if the scheduler can hand it on.
#include "runtime/task/block_in_place.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <climits>
#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/runtime.hpp"
#include "runtime/task/fork_join.hpp"
#include "runtime/time/sleep.hpp"
#include "tests/runtime/allocations.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt::tests {
namespace {

class BlockInPlace : public ::testing::TestWithParam<std::string_view> {
 protected:
  static Runtime of(unsigned workers) { return build({GetParam(), workers, ""}); }
};

/// Blocks the thread like a system call.
void wait_for(const std::atomic<int>& count, int wanted) {
  EXPECT_TRUE(eventually([&] { return count.load() >= wanted; }));
}

Task<> block_until(std::atomic<int>* count, int wanted) {
  block_in_place([&] { wait_for(*count, wanted); });
  co_return;
}

Task<> count_up(std::atomic<int>* count) {
  count->fetch_add(1);
  co_return;
}

TEST_P(BlockInPlace, a_blocked_task_leaves_its_only_worker_to_the_others) {
  std::atomic<int> count{0};
  Runtime runtime = of(1);
  runtime.block_on([&]() -> Task<> {
    JoinHandle<void> blocked = spawn(block_until(&count, 100));
    for (int i = 0; i < 100; ++i) spawn(count_up(&count)).detach();
    co_await blocked;
  }());
  EXPECT_EQ(count.load(), 100);
}

TEST_P(BlockInPlace, more_tasks_than_workers_block_at_once) {
  constexpr int kTasks = 20;
  std::atomic<int> inside{0};
  Runtime runtime = of(2);
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
    // All tasks are inside at once, and at most two of them can have kept their worker.
    EXPECT_GE(runtime.stats().total().hand_offs, kTasks - 2U);
  }
}

TEST_P(BlockInPlace,
       what_was_queued_behind_a_blocked_task_is_run_and_what_it_spawns_afterwards_too) {
  std::atomic<int> count{0};
  Runtime runtime = of(1);
  const int answer = run_as_task(runtime, [&]() -> Task<int> {
    for (int i = 0; i < 300; ++i) spawn(count_up(&count)).detach();
    const int seen = block_in_place([&] {
      wait_for(count, 300);
      spawn(count_up(&count)).detach();
      wait_for(count, 301);
      return count.load();
    });
    JoinHandle<void> last = spawn(count_up(&count));
    co_await last;
    co_return seen + count.load();
  });
  EXPECT_EQ(answer, 301 + 302);
}

TEST_P(BlockInPlace, short_blocking_sections_one_after_the_other_keep_every_count) {
  std::atomic<int> count{0};
  Runtime runtime = of(2);
  const auto block_often = [&]() -> Task<> {
    for (int turn = 0; turn < 200; ++turn) {
      // Some sections are shorter than the monitor tolerates, some longer.
      block_in_place([&] { std::this_thread::sleep_for(turn % 3 * 20us); });
      spawn(count_up(&count)).detach();
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

/// Blocks until the next task's section has begun; the last one, until a task without a section has
/// run.
Task<> block_in_turn(std::atomic<int>* begun, int left) {
  const int own = begun->fetch_add(1) + 1;
  if (left == 0) co_return;
  JoinHandle<void> next = spawn(block_in_turn(begun, left - 1));
  block_in_place([&] { wait_for(*begun, own + 1); });
  co_await next;
}

TEST_P(BlockInPlace, sections_that_wait_for_each_other_get_on_with_one_thread_beside_the_worker) {
  std::atomic<int> begun{0};
  Runtime runtime = builder({GetParam(), 1, ""}).max_blocking_threads(1).build();
  runtime.block_on(
      [](std::atomic<int>* count) -> Task<> { co_await spawn(block_in_turn(count, 20)); }(&begun));
  EXPECT_EQ(begun.load(), 21);
}

TEST_P(BlockInPlace, an_exception_out_of_a_blocking_section_reaches_who_joins) {
  Runtime runtime = of(1);
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

TEST_P(BlockInPlace, a_shutdown_waits_for_a_blocking_section_and_cancels_the_rest) {
  Census census;
  std::atomic<bool> inside{false};
  std::atomic<bool> left{false};
  const auto block = [&](Resident) -> Task<> {
    block_in_place([&] {
      inside.store(true);
      std::this_thread::sleep_for(30ms);
    });
    left.store(true);
    co_await forever();
    ADD_FAILURE() << "ran on after the shutdown";
  };
  {
    Runtime runtime = of(1);
    runtime.spawn(block(Resident(census))).detach();
    ASSERT_TRUE(eventually([&] { return inside.load(); }));
    runtime.spawn(yield_forever(Resident(census))).detach();
  }
  EXPECT_TRUE(left.load());
  EXPECT_EQ(census.living(), 0);
}

/// Sets a flag when it is destroyed.
class SetsAtEnd {
 public:
  explicit SetsAtEnd(std::atomic<bool>& flag) : flag_(flag) {}
  SetsAtEnd(const SetsAtEnd&) = delete;
  SetsAtEnd& operator=(const SetsAtEnd&) = delete;
  ~SetsAtEnd() { flag_.store(true); }

 private:
  std::atomic<bool>& flag_;
};

TEST_P(BlockInPlace, a_task_that_first_waits_after_a_long_section_is_ended_with_the_others) {
  std::atomic<int> count{0};
  std::atomic<bool> is_destroyed{false};
  Gate gate;
  {
    Runtime runtime = of(1);
    runtime
        .spawn([&]() -> Task<> {
          const SetsAtEnd sets(is_destroyed);
          // Another task runs meanwhile, so the only worker has been handed on.
          block_in_place([&] { wait_for(count, 1); });
          co_await gate.passed();
        })
        .detach();
    runtime.spawn(count_up(&count)).detach();
    EXPECT_TRUE(eventually([&] { return gate.waiting() == 1; }));
    EXPECT_FALSE(is_destroyed.load());
  }
  EXPECT_TRUE(is_destroyed.load());
}

TEST_P(BlockInPlace, what_a_task_does_after_a_long_section_counts_as_before) {
  constexpr int kTasks = 30;
  std::atomic<int> count{0};
  std::atomic<int> inside{0};
  Runtime runtime = of(2);
  const auto block_and_go_on = [&]() -> Task<> {
    block_in_place([&] {
      inside.fetch_add(1);
      wait_for(inside, kTasks);
    });
    // By now, the thread is outside or has its worker back.
    JoinHandle<void> child = spawn(count_up(&count));
    co_await yield_now();
    block_in_place([] { std::this_thread::sleep_for(50us); });
    co_await wake_itself();
    co_await child;
    count.fetch_add(1);
  };
  runtime.block_on([&]() -> Task<> {
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < kTasks; ++i) handles.push_back(spawn(block_and_go_on()));
    co_await join_all(handles);
  }());
  EXPECT_EQ(count.load(), 2 * kTasks);
  runtime.shutdown();
  const WorkerCounters total = runtime.stats().total();
  if (kCounted) {
    EXPECT_EQ(total.tasks_completed, 2U * kTasks);
    EXPECT_EQ(total.tasks_spawned, 2U * kTasks);
  }
}

TEST_P(BlockInPlace, a_shutdown_in_a_section_or_after_it_only_begins) {
  std::atomic<int> count{0};
  std::atomic<bool> done{false};
  Runtime runtime = of(1);
  runtime
      .spawn([](Runtime* own, std::atomic<int>* others, std::atomic<bool>* flag) -> Task<> {
        block_in_place([&] {
          wait_for(*others, 1);  // run by the thread that has taken over
          EXPECT_FALSE(own->shutdown_timeout(1h));
        });
        EXPECT_FALSE(own->shutdown_timeout(1h));
        flag->store(true);
        co_return;
      }(&runtime, &count, &done))
      .detach();
  runtime.spawn(count_up(&count)).detach();
  EXPECT_TRUE(eventually([&] { return done.load(); }));
}

TEST_P(BlockInPlace, timers_of_a_blocked_worker_go_on) {
  std::atomic<int> count{0};
  Runtime runtime = of(1);
  runtime.block_on([&]() -> Task<> {
    JoinHandle<void> sleeper = spawn([](std::atomic<int>* done) -> Task<> {
      co_await time::sleep(1ms);
      co_await time::sleep(1ms);
      done->fetch_add(1);
    }(&count));
    co_await spawn(block_until(&count, 1));
    co_await sleeper;
  }());
}

TEST_P(BlockInPlace, a_recorded_run_can_be_read_when_workers_were_handed_on) {
  std::atomic<int> count{0};
  Runtime runtime = builder({GetParam(), 1, ""}).trace(1024).build();
  runtime.block_on([&]() -> Task<> {
    JoinHandle<void> blocked = spawn(block_until(&count, 10));
    for (int i = 0; i < 10; ++i) spawn(count_up(&count)).detach();
    co_await blocked;
  }());
  runtime.shutdown();
  EXPECT_FALSE(runtime.trace().workers.empty());
}

INSTANTIATE_TEST_SUITE_P(Schedulers, BlockInPlace, ::testing::Values("go", "work_stealing"),
                         [](const auto& instance) { return std::string(instance.param); });

/// Counts the threads of a runtime that have started, workers' and others.
class Begun {
 public:
  /// Counts each thread that starts.
  [[nodiscard]] std::function<void(unsigned)> hook() {
    return [this](unsigned) { count_.fetch_add(1); };
  }
  [[nodiscard]] int count() const { return count_.load(); }

 private:
  std::atomic<int> count_{0};
};

/// Blocks its thread until another task has run, so that the worker is handed on.
Task<> block_for_another() {
  std::atomic<int> count{0};
  JoinHandle<void> other = spawn(count_up(&count));
  co_await block_until(&count, 1);
  co_await other;
}

TEST(BlockInPlaceThreads, that_have_ended_are_joined_when_others_begin) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::atomic<bool> is_used_again{false};
  Runtime runtime = builder(kOneWorker)
                        .blocking_idle_timeout(0ns)
                        .on_thread_start([&](unsigned) {
                          const std::lock_guard lock(mutex);
                          // An unjoined thread's id is not reused for another one.
                          if (!threads.insert(std::this_thread::get_id()).second) {
                            is_used_again.store(true);
                          }
                        })
                        .build();
  // Each section costs its thread the worker, and another thread begins.
  for (int section = 0; section < 500 && !is_used_again.load(); ++section) {
    run_as_task(runtime, block_for_another);
  }
  EXPECT_TRUE(is_used_again.load());
}

TEST(BlockInPlaceThreads, that_take_over_call_no_other_while_nobody_blocks) {
  Begun begun;
  {
    Runtime runtime = builder(kOneWorker).on_thread_start(begun.hook()).build();
    run_as_task(runtime, block_for_another);
  }
  EXPECT_EQ(begun.count(), 2);
}

TEST(BlockInPlaceThreads, that_have_lost_a_worker_stand_by_for_the_next_section) {
  Begun begun;
  {
    Runtime runtime = builder(kOneWorker)
                          .max_blocking_threads(1)
                          .blocking_idle_timeout(1h)
                          .on_thread_start(begun.hook())
                          .build();
    for (int section = 0; section < 20; ++section) run_as_task(runtime, block_for_another);
  }
  EXPECT_EQ(begun.count(), 2);
}

TEST(BlockInPlaceThreads, are_called_once_for_sections_that_begin_before_they_watch) {
  std::atomic<bool> may_watch{false};
  Begun begun;
  {
    Runtime runtime = builder(kOneWorker)
                          .on_thread_start([&, count = begun.hook()](unsigned index) {
                            count(index);
                            if (index == 0) return;
                            EXPECT_TRUE(block_worker_until(may_watch));
                          })
                          .build();
    run_as_task(runtime, []() -> Task<> {
      for (int section = 0; section < 10; ++section) block_in_place([] {});
      co_return;
    });
    may_watch.store(true);
  }
  EXPECT_EQ(begun.count(), 2);
}

TEST(BlockInPlaceThreads, look_at_the_injector_when_those_would_have_that_they_take_over_from) {
  constexpr int kInterval = 200;
  std::atomic<int> polls{0};
  std::atomic<bool> has_begun{false};
  std::atomic<bool> is_over{false};
  int polls_before_last = 0;
  Runtime runtime = builder(kOneWorker).global_queue_interval(kInterval).build();
  const auto last = [&]() -> Task<> {
    polls_before_last = polls.load();
    is_over.store(true);
    co_return;
  };
  const auto first = [&]() -> Task<> {
    polls.store(0);
    has_begun.store(true);
    std::thread([&] { runtime.spawn(last()).detach(); }).join();
    co_return;
  };
  const auto yield = [&](int blocks_after) -> Task<> {
    while (!is_over.load()) {
      const int now = polls.fetch_add(1) + 1;
      if (has_begun.load() && now >= blocks_after) {
        blocks_after = INT_MAX;
        block_in_place([&] { wait_for(polls, now + 5); });
      }
      co_await yield_now();
    }
  };
  run_as_task(runtime, [&]() -> Task<> {
    JoinHandle<void> other = spawn(yield(120));
    std::thread([&] { runtime.spawn(first()).detach(); }).join();
    co_await yield(INT_MAX);
    co_await other;
  });
  EXPECT_LE(polls_before_last, kInterval + 5);
}

TEST(BlockInPlaceThreads, offer_forks_with_what_was_handed_on_before) {
  Runtime runtime = build(kTwoWorkers);
  for (int section = 0; section < 10; ++section) {
    run_as_task(runtime, []() -> Task<> {
      block_in_place([] { std::this_thread::sleep_for(1ms); });
      co_return;
    });
    std::this_thread::sleep_for(1ms);  // until the workers are asleep
    std::atomic<bool> other{false};
    const auto waits = [&]() -> Fork<bool> { co_return block_worker_until(other); };
    const auto opens = [&]() -> Fork<> {
      other.store(true);
      co_return;
    };
    EXPECT_TRUE(run_as_task(runtime, [&]() -> Task<bool> {
      const auto [met, nothing] = co_await fork_join(waits(), opens());
      co_return met;
    }));
  }
}

#if !defined(TASKBENCH_SYSTEM_BLOCKS)  // under a sanitizer, each task is an allocation
TEST(BlockInPlaceThreads, use_again_what_was_handed_on_before) {
  constexpr int kRuns = 50;
  Runtime runtime = builder(kOneWorker).max_blocking_threads(1).build();
  const auto allocated_by_sections = [&] {
    const std::size_t before = allocations();
    for (int run = 0; run < kRuns; ++run) run_as_task(runtime, block_for_another);
    return allocations() - before;
  };
  static_cast<void>(allocated_by_sections());
  EXPECT_LT(allocated_by_sections(), std::size_t{kRuns});  // each new Worker would be one
}
#endif

TEST(BlockInPlaceThreads, that_have_no_memory_for_a_while_take_over_afterwards) {
  Runtime runtime = builder(kOneWorker)
                        .on_thread_start([](unsigned index) {
                          if (index > 0) lack_of_memory_of_this_thread().emplace(3U);
                        })
                        .build();
  run_as_task(runtime, block_for_another);
}

TEST(BlockInPlaceThreads, that_have_no_memory_leave_the_worker_and_stand_by) {
  std::atomic<bool> has_begun{false};
  std::atomic<bool> has_ended{false};
  std::atomic<int> count{0};
  Runtime runtime = builder(kOneWorker)
                        .blocking_idle_timeout(0ns)
                        .on_thread_start([&](unsigned index) {
                          if (index == 0) return;
                          lack_of_memory_of_this_thread().emplace();
                          has_begun.store(true);
                        })
                        .on_thread_stop([&](unsigned index) {
                          if (index > 0) has_ended.store(true);
                        })
                        .build();
  run_as_task(runtime, [&]() -> Task<> {
    JoinHandle<void> other = spawn(count_up(&count));
    block_in_place([&] { EXPECT_TRUE(block_worker_until(has_begun)); });
    EXPECT_EQ(count.load(), 0);
    co_await other;
  });
  EXPECT_EQ(count.load(), 1);
  EXPECT_TRUE(eventually([&] { return has_ended.load(); }));
}

TEST(BlockInPlaceThreads, that_come_back_without_memory_give_back_what_was_handed_on) {
  std::atomic<int> inside{0};
  std::atomic<bool> may_return{false};
  std::atomic<int> gone{0};
  const auto block = [&]() -> Task<> {
    block_in_place([&] {
      inside.fetch_add(1);
      EXPECT_TRUE(block_worker_until(may_return));
      lack_of_memory_of_this_thread().emplace();
    });
    co_return;
  };
  Runtime runtime = builder(kOneWorker)
                        .blocking_idle_timeout(0ns)
                        .on_thread_stop([&](unsigned) {
                          if (!lack_of_memory_of_this_thread()) return;
                          lack_of_memory_of_this_thread().reset();
                          gone.fetch_add(1);
                        })
                        .build();
  for (int i = 0; i < 2; ++i) runtime.spawn(block()).detach();
  EXPECT_TRUE(eventually([&] { return inside.load() == 2; }));
  run_as_task(runtime, nothing);  // by a third thread
  may_return.store(true);
  EXPECT_TRUE(eventually([&] { return gone.load() == 2; }));
}

TEST(BlockInPlaceThreads, need_no_memory_to_end_with_the_runtime) {
  Runtime runtime =
      builder(kTwoWorkers)
          .on_thread_start([](unsigned) { lack_of_memory_of_this_thread().emplace(); })
          .build();
  run_as_task(runtime, nothing);
}

TEST(BlockInPlaceThreads, are_not_added_once_the_runtime_ends) {
  Begun begun;
  std::atomic<bool> has_blocked{false};
  {
    Runtime runtime = builder(kOneWorker).on_thread_start(begun.hook()).build();
    const auto block_afterwards = [&]() -> Task<> {
      runtime.shutdown();  // only begins the shutdown
      block_in_place([&] { has_blocked.store(true); });
      co_return;
    };
    runtime.spawn(block_afterwards()).detach();
    EXPECT_TRUE(eventually([&] { return has_blocked.load(); }));
  }
  EXPECT_EQ(begun.count(), 1);
}

TEST(BlockInPlaceAnywhere, is_a_plain_call_where_no_worker_can_be_handed_on) {
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
}  // namespace taskbench::rt::tests
