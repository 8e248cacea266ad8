#include "harness/trials/sampling_plan.hpp"

#include <array>

#include "reports/model/paired.hpp"

namespace taskbench::harness {
namespace {

using model::Sampling;

constexpr int kWantedBlocks = 16;
constexpr int kPlentyBlocks = 64;
constexpr double kLongest_s = 0.02;

/// From the usual sampling down.
constexpr std::array<std::pair<std::int64_t, double>, 4> kShorter{
    {{5, 0.001}, {5, 0.0005}, {3, 0.0005}, {3, kShortest_s}}};

double blocks_within(double left_s, const ProcessCost& cost, const Sampling& sampling) {
  return left_s / (model::kBlockSize * cost.seconds(sampling));
}

}  // namespace

bool has_plenty(const ProcessCost& cost, double left_s, const Sampling& sampling) {
  return blocks_within(left_s, cost, sampling) >= kPlentyBlocks;
}

double ProcessCost::seconds(const Sampling& sampling) const {
  double sum = start_s;
  for (const double iteration_s : iterations_s) {
    sum += static_cast<double>(sampling.repetitions) * std::max(sampling.min_time_s, iteration_s);
  }
  return sum;
}

Sampling sampling_for(const ProcessCost& cost, double left_s, Sampling sampling) {
  if (blocks_within(left_s, cost, sampling) < kWantedBlocks) {
    for (const auto& [repetitions, min_time_s] : kShorter) {
      sampling.repetitions = std::min(repetitions, sampling.repetitions);
      sampling.min_time_s = std::min(min_time_s, sampling.min_time_s);
      if (blocks_within(left_s, cost, sampling) >= kWantedBlocks) break;
    }
    return sampling;
  }
  for (Sampling longer = sampling; longer.min_time_s < kLongest_s;) {
    longer.min_time_s = std::min(2 * longer.min_time_s, kLongest_s);
    const bool mostly_starts = cost.seconds(longer) < 2 * cost.start_s;
    if (!mostly_starts || blocks_within(left_s, cost, longer) < kPlentyBlocks) break;
    sampling = longer;
  }
  return sampling;
}

}  // namespace taskbench::harness
