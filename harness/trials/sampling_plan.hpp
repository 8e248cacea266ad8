// How long the processes of a trial measure, so that enough of them fit into its budget.
#pragma once

#include "harness/files/names.hpp"
#include "reports/model/sampling.hpp"

namespace taskbench::harness {

/// The shortest repetition that the clock's resolution and the start-up of a benchmark allow.
inline constexpr double kShortest_s = 0.0002;

/// The duration of a program's processes, as measured in a first run.
struct ProcessCost {
  double start_s = 0;                  ///< all except the repetitions
  std::vector<double> iterations_s{};  ///< duration of one iteration, for each benchmark

  /// The duration of the repetitions of a process with this sampling.
  [[nodiscard]] double measuring_s(const model::Sampling& sampling) const;
  /// The duration of a process with this sampling.
  [[nodiscard]] double seconds(const model::Sampling& sampling) const;
};

/// What grows if a process is to measure longer.
enum class Longer { repetitions, each_repetition };

/// The number and length of repetitions for a trial with `left_s` seconds left, derived from the
/// duration of a process with default sampling: shortened(), or longer if starting a process takes
/// longer than measuring. If there is plenty of time, measuring may take as long as the start, and
/// otherwise an eighth of it, which hardly costs blocks.
[[nodiscard]] model::Sampling sampling_for(const ProcessCost& cost, double left_s,
                                           const model::Sampling& usual,
                                           Longer grows = Longer::each_repetition);

/// Fewer and shorter repetitions if 16 blocks do not fit, since more blocks decide more than longer
/// repetitions; not below an eighth of the start, where hardly a block is gained.
[[nodiscard]] model::Sampling shortened(const ProcessCost& cost, double left_s,
                                        model::Sampling sampling);

/// Whether so many blocks fit that the exact duration of a process does not matter.
[[nodiscard]] bool has_plenty(const ProcessCost& cost, double left_s,
                              const model::Sampling& sampling);

}  // namespace taskbench::harness
