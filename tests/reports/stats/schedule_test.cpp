// Schedules of looks: which one decides soonest in simulated trials of realistic changes.
// TASKBENCH_SCHEDULE_TRIALS=N runs N trials for each row and prints the table of docs/adr/0055.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "reports/stats/sequential.hpp"
#include "reports/stats/sign_flip.hpp"
#include "reports/stats/walsh.hpp"
#include "tests/reports/stats/noise.hpp"

namespace taskbench::reports::stats {
namespace {

const double kFloor = std::log1p(0.01);
const double kMatters = std::log1p(0.03);

int trials() {
  const char* asked = std::getenv("TASKBENCH_SCHEDULE_TRIALS");
  return asked != nullptr ? std::atoi(asked) : 15;
}

bool are_many() { return trials() >= 200; }

// One of a few trials that went on to the gate's 1,000 blocks would decide their mean.
const std::size_t kMostScheduled = are_many() ? 1000 : 256;
const TrialErrors kScheduleErrors{0.01, 0.05, kMostScheduled};

/// Most changes have no effect; of the others, half have one below 5 %.
double expected_effect(Noise& noise) {
  const double kind = noise.uniform();
  if (kind < 0.6) return 0;
  return std::log1p(kind < 0.8 ? 0.05 * noise.uniform() : 0.05 + 0.25 * noise.uniform());
}

struct Kind {
  std::string name;
  double deviation;  ///< of a block
  /// The noise of one benchmark in all blocks.
  std::vector<double> (*of)(Noise& noise, std::size_t blocks);
};

std::vector<double> student_3(Noise& noise, std::size_t blocks) {
  std::vector<double> values(blocks);
  for (double& value : values) {
    double squares = 0;
    for (int i = 0; i < 3; ++i) squares += std::pow(noise.normal(), 2);
    value = noise.normal() / std::sqrt(squares / 3);
  }
  return values;
}

/// Noise per process, in the order ABBA or BAAB, while the machine's level wanders by half the
/// noise.
std::vector<double> drifting(Noise& noise, std::size_t blocks) {
  std::vector<double> values(blocks);
  double level = 0;
  for (double& value : values) {
    const double sign = noise.uniform() < 0.5 ? 1 : -1;
    for (const double side : {1.0, -1.0, -1.0, 1.0}) {
      level += 0.5 * noise.normal();
      value += sign * side * (noise.normal() + level) / 2;
    }
  }
  return values;
}

const std::array kKinds = {
    Kind{"normal, 5 %", 0.05,
         [](Noise& noise, std::size_t blocks) { return noise.normals(blocks); }},
    Kind{"Student's t with 3, 5 %", 0.05, student_3},
    Kind{"level wandering ±50 %, 5 %", 0.05, drifting},
    Kind{"normal, 1.5 %", 0.015,
         [](Noise& noise, std::size_t blocks) { return noise.normals(blocks); }},
};

struct Schedule {
  std::string name;
  std::vector<Look> looks;
};

Schedule schedule_of(double per_doubling) {
  std::vector<std::size_t> blocks;
  for (int i = 0; blocks.empty() || blocks.back() < kMostScheduled; ++i) {
    const auto each = static_cast<std::size_t>(std::lround(8 * std::exp2(i / per_doubling)));
    if (blocks.empty() || each > blocks.back()) blocks.push_back(std::min(each, kMostScheduled));
  }
  return {fmt::format("{:g} in a doubling", per_doubling), looks_at(blocks, kScheduleErrors)};
}

/// The looks of trials, of which each but the first has a part of the errors that grows with its
/// number.
Schedule growing_schedule() {
  Schedule schedule{"4, growing parts", looks(kScheduleErrors)};
  const std::size_t count = schedule.looks.size();
  const double sum = static_cast<double>(count * (count + 1)) / 2 - 1;
  for (std::size_t i = 1; i < count; ++i) {
    const double share = static_cast<double>(i + 1) / sum;
    schedule.looks[i].alpha = 0.6 * kScheduleErrors.alpha * share;
    schedule.looks[i].pass_error = 0.9 * kScheduleErrors.pass_error * share;
  }
  return schedule;
}

struct Outcome {
  double blocks = 0;  ///< mean, until a trial is decided
  double decided = 0;
  double false_fails = 0;
};

/// Simulates trials of this many benchmarks: the last one has changed by an expected effect, the
/// others have not. A trial ends when the last one is decided.
Outcome outcome_of(const Schedule& schedule, const Kind& kind, std::size_t benchmarks) {
  Noise noise(kSeed);
  Outcome outcome;
  const double each = 1.0 / trials();
  for (int trial = 0; trial < trials(); ++trial) {
    std::vector<std::vector<double>> all(benchmarks);
    for (auto& values : all) {
      values = kind.of(noise, kMostScheduled);
      for (double& value : values) value *= kind.deviation;
    }
    const double effect = expected_effect(noise);
    for (double& value : all.back()) value += effect;
    const std::vector<double> shifts(benchmarks, kFloor);
    std::size_t taken = kMostScheduled;
    bool is_decided = false;
    bool fails_falsely = false;
    for (const Look& look : schedule.looks) {
      std::vector<std::vector<double>> seen;
      for (const auto& values : all) {
        seen.emplace_back(values.begin(), values.begin() + static_cast<long>(look.blocks));
      }
      const auto p = sign_flip_test(seen, shifts, Direction::slower, kSeed).p_adjusted;
      for (std::size_t i = 0; i < benchmarks; ++i) {
        const bool fails = p[i] < look.alpha && hodges_lehmann(seen[i]) >= kMatters;
        if (fails && (i + 1 < benchmarks || effect <= kFloor)) fails_falsely = true;
        if (i + 1 < benchmarks) continue;
        is_decided = fails || upper_bound(seen[i], look.pass_error) < kMatters;
      }
      if (!is_decided) continue;
      taken = look.blocks;
      break;
    }
    outcome.blocks += each * static_cast<double>(taken);
    outcome.decided += is_decided ? each : 0;
    outcome.false_fails += fails_falsely ? each : 0;
  }
  return outcome;
}

TEST(Schedule, of_four_looks_in_a_doubling_is_that_of_trials) {
  const std::vector<Look> made = schedule_of(4).looks;
  const std::vector<Look> shipped = looks(kScheduleErrors);
  ASSERT_EQ(made.size(), shipped.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    EXPECT_EQ(made[i].blocks, shipped[i].blocks);
    EXPECT_DOUBLE_EQ(made[i].alpha, shipped[i].alpha);
    EXPECT_DOUBLE_EQ(made[i].pass_error, shipped[i].pass_error);
  }
}

TEST(Schedule, four_looks_in_a_doubling_with_equal_parts_decide_as_soon_as_any_other_schedule) {
  std::vector<Schedule> schedules = {schedule_of(4), growing_schedule()};
  for (const double per_doubling : {1.0, 2.0, 8.0}) schedules.push_back(schedule_of(per_doubling));
  for (const std::size_t benchmarks : {std::size_t{1}, std::size_t{10}}) {
    if (benchmarks > 1 && !are_many()) continue;  // ten times as many flips
    for (const Kind& kind : kKinds) {
      std::vector<Outcome> outcomes;
      for (const Schedule& schedule : schedules) {
        const Outcome& outcome = outcomes.emplace_back(outcome_of(schedule, kind, benchmarks));
        EXPECT_LE(outcome.false_fails, 0.01 + four_errors(0.01, trials())) << kind.name;
        if (!are_many()) continue;
        fmt::print("| {} | {} | {} | {:.1f} | {:.0f} % | {:.1f} % |\n", benchmarks, kind.name,
                   schedule.name, outcome.blocks, 100 * outcome.decided, 100 * outcome.false_fails);
      }
      const double best = std::ranges::min(outcomes, {}, &Outcome::blocks).blocks;
      EXPECT_LE(outcomes[0].blocks, 1.1 * best) << kind.name << ", " << benchmarks;
    }
  }
}

}  // namespace
}  // namespace taskbench::reports::stats
