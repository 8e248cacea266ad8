// Which machines the blocks of a merged trial come from, and what each shows. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reports/model/paired.hpp"
#include "reports/stats/sequential.hpp"
#include "reports/verdict/metric.hpp"

namespace taskbench::reports::verdict {

/// With fewer machines, no sign flips of theirs could fail anything at an alpha of 1 %.
inline constexpr std::size_t kEnoughMachines = 7;

/// A machine whose effect, beyond the noise floor, is so many times that of the median machine is
/// no evidence for machines like these: it has no score in the flips of machines.
inline constexpr double kOutlyingMachine = 5;

/// One of the machines of a merged trial.
struct Machine {
  std::string host;
  std::string kind;        ///< model::machine_key(): machines of another kind are shown apart
  std::vector<int> parts;  ///< that it has measured
  int blocks = 0;          ///< of these parts

  bool operator==(const Machine&) const = default;
};

/// The machines of a merged trial, grouped by kind, in the order of their first parts.
[[nodiscard]] std::vector<Machine> machines_of(const model::PairedTrial& trial);

/// How many of them have measured something.
[[nodiscard]] inline std::size_t machines_with_blocks(const std::vector<Machine>& machines) {
  return static_cast<std::size_t>(
      std::ranges::count_if(machines, [](const Machine& each) { return each.blocks > 0; }));
}

/// For each complete block of a merged trial, the place of its machine.
[[nodiscard]] std::vector<std::size_t> machine_of_blocks(const model::PairedTrial& trial,
                                                         const std::vector<Machine>& machines);

/// What one machine shows of a benchmark. Changes are relative: 0.1 is 10 % slower.
struct MachineEffect {
  int blocks = 0;  ///< 0: it has not measured it
  double change = 0;
  std::optional<double> low;  ///< of an interval of the level of all; empty: too few blocks
  std::optional<double> high;
  double change_without = 0;  ///< of all other machines together

  bool operator==(const MachineEffect&) const = default;
};

/// What all machines of one kind show of a benchmark.
struct KindEffect {
  std::string kind;
  int machines = 0;  ///< that have measured it
  int blocks = 0;    ///< of these
  double change = 0;
  std::optional<double> low;  ///< as of a machine
  std::optional<double> high;

  bool operator==(const KindEffect&) const = default;
};

/// A benchmark's wall time by machine.
struct ByMachine {
  std::vector<MachineEffect> machines;  ///< one for each of machines_of()
  std::vector<KindEffect> kinds{};      ///< in their order; empty if all are of one
  double spread = 0;                    ///< standard deviation of the effect between machines
  double p_equal = 1;                   ///< that they differ so much by chance, over all benchmarks
  /// The answer to the other question: with the blocks as observations if the verdict rests on
  /// machines, and the other way round.
  MetricVerdict other;
  /// `detectable` with one more machine like these; empty if nothing can be.
  std::optional<double> detectable_with_another;

  bool operator==(const ByMachine&) const = default;
};

/// The differences of blocks as observations of this unit: as they are, or the Hodges-Lehmann
/// estimate of each machine. `machines` has the machine of each block.
[[nodiscard]] std::vector<double> observations(const std::vector<double>& differences,
                                               const std::vector<std::size_t>& machines,
                                               model::Unit unit);

/// What each of `count` machines shows by these differences. `level` is that of the intervals.
[[nodiscard]] std::vector<MachineEffect> effects_of(const std::vector<double>& differences,
                                                    const std::vector<std::size_t>& machines,
                                                    std::size_t count, model::Unit unit,
                                                    double level);

/// What the machines of each kind show, all by their observations of this unit; empty if there is
/// one kind. `all` are the machines that `machines` has the places of.
[[nodiscard]] std::vector<KindEffect> effects_of_kinds(const std::vector<double>& differences,
                                                       const std::vector<std::size_t>& machines,
                                                       const std::vector<Machine>& all,
                                                       model::Unit unit, double level);

/// `detectable` of `row`, whose observations these are, with one more machine.
[[nodiscard]] std::optional<double> with_another(const std::vector<double>& of_unit,
                                                 std::size_t more, const MetricVerdict& row,
                                                 const stats::TrialErrors& errors,
                                                 std::size_t workloads);

}  // namespace taskbench::reports::verdict
