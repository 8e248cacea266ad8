#include "harness/trials/sampling_plan.hpp"

#include <array>

#include "reports/model/paired.hpp"

namespace taskbench::harness {
namespace {

using model::Sampling;

constexpr int kWantedBlocks = 16;
constexpr int kPlentyBlocks = 64;
constexpr double kLongest_s = 0.02;
constexpr int kGrowth = 2;

/// From the usual sampling down.
constexpr std::array<std::pair<std::int64_t, double>, 4> kShorter{
    {{5, 0.001}, {5, 0.0005}, {3, 0.0005}, {3, kShortest_s}}};

double blocks_within(double left_s, const ProcessCost& cost, const Sampling& sampling) {
  return left_s / (model::kBlockSize * cost.seconds(sampling));
}

/// Whether measuring is short beside what a process takes to start.
bool hardly_costs(const ProcessCost& cost, const Sampling& sampling) {
  return cost.measuring_s(sampling) <= cost.start_s / 8;
}

}  // namespace

bool has_plenty(const ProcessCost& cost, double left_s, const Sampling& sampling) {
  return blocks_within(left_s, cost, sampling) >= kPlentyBlocks;
}

double ProcessCost::measuring_s(const Sampling& sampling) const {
  double sum = 0;
  for (const double iteration_s : iterations_s) {
    sum += static_cast<double>(sampling.repetitions) * std::max(sampling.min_time_s, iteration_s);
  }
  return sum;
}

double ProcessCost::seconds(const Sampling& sampling) const {
  return start_s + measuring_s(sampling);
}

Sampling shortened(const ProcessCost& cost, double left_s, Sampling sampling) {
  for (const auto& [repetitions, min_time_s] : kShorter) {
    if (blocks_within(left_s, cost, sampling) >= kWantedBlocks || hardly_costs(cost, sampling)) {
      break;
    }
    sampling.repetitions = std::min(repetitions, sampling.repetitions);
    sampling.min_time_s = std::min(min_time_s, sampling.min_time_s);
  }
  return sampling;
}

Sampling sampling_for(const ProcessCost& cost, double left_s, const Sampling& usual, Longer grows) {
  Sampling sampling = shortened(cost, left_s, usual);
  Sampling longer = sampling;
  for (double length = kGrowth * usual.min_time_s; length <= kLongest_s; length *= kGrowth) {
    if (grows == Longer::repetitions) {
      longer.repetitions *= kGrowth;
    } else {
      longer.min_time_s *= kGrowth;
    }
    const bool mostly_starts = cost.measuring_s(longer) < cost.start_s;
    const bool is_affordable = mostly_starts && has_plenty(cost, left_s, longer);
    if (!is_affordable && !hardly_costs(cost, longer)) break;
    sampling = longer;
  }
  return sampling;
}

}  // namespace taskbench::harness
