// Measurements with real threads, on two CPUs.
#include "tests/simulation/measure.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <utility>
#include <vector>

namespace sim {
namespace {

using Clock = std::chrono::steady_clock;
using Nanoseconds = double;

Nanoseconds since(Clock::time_point begin) {
  return std::chrono::duration<Nanoseconds, std::nano>(Clock::now() - begin).count();
}

/// The first decile: other activity on the machine only makes rounds slower.
Nanoseconds least(std::vector<Nanoseconds> all) {
  const std::size_t tenth = all.size() / 10;
  std::ranges::nth_element(all, all.begin() + static_cast<std::ptrdiff_t>(tenth));
  return all[tenth];
}

void stay_on(std::size_t cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  static_cast<void>(sched_setaffinity(0, sizeof set, &set));
}

/// Returns the time that one of `count` calls takes.
template <class Operation>
Nanoseconds time_of(int rounds, int count, const Operation& operation) {
  std::vector<Nanoseconds> all;
  for (int round = 0; round < rounds; ++round) {
    const auto begin = Clock::now();
    for (int i = 0; i < count; ++i) operation();
    all.push_back(since(begin) / count);
  }
  return least(std::move(all));
}

void print(const char* name, Nanoseconds value) { std::printf("--cost %s=%.4g\n", name, value); }

struct alignas(128) Word {
  std::atomic<std::uint32_t> value{0};
};

/// A line that bounces between two CPUs: half of a round trip.
Nanoseconds line_time() {
  constexpr std::uint32_t kTrips = 1'000;
  Word there;
  Word back;
  std::atomic<bool> ends{false};
  std::thread other([&] {
    stay_on(1);
    for (std::uint32_t next = 1; !ends;) {
      if (there.value.load() != next) continue;
      back.value.store(next++, std::memory_order_release);
    }
  });
  stay_on(0);
  std::uint32_t trip = 0;
  const Nanoseconds round_trip = time_of(200, kTrips, [&] {
    there.value.store(++trip, std::memory_order_release);
    while (back.value.load() != trip) continue;
  });
  ends = true;
  other.join();
  return round_trip / 2;
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

/// Wakes a sleeper on the other CPU repeatedly, 20 us after it fell asleep.
void measure_wake_up() {
  Word word;
  std::atomic<std::int64_t> ran_at{0};
  const auto now = [] { return Clock::now().time_since_epoch().count(); };
  std::thread sleeper([&] {
    stay_on(1);
    for (std::uint32_t round = 0; round < 2'000; ++round) {
      while (word.value.load() == round) futex(word.value, FUTEX_WAIT, round);
      ran_at = now();
    }
  });
  stay_on(0);
  std::vector<Nanoseconds> calls;
  std::vector<Nanoseconds> latencies;
  for (std::uint32_t round = 0; round < 2'000; ++round) {
    const auto asleep = Clock::now();
    while (since(asleep) < 20'000) _mm_pause();
    word.value.store(round + 1);
    const std::int64_t begin = now();
    futex(word.value, FUTEX_WAKE, 1);
    const std::int64_t end = now();
    while (ran_at < begin) _mm_pause();
    calls.push_back(static_cast<Nanoseconds>(end - begin));
    latencies.push_back(static_cast<Nanoseconds>(ran_at - begin));
  }
  sleeper.join();
  print("wake", least(std::move(calls)));
  print("latency", least(std::move(latencies)));
}

void barrier() { syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); }

/// Measures membarrier beside a thread that computes, and what each call costs that thread.
void measure_barrier() {
  syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
  stay_on(0);
  const Nanoseconds alone = time_of(200, 100, barrier);
  print("barrier", alone);

  std::atomic<bool> ends{false};
  std::atomic<std::uint64_t> rounds{0};
  std::thread other([&] {
    stay_on(1);
    while (!ends) {
      for (int i = 0; i < 16; ++i) _mm_pause();
      rounds.store(rounds.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
  });
  while (rounds < 1'000) continue;
  constexpr int kBarriers = 50;
  std::vector<Nanoseconds> calls;
  std::vector<Nanoseconds> quiet;  // a round of the other thread in that time
  std::vector<Nanoseconds> lost;   // by the other thread, for each barrier
  for (int i = 0; i < 400; ++i) {
    const auto pair = [&](const auto& meanwhile) {
      const std::uint64_t first = rounds;
      const auto begin = Clock::now();
      meanwhile();
      const Nanoseconds time = since(begin);
      return std::pair(time, static_cast<double>(rounds - first));
    };
    const auto [quiet_time, quiet_rounds] = pair([] {
      for (int pause = 0; pause < 2'000; ++pause) _mm_pause();
    });
    quiet.push_back(quiet_time / quiet_rounds);
    const auto [time, rounds_done] = pair([] {
      for (int k = 0; k < kBarriers; ++k) barrier();
    });
    calls.push_back(time / kBarriers);
    lost.push_back((time - rounds_done * least(quiet)) / kBarriers);
  }
  ends = true;
  other.join();
  print("barrier_first", least(std::move(calls)) - alone);
  print("interrupt", least(std::move(lost)));
}

}  // namespace

void measure_costs() {
  Word word;
  stay_on(0);
  print("locked", time_of(400, 1'000, [&] { word.value.fetch_add(1); }));
  print("clock", time_of(400, 1'000, [] { static_cast<void>(Clock::now()); }));
  print("pause", time_of(400, 1'000, [] { _mm_pause(); }));
  // The call returns at once, as it finds another value: its cost without the sleep.
  print("sleep", time_of(400, 1'000, [&] { futex(word.value, FUTEX_WAIT, 0); }));
  print("line", line_time());
  measure_wake_up();
  measure_barrier();
}

}  // namespace sim
