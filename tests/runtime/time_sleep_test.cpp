// sleep(), sleep_until() and interval() on every scheduler: never early, and cancellable at any
// time.
#include "runtime/time/sleep.hpp"

#include <dirent.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "runtime/runtime.hpp"
#include "runtime/time/interval.hpp"
#include "runtime/time/timeout.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt::time {
namespace {

using namespace std::chrono_literals;

/// The number of open descriptors of the process.
std::ptrdiff_t open_descriptors() {
  DIR* const folder = opendir("/proc/self/fd");
  std::ptrdiff_t count = 0;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

class Sleeps : public tests::OnEveryScheduler {};
TASKBENCH_ON_EVERY_SCHEDULER(Sleeps);

/// Returns how late the sleep ended.
Task<std::chrono::nanoseconds> sleeps(std::chrono::nanoseconds duration) {
  const auto begin = Clock::now();
  co_await sleep(duration);
  co_return Clock::now() - begin - duration;
}

TEST_P(Sleeps, are_never_early) {
  Runtime runtime = build_runtime();
  runtime.block_on([]() -> Task<void> {
    std::vector<JoinHandle<std::chrono::nanoseconds>> all;
    for (int i = 0; i < 200; ++i) all.push_back(spawn(sleeps(i * 397us % 40ms)));
    all.push_back(spawn(sleeps(70ms)));  // on the wheel's second level
    for (auto& each : all) {
      const auto late = co_await each;
      EXPECT_GE(late, 0ns);
    }
  }());
}

TEST_P(Sleeps, of_the_root_end) {
  Runtime runtime = build_runtime();
  EXPECT_GE(runtime.block_on(sleeps(3ms)), 0ns);
  EXPECT_GE(runtime.block_on(sleeps(0ns)), 0ns);
  EXPECT_GE(runtime.block_on(sleeps(-1h)), 1h);
}

TEST_P(Sleeps, open_no_descriptor) {
  const std::ptrdiff_t before = open_descriptors();
  Runtime runtime = build_runtime();
  runtime.block_on(sleeps(2ms));
  EXPECT_EQ(open_descriptors(), before);
}

// A task that the driver wakes in a look between two polls runs, though nothing else is queued.
TEST_P(Sleeps, that_end_during_the_last_poll_of_all_others_end) {
  Runtime runtime = builder(GetParam()).workers(1).global_queue_interval(1).build();
  runtime.block_on([]() -> Task<void> {
    JoinHandle<std::chrono::nanoseconds> sleeper = spawn(sleeps(1ms));
    co_await sleep(0ns);
    JoinHandle<void> last = spawn([]() -> Task<void> {
      const auto end = Clock::now() + 5ms;
      while (Clock::now() < end) continue;
      co_return;
    }());
    co_await last;
    EXPECT_GE(co_await sleeper, 0ns);
  }());
}

Task<void> yields_until(const std::atomic<bool>& done) {
  while (!done.load()) co_await yield_now();
}

TEST_P(Sleeps, end_while_all_workers_are_busy) {
  Runtime runtime = build_runtime();
  runtime.block_on([]() -> Task<void> {
    std::atomic<bool> done{false};
    JoinHandle<void> busy = spawn([](std::atomic<bool>& end) -> Task<void> {
      for (int i = 0; i < 5; ++i) co_await sleep(1ms);
      end.store(true);
    }(done));
    co_await yields_until(done);
    co_await busy;
  }());
}

TEST_P(Sleeps, that_are_given_up_leave_nothing_behind) {
  Runtime runtime = build_runtime();
  runtime.block_on([]() -> Task<void> {
    for (int i = 0; i < 100; ++i) {
      JoinHandle<std::chrono::nanoseconds> handle = spawn(sleeps(i % 2 == 0 ? 1h : 1ms));
      co_await yield_now();
      handle.abort();
      try {
        co_await handle;
      } catch (const JoinError&) {
      }
    }
  }());
}

TEST_P(Sleeps, end_with_the_runtime) {
  std::optional<JoinHandle<std::chrono::nanoseconds>> handle;
  {
    Runtime runtime = build_runtime();
    handle = runtime.spawn(sleeps(1000h));
    runtime.block_on(sleeps(1ms));
  }
  EXPECT_TRUE(handle->is_finished());
}

TEST_P(Sleeps, of_a_root_end_though_the_runtime_has_been_shut_down) {
  Runtime runtime = build_runtime();
  runtime.block_on([](Runtime& all) -> Task<void> {
    co_await sleep(1ms);
    std::thread([&] { static_cast<void>(all.shutdown_timeout(1ms)); }).join();
    co_await sleep(1ms);
  }(runtime));
}

TEST_P(Sleeps, of_a_root_that_yields_end_though_the_runtime_has_been_shut_down) {
  Runtime runtime = build_runtime();
  runtime.block_on([](Runtime& all) -> Task<void> {
    all.shutdown();
    const bool ended = co_await timeout(1ms, tests::yield_forever());
    EXPECT_FALSE(ended);
  }(runtime));
}

TEST_P(Sleeps, that_another_task_has_begun_are_refused) {
  Runtime runtime = build_runtime();
  runtime.block_on([]() -> Task<void> {
    Sleep long_one = sleep(1h);
    co_await select(long_one, yield_now());
    JoinHandle<bool> other = spawn([](Sleep& begun) -> Task<bool> {
      try {
        co_await begun;
      } catch (const std::logic_error&) {
        co_return true;
      }
      co_return false;
    }(long_one));
    EXPECT_TRUE(co_await other);
    co_await select(long_one, yield_now());  // its own task may await it
  }());
}

TEST_P(Sleeps, that_were_made_in_another_runtime_that_has_ended_end) {
  std::optional<Interval> ticks;
  std::unique_ptr<Sleep> made;
  build_runtime().block_on(
      [](std::optional<Interval>& moved, std::unique_ptr<Sleep>& kept) -> Task<void> {
        moved = interval(1ms);
        co_await moved->tick();
        kept.reset(new Sleep(sleep(2ms)));
      }(ticks, made));
  Runtime runtime = build_runtime();
  runtime.block_on([](Interval& moved, Sleep& kept) -> Task<void> {
    co_await kept;
    const auto first = co_await moved.tick();
    const auto second = co_await moved.tick();
    EXPECT_EQ(second - first, 1ms);
  }(*ticks, *made));
}

class SleepsBesideOthers : public tests::OnEveryPool {};
TASKBENCH_ON_SHARING_POOLS(SleepsBesideOthers);

TEST_P(SleepsBesideOthers, end_while_one_of_them_computes) {
  Runtime runtime = build_runtime();
  std::atomic<int> ended{0};
  for (int i = 0; i < 20; ++i) {
    runtime
        .spawn([](std::atomic<int>& count) -> Task<void> {
          co_await sleep(2ms);
          ++count;
        }(ended))
        .detach();
  }
  JoinHandle<bool> computing = runtime.spawn([](std::atomic<int>& count) -> Task<bool> {
    co_return tests::eventually([&] { return count.load() == 20; });
  }(ended));
  EXPECT_TRUE(runtime.block_on([](JoinHandle<bool>& handle) -> Task<bool> {
    const bool all = co_await handle;
    co_return all;
  }(computing)));
}

class SleepsOnPools : public tests::OnEveryPool {};
TASKBENCH_ON_EVERY_POOL(SleepsOnPools);

// No thread sleeps that would notice the timer: no worker, and no thread in block_on.
TEST_P(SleepsOnPools, end_while_all_of_them_have_much_to_do) {
  std::atomic<bool> is_over{false};
  const auto sleeps_once = [&]() -> Task<void> {
    co_await sleep(1ms);
    is_over.store(true);
  };
  Runtime runtime = build_runtime();
  for (unsigned i = 0; i < 16 * GetParam().workers; ++i) {
    runtime.spawn(tests::until([&] { return is_over.load(); })).detach();
  }
  runtime.spawn(sleeps_once()).detach();
  EXPECT_TRUE(tests::eventually([&] { return is_over.load(); }));
}

TEST_P(SleepsOnPools, of_a_root_that_yields_end_while_all_of_them_are_in_long_polls) {
  std::atomic<unsigned> begun{0};
  std::atomic<bool> release{false};
  const auto poll_for_long = [&]() -> Task<void> {
    begun.fetch_add(1);
    EXPECT_TRUE(tests::block_worker_until(release));
    co_return;
  };
  Runtime runtime = build_runtime();
  runtime.block_on([&]() -> Task<void> {
    for (unsigned i = 0; i < GetParam().workers; ++i) spawn(poll_for_long()).detach();
    co_await tests::until([&] { return begun.load() == GetParam().workers; });
    const bool ended = co_await timeout(1ms, tests::yield_forever());
    EXPECT_FALSE(ended);
    release.store(true);
  }());
}

TEST(Sleep, refuses_outside_of_a_runtime) {
  EXPECT_THROW(static_cast<void>(sleep(1ms)), std::logic_error);
  EXPECT_THROW(static_cast<void>(sleep_until(Clock::now())), std::logic_error);
}

TEST(Sleep, until_the_end_of_time_is_given_up) {
  Runtime runtime = tests::build(tests::kTwoWorkers);
  JoinHandle<std::chrono::nanoseconds> handle =
      runtime.spawn(sleeps(std::chrono::nanoseconds::max()));
  runtime.block_on(sleeps(2ms));
  EXPECT_FALSE(handle.is_finished());
}

TEST(Interval, comes_at_once_and_then_every_period) {
  Runtime runtime = tests::build(tests::kCurrentThread);
  runtime.block_on([]() -> Task<void> {
    Interval ticks = interval(2ms);
    const auto first = co_await ticks.tick();
    for (int i = 1; i < 5; ++i) {
      const auto tick = co_await ticks.tick();
      EXPECT_EQ(tick, first + i * 2ms);
      EXPECT_GE(Clock::now(), first + i * 2ms);
    }
  }());
}

TEST(Interval, waits_for_the_next_tick_in_each_await_of_one_that_is_kept) {
  Runtime runtime = tests::build(tests::kCurrentThread);
  runtime.block_on([]() -> Task<void> {
    Interval ticks = interval(1ms);
    auto tick = ticks.tick();
    const auto first = co_await tick;
    const auto second = co_await tick;
    EXPECT_EQ(second, first + 1ms);
    EXPECT_GE(Clock::now(), second);

    Interval hours = interval(1h);
    auto one = hours.tick();
    auto other = hours.tick();
    co_await one;
    for (Interval::Tick* const each : {&one, &other}) {
      Sleep late = sleep(1ms);
      EXPECT_EQ((co_await select(*each, late)).index(), 1U);
    }
  }());
}

/// The times of the ticks after one that was awaited 25 ms late, relative to the time of that tick,
/// for a period of 10 ms.
std::vector<std::chrono::nanoseconds> after_a_late_tick(MissedTicks missed) {
  Runtime runtime = tests::build(tests::kCurrentThread);
  return runtime.block_on([](MissedTicks policy) -> Task<std::vector<std::chrono::nanoseconds>> {
    Interval ticks(Clock::now() - 25ms, 10ms, policy);
    const auto first = co_await ticks.tick();
    std::vector<std::chrono::nanoseconds> times;
    for (int i = 0; i < 3; ++i) {
      const auto tick = co_await ticks.tick();
      times.push_back(tick - first);
    }
    co_return times;
  }(missed));
}

TEST(Interval, catches_up_in_a_burst) {
  EXPECT_EQ(after_a_late_tick(MissedTicks::burst),
            (std::vector<std::chrono::nanoseconds>{10ms, 20ms, 30ms}));
}

TEST(Interval, skips_what_was_missed) {
  const auto times = after_a_late_tick(MissedTicks::skip);
  EXPECT_GE(times[0], 30ms);
  for (const auto& each : times) EXPECT_EQ(each % 10ms, 0ns);
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
}

TEST(Interval, delays_all_that_follow) {
  const auto times = after_a_late_tick(MissedTicks::delay);
  EXPECT_GE(times[0], 35ms);
  EXPECT_GE(times[1] - times[0], 10ms);
}

TEST(Interval, in_a_burst_lets_other_tasks_run) {
  Runtime runtime = tests::build(tests::kCurrentThread);
  runtime.block_on([]() -> Task<void> {
    bool ran = false;
    spawn([](bool& done) -> Task<void> {
      done = true;
      co_return;
    }(ran))
        .detach();
    Interval ticks(Clock::now() - 10s, 1us);  // never catches up
    int count = 0;
    for (; !ran && count < 1'000'000; ++count) co_await ticks.tick();
    EXPECT_LT(count, 1'000'000);
  }());
}

TEST(Interval, ticks_no_more_where_the_next_tick_is_after_the_end_of_time) {
  for (const MissedTicks missed : {MissedTicks::burst, MissedTicks::delay, MissedTicks::skip}) {
    Runtime runtime = tests::build(tests::kCurrentThread);
    runtime.block_on([](MissedTicks policy) -> Task<void> {
      Interval ticks = interval(std::chrono::nanoseconds::max(), policy);
      co_await ticks.tick();
      EXPECT_FALSE(
          co_await timeout(2ms, [](Interval& own) -> Task<void> { co_await own.tick(); }(ticks)));
      // Late by almost as long as the clock has run.
      Interval late(Clock::time_point(1ns), Clock::time_point::max().time_since_epoch(), policy);
      EXPECT_EQ(co_await late.tick(), Clock::time_point(1ns));
      EXPECT_FALSE(
          co_await timeout(2ms, [](Interval& own) -> Task<void> { co_await own.tick(); }(late)));
    }(missed));
  }
}

TEST(Interval, skips_as_many_ticks_as_there_are_since_the_beginning_of_time) {
  Runtime runtime = tests::build(tests::kCurrentThread);
  runtime.block_on([]() -> Task<void> {
    const Clock::time_point beginning = Clock::time_point::min();
    Interval ticks(beginning, 1ms, MissedTicks::skip);
    EXPECT_EQ(co_await ticks.tick(), beginning);
    const Clock::time_point before = Clock::now();
    const Clock::time_point second = co_await ticks.tick();
    EXPECT_GT(second, before);
    EXPECT_LE(second, before + 5s);
    EXPECT_EQ((second.time_since_epoch() - beginning.time_since_epoch() % 1ms) % 1ms, 0ns);
  }());
}

TEST(Times, at_the_ends_of_the_range_are_waited_for_or_are_over) {
  static constexpr auto kLongest = std::chrono::nanoseconds::max();
  static constexpr auto kOver = std::chrono::nanoseconds::min();
  EXPECT_EQ(after(kLongest), Clock::time_point::max());
  EXPECT_LT(after(kOver), Clock::now());
  Runtime runtime = tests::builder(tests::kTwoWorkers).blocking_idle_timeout(kLongest).build();
  runtime.block_on([]() -> Task<void> {
    co_await sleep(kOver);
    co_await sleep_until(Clock::time_point::min());
    EXPECT_FALSE(co_await timeout(kOver, tests::forever()));
    EXPECT_TRUE(
        co_await timeout(kLongest, [](auto time) -> Task<void> { co_await sleep(time); }(1ms)));
    EXPECT_EQ(co_await spawn_blocking([] { return 1; }), 1);
    co_await sleep(10ms);  // an overflowed timeout would end the thread in this time
  }());
  EXPECT_EQ(runtime.stats().blocking.threads, 1U);
  EXPECT_TRUE(runtime.shutdown_timeout(kLongest));
  Runtime busy = tests::build(tests::kTwoWorkers);
  std::atomic<bool> begun{false};
  std::atomic<bool> may_end{false};
  busy.spawn_blocking([&] {
        begun.store(true);
        while (!may_end.load()) std::this_thread::yield();
      })
      .detach();
  while (!begun.load()) std::this_thread::yield();
  EXPECT_FALSE(busy.shutdown_timeout(kOver));
  may_end.store(true);
  EXPECT_TRUE(busy.shutdown_timeout(kLongest));
}

TEST(Interval, has_a_period) {
  EXPECT_THROW(static_cast<void>(interval(0ms)), std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::rt::time
