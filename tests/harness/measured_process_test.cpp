// The time of a benchmark on a busy machine: made-up repetitions with a known truth.
#include "harness/programs/measured_process.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace taskbench::harness {
namespace {

/// Nine repetitions that compute for 1,000 ns and sleep for `asleep_ns`. By chance, one in three of
/// them also waits for a CPU, for 3,000 ns on average.
model::Case on_a_busy_machine(double asleep_ns, std::mt19937_64& random) {
  std::normal_distribution<double> noise(1, 0.01);
  std::exponential_distribution<double> queued(1 / 3000.0);
  model::Case benchmark;
  for (int i = 0; i < 9; ++i) {
    model::Repetition repetition{.iterations = 1};
    repetition.cpu_ns = 1000 * noise(random);
    repetition.real_ns = repetition.cpu_ns + asleep_ns * noise(random);
    if (random() % 3 == 0) repetition.real_ns += queued(random);
    benchmark.repetitions.push_back(repetition);
  }
  return benchmark;
}

// Seven of nine repetitions wait for a CPU in 0.8 % of the processes.
TEST(WantedTime, leaves_out_what_waits_for_a_cpu_and_keeps_what_sleeps) {
  constexpr int kProcesses = 400;
  std::mt19937_64 random(1);
  for (const double asleep_ns : {0.0, 500.0, 5000.0}) {
    int near = 0;
    for (int process = 0; process < kProcesses; ++process) {
      const double wanted = wanted_ns(on_a_busy_machine(asleep_ns, random));
      near += std::abs(wanted / (1000 + asleep_ns) - 1) < 0.03 ? 1 : 0;
    }
    EXPECT_GE(near, 0.96 * kProcesses) << asleep_ns;
  }
}

}  // namespace
}  // namespace taskbench::harness
