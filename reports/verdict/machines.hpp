// The machines that the blocks of a merged trial come from, and the result of each. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reports/model/paired.hpp"
#include "reports/verdict/metric.hpp"

namespace taskbench::reports::verdict {

/// With fewer machines, no sign flips of machines could fail anything at an alpha of 1 %.
inline constexpr std::size_t kEnoughMachines = 7;

/// A machine whose effect beyond the noise floor is more than this many times that of the median
/// machine says nothing about machines like these: the flips of machines give it no score.
inline constexpr double kOutlyingMachine = 5;

/// One of the machines of a merged trial.
struct Machine {
  std::string host;
  std::string kind;        ///< model::machine_key(): each kind has its own results
  std::vector<int> parts;  ///< that it measured
  int blocks = 0;          ///< in these parts

  bool operator==(const Machine&) const = default;
};

/// The machines of a merged trial, grouped by kind, in the order of their first parts.
[[nodiscard]] std::vector<Machine> machines_of(const model::PairedTrial& trial);

/// The number of machines that have measured something.
[[nodiscard]] inline std::size_t machines_with_blocks(const std::vector<Machine>& machines) {
  return static_cast<std::size_t>(
      std::ranges::count_if(machines, [](const Machine& each) { return each.blocks > 0; }));
}

/// The index of the machine of each complete block of a merged trial.
[[nodiscard]] std::vector<std::size_t> machine_of_blocks(const model::PairedTrial& trial,
                                                         const std::vector<Machine>& machines);

/// The result of one machine for a benchmark. Changes are relative: 0.1 is 10 % slower.
struct MachineEffect {
  int blocks = 0;  ///< 0: it did not measure the benchmark
  double change = 0;
  std::optional<double> low;  ///< at the common interval level; empty: too few blocks
  std::optional<double> high;
  double change_without = 0;  ///< of all other machines together

  bool operator==(const MachineEffect&) const = default;
};

/// The result of all machines of one kind for a benchmark.
struct KindEffect {
  std::string kind;
  int machines = 0;  ///< that measured it
  int blocks = 0;    ///< on these machines
  double change = 0;
  std::optional<double> low;  ///< as for a machine
  std::optional<double> high;

  bool operator==(const KindEffect&) const = default;
};

/// A benchmark's wall time by machine.
struct ByMachine {
  std::vector<MachineEffect> machines;  ///< one for each of machines_of()
  std::vector<KindEffect> kinds{};      ///< in their order; empty if there is one kind
  double spread = 0;                    ///< standard deviation of the effect between machines
  double p_equal = 1;                   ///< of so great a difference by chance, over all benchmarks
  /// The alternative verdict: with blocks as observations if the verdict rests on machines, and
  /// vice versa.
  MetricVerdict other;
  /// `detectable` with one more machine like these; empty if nothing is detectable.
  std::optional<double> detectable_with_another;

  bool operator==(const ByMachine&) const = default;
};

/// The differences of blocks as observations of this unit: unchanged, or the Hodges-Lehmann
/// estimate of each machine. `machines` has the machine of each block.
[[nodiscard]] std::vector<double> observations(const std::vector<double>& differences,
                                               const std::vector<std::size_t>& machines,
                                               model::Unit unit);

/// The effect on each of `count` machines, by these differences. `level` is that of the intervals.
[[nodiscard]] std::vector<MachineEffect> effects_of(const std::vector<double>& differences,
                                                    const std::vector<std::size_t>& machines,
                                                    std::size_t count, model::Unit unit,
                                                    double level);

/// The effects on the machines of each kind, all from their observations of this unit; empty if
/// there is one kind. `all` are the machines that `machines` refers to by index.
[[nodiscard]] std::vector<KindEffect> effects_of_kinds(const std::vector<double>& differences,
                                                       const std::vector<std::size_t>& machines,
                                                       const std::vector<Machine>& all,
                                                       model::Unit unit, double level);

/// `detectable` of `row`, which rests on these observations, with one more machine. Empty if its
/// look can fail nothing.
[[nodiscard]] std::optional<double> with_another(const std::vector<double>& of_unit,
                                                 std::size_t more, const MetricVerdict& row,
                                                 std::size_t workloads);

}  // namespace taskbench::reports::verdict
