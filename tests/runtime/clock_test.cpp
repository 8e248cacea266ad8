// Clocks that jump, on every scheduler. This program intercepts all calls by which the runtime asks
// the system for the time: the steady clock can be put forward by hours, as on a machine that was
// suspended, and reads of the wall clock, which may be set at any time, are counted. The call that
// waits for events until a time can be refused, as by the filter of a container.
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/blocking/spawn_blocking.hpp"
#include "runtime/time/interval.hpp"
#include "runtime/time/sleep.hpp"
#include "runtime/time/timeout.hpp"
#include "tests/runtime/net_support.hpp"

namespace {

std::atomic<std::int64_t> put_forward_s{0};
std::atomic<int> wall_clock_reads{0};
std::atomic<bool> refuses_pwait2{false};
std::atomic<int> refusals{0};

template <class Function>
Function* of_the_system(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static auto* const kSystems = of_the_system<int(clockid_t, timespec*)>("clock_gettime");
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI) {
    ++wall_clock_reads;
  }
  const int result = kSystems(clock, time);
  if (clock == CLOCK_MONOTONIC) time->tv_sec += put_forward_s.load();
  return result;
}

int gettimeofday(timeval* time, void*) noexcept {
  static auto* const kSystems = of_the_system<int(timeval*, void*)>("gettimeofday");
  ++wall_clock_reads;
  return kSystems(time, nullptr);
}

time_t time(time_t* result) noexcept {
  static auto* const kSystems = of_the_system<time_t(time_t*)>("time");
  ++wall_clock_reads;
  return kSystems(result);
}

/// A futex waits until a time of the steady clock, which is converted back to the system's.
/// epoll_pwait2 may be refused.
long syscall(long number, ...) noexcept {
  using Word = std::uintptr_t;
  static auto* const kSystems = of_the_system<long(long, ...)>("syscall");
  va_list list;
  va_start(list, number);
  Word all[6];
  for (Word& each : all) each = va_arg(list, Word);
  va_end(list);
#if defined(SYS_epoll_pwait2)
  if (number == SYS_epoll_pwait2 && refuses_pwait2.load()) {
    ++refusals;
    errno = EPERM;
    return -1;
  }
#endif
  timespec until{};
  const auto operation = static_cast<int>(all[1]);
  if (number == SYS_futex && (operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET && all[3] != 0) {
    if ((operation & FUTEX_CLOCK_REALTIME) != 0) ++wall_clock_reads;
    until = *reinterpret_cast<const timespec*>(all[3]);
    until.tv_sec = std::max<time_t>(until.tv_sec - put_forward_s.load(), 0);
    all[3] = reinterpret_cast<Word>(&until);
  }
  return kSystems(number, all[0], all[1], all[2], all[3], all[4], all[5]);
}

}  // extern "C"

namespace taskbench::rt {
namespace {

using namespace std::chrono_literals;
using time::MissedTicks;

class Clocks : public tests::OnOneRuntime {
 protected:
  /// Puts the steady clock forward. The system knows nothing of this, so a thread that sleeps until
  /// a timer is due is woken by a socket, which stays readable until the thread has looked.
  Task<> jump(std::chrono::seconds time) {
    put_forward_s += time.count();
    if (!ends_) ends_ = net::UnixStream::pair();
    co_await ends_->second.write_all("x");
    co_await tests::read_bytes(ends_->first, 1);
  }

 private:
  std::optional<std::pair<net::UnixStream, net::UnixStream>> ends_;
};

TEST_P(Clocks, that_jump_fire_what_has_become_due_once_and_nothing_else) {
  run([&]() -> Task<> {
    std::atomic<int> asleep{0};
    std::atomic<int> woken{0};
    const auto sleeps = [&](std::chrono::minutes duration) -> Task<> {
      time::Sleep sleep = time::sleep(duration);
      ++asleep;
      co_await sleep;
      ++woken;
    };
    std::vector<JoinHandle<void>> sleepers;
    for (int i = 1; i <= 100; ++i) sleepers.push_back(spawn(sleeps(i * 1min)));
    auto late = spawn(sleeps(10h));
    co_await tests::until([&] { return asleep.load() == 101; });
    EXPECT_EQ(woken.load(), 0);
    co_await jump(3h);
    for (auto& each : sleepers) co_await each;
    EXPECT_EQ(woken.load(), 100);
    co_await time::sleep(2ms);
    EXPECT_FALSE(late.is_finished());
    co_await jump(8h);
    co_await late;
    EXPECT_EQ(woken.load(), 101);
  });
}

TEST_P(Clocks, that_jump_end_timeouts) {
  run([&]() -> Task<> {
    std::atomic<bool> asleep{false};
    const auto sleeps = [&]() -> Task<> {
      asleep = true;
      co_await time::sleep(2h);
    };
    auto limited = spawn(time::timeout(1h, sleeps()));
    co_await tests::until([&] { return asleep.load(); });
    co_await jump(90min);
    EXPECT_FALSE(co_await limited);
  });
}

/// Returns the ticks that are due, in minutes since `first`.
Task<std::string> due_ticks(time::Interval& ticks, time::Clock::time_point first) {
  std::string due;
  for (;;) {
    const auto tick = co_await time::timeout(1ms, ticks.tick());
    if (!tick) co_return due;
    due += std::to_string((*tick - first) / 1min) + ' ';
  }
}

TEST_P(Clocks, that_jump_leave_intervals_to_their_policies) {
  run([&]() -> Task<> {
    time::Interval burst = time::interval(1h, MissedTicks::burst);
    time::Interval delay = time::interval(1h, MissedTicks::delay);
    time::Interval skip = time::interval(1h, MissedTicks::skip);
    const auto first_burst = co_await burst.tick();
    const auto first_delay = co_await delay.tick();
    const auto first_skip = co_await skip.tick();
    co_await jump(3h + 30min);
    EXPECT_EQ(co_await due_ticks(burst, first_burst), "60 120 180 ");
    EXPECT_EQ(co_await due_ticks(delay, first_delay), "60 ");
    EXPECT_EQ(co_await due_ticks(skip, first_skip), "60 ");
    co_await jump(45min);  // 255 minutes after the first tick
    EXPECT_EQ(co_await due_ticks(burst, first_burst), "240 ");
    EXPECT_EQ(co_await due_ticks(delay, first_delay), "");
    EXPECT_EQ(co_await due_ticks(skip, first_skip), "240 ");
    co_await jump(30min);  // 285 minutes after the first tick
    EXPECT_EQ(co_await due_ticks(delay, first_delay), "270 ");
  });
}

TEST_P(Clocks, of_the_wall_are_never_read) {
  const int before = wall_clock_reads.load();
  {
    Runtime runtime = tests::builder(GetParam()).blocking_idle_timeout(1ms).trace(1'000).build();
    runtime.block_on([]() -> Task<> {
      auto ends = co_await tests::connected();
      time::Interval ticks = time::interval(1ms);
      for (int i = 0; i < 5; ++i) {
        co_await ticks.tick();
        co_await ends.client.write_all("x");
        co_await tests::read_bytes(ends.server, 1);
        co_await spawn_blocking([] {});
        EXPECT_FALSE(co_await time::timeout(1ms, tests::read_bytes(ends.server, 1)));
      }
      auto sleeper = spawn([]() -> Task<> { co_await time::sleep(1h); }());
      co_await time::sleep(2ms);
      sleeper.abort();
    }());
    while (!runtime.shutdown_timeout(1ms)) continue;
    EXPECT_FALSE(runtime.trace().workers.empty());
  }
  EXPECT_EQ(wall_clock_reads.load(), before);
  static_cast<void>(std::chrono::system_clock::now());
  EXPECT_GT(wall_clock_reads.load(), before) << "what would have been counted";
}

TASKBENCH_ON_EVERY_SCHEDULER(Clocks);

#if defined(SYS_epoll_pwait2)

class FilteredCalls : public tests::OnOneRuntime {
 protected:
  FilteredCalls() {
    refusals = 0;
    refuses_pwait2 = true;
  }
  ~FilteredCalls() override { refuses_pwait2 = false; }
};

TEST_P(FilteredCalls, do_not_keep_a_socket_from_waking_a_task_while_a_timer_is_pending) {
  std::atomic<bool> woken{false};
  std::thread writer;
  run([&]() -> Task<> {
    auto ends = net::UnixStream::pair();
    char byte = ' ';
    auto reading = ends.first.read(&byte, 1);
    co_await select(reading, yield_now());  // it waits from now on
    auto sleeper = spawn([]() -> Task<> { co_await time::sleep(1h); });
    writer = std::thread([&woken, to = ends.second.descriptor()] {
      EXPECT_TRUE(tests::eventually([] { return refusals.load() != 0; }));
      EXPECT_EQ(::write(to, "x", 1), 1);
      EXPECT_TRUE(tests::eventually([&] { return woken.load(); }, 10s));
      refuses_pwait2 = false;  // lets the test end all the same
    });
    EXPECT_EQ(co_await reading, 1U);
    woken = true;
    sleeper.abort();
  });
  writer.join();
  EXPECT_EQ(refusals.load(), 1) << "it is tried once";
}

TASKBENCH_ON_EVERY_SCHEDULER(FilteredCalls);

#endif

}  // namespace
}  // namespace taskbench::rt
