// How long the processes of a trial measure, so that enough of them fit into its budget.
#pragma once

#include "harness/trials/names.hpp"
#include "reports/model/sampling.hpp"

namespace taskbench::harness {

/// The shortest repetition that the grain of clocks and the start of a benchmark allow.
inline constexpr double kShortest_s = 0.0002;

/// What a process of a program takes, as a first run has shown.
struct ProcessCost {
  double start_s = 0;                  ///< all but the repetitions
  std::vector<double> iterations_s{};  ///< one iteration, of each benchmark
  /// Whether each iteration is a process of its own: then ten in one process of the trial tell as
  /// much as one in each of ten.
  bool starts_each_iteration = false;

  /// A process that samples like this.
  [[nodiscard]] double seconds(const model::Sampling& sampling) const;
};

/// The repetitions and their time for a trial with so many seconds left, from what it would take by
/// default. Blocks decide more than the length of a repetition: where 16 blocks do not fit,
/// repetitions become fewer and shorter. Where time is plenty, they become longer: if starting a
/// process takes longer than measuring does, or, of iterations that are processes of their own,
/// more than a twentieth of the time.
[[nodiscard]] model::Sampling sampling_for(const ProcessCost& cost, double left_s,
                                           model::Sampling usual);

/// Whether so many blocks fit that it does not matter what exactly a process takes.
[[nodiscard]] bool has_plenty(const ProcessCost& cost, double left_s,
                              const model::Sampling& sampling);

}  // namespace taskbench::harness
