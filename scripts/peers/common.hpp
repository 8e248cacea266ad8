// What the programs in C++ have in common. See scripts/compare-peers.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <utility>

namespace peers {

inline double cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

/// What an iteration takes.
struct Times {
  double real_ns;
  double cpu_ns;
};

/// Calls `iterate` again and again for the given time.
template <class Iterate>
Times times_of(double seconds, Iterate&& iterate) {
  using Clock = std::chrono::steady_clock;
  const double cpu = cpu_ns();
  const Clock::time_point begin = Clock::now();
  double iterations = 0;
  for (; Clock::now() - begin < std::chrono::duration<double>(seconds); ++iterations) iterate();
  const std::chrono::duration<double, std::nano> real = Clock::now() - begin;
  return {real.count() / iterations, (cpu_ns() - cpu) / iterations};
}

/// Prints what an iteration takes, after a first one that does not count.
template <class Iterate>
void measure(double seconds, Iterate&& iterate) {
  iterate();
  const Times times = times_of(seconds, iterate);
  std::printf("{\"real_ns\":%g,\"cpu_ns\":%g}\n", times.real_ns, times.cpu_ns);
}

/// The result that the recursion must have.
inline std::uint64_t fibonacci(std::uint64_t n) {
  std::uint64_t one = 0;
  for (std::uint64_t next = 1; n != 0; --n) next += std::exchange(one, next);
  return one;
}

}  // namespace peers
