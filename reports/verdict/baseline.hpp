// Compares a fresh series of processes with a stored one: finds the benchmarks that are slower, and
// whether the machine is unchanged. Pure. docs/design/baselines.md gives the rules and their
// reasons.
//
// x of a process is ln(time per iteration) less the mean of ln(cpu part of the canary) of the
// passes before and after it. y is the median of x over the fresh processes; m and s are trimmed
// mean and deviation of x over the k stored ones.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reports/model/baseline.hpp"
#include "reports/model/paired.hpp"
#include "reports/stats/summary.hpp"
#include "reports/verdict/decision.hpp"
#include "reports/verdict/drift.hpp"

namespace taskbench::reports::verdict {

/// Permitted spread of the canary's handover within one series: greatest over least pass, less 1.
/// Beyond it, the host has moved the CPUs: close together, or far apart.
inline constexpr double kHandoverSpread = 2;

/// The placement of the CPUs by the host, as shown by the canary: the geometric mean of its
/// handover. Empty without a process, and if there is only one CPU.
[[nodiscard]] std::optional<double> place_of(const model::Series& series);

/// Whether the CPUs had this placement both before and after the process; if it is empty, whether
/// they stayed where they were. Placement is a property of the machine, not of the program, so
/// leaving out such a process favours no result.
[[nodiscard]] bool was_at(std::optional<double> place_ns, const model::SeriesProcess& process);

/// The handover on a machine whose CPUs were moved.
struct MovedCpus {
  double least_ns = 0;  ///< of a pass
  double greatest_ns = 0;
};

/// Empty if the CPUs stayed where they were during the series, as far as the canary shows.
[[nodiscard]] std::optional<MovedCpus> moved_cpus(const model::Series& series);

/// The use of the CPUs by others while the processes of a series ran.
[[nodiscard]] model::Fact<Others> others_of(const model::Series& series);

struct BaselinePolicy {
  double alpha = 0.01;       ///< chance that any benchmark without a change fails
  double pass_error = 0.05;  ///< chance of a PASS for a benchmark that is slower by delta
  double delta = 0.03;       ///< the smallest change that matters, relative
  bool allow_busy = false;   ///< judge although others use the CPUs
  /// By benchmark. A change below its floor does not matter, either. A missing floor is 0.
  std::map<std::string, model::NoiseFloor> noise_floors{};
};

/// One benchmark compared with one stored series. Changes are relative: 0.1 is 10 % slower.
struct StoredComparison {
  Verdict verdict = Verdict::inconclusive;
  bool improved = false;
  double change = 0;  ///< exp(y - m) - 1
  double low = 0;     ///< two-sided 95 % interval of `change`
  double high = 0;
  double delta = 0;        ///< the smallest change that matters: at least the noise floor
  double limit = 0;        ///< a greater measured change fails
  bool masked = false;     ///< whether it would have a verdict if the machine had not changed
  double detectable = 0;   ///< a true change of this size fails in four of five comparisons
  std::size_t stored = 0;  ///< processes, k
  std::size_t fresh = 0;   ///< M
};

struct BaselineRow {
  std::string name;
  Verdict verdict = Verdict::inconclusive;
  bool improved = false;
  bool drifted = false;      ///< it fails only against the anchor
  bool unconfirmed = false;  ///< it has no verdict: it failed, but in one round of processes only
  bool masked = false;       ///< it has no verdict only because the machine changed
  double baseline_ns = 0;    ///< per iteration: geometric mean over the stored processes
  double now_ns = 0;         ///< baseline_ns with the change: the time with the canary as then
  StoredComparison rolling;
  std::optional<StoredComparison> anchor;
};

struct CanaryChange {
  std::string part;   ///< "cpu", "memory", "futex", "handover"
  double change = 0;  ///< relative
  double limit = 0;   ///< relative, with the sign of the change; chance explains less than this
  bool moved = false;
};

struct BaselineReport {
  std::vector<BaselineRow> rows;           ///< of both sides, in the order of the baseline
  std::vector<std::string> only_baseline;  ///< benchmarks that have no partner
  std::vector<std::string> only_now;
  std::vector<CanaryChange> canary;         ///< its parts, against the rolling series
  std::vector<CanaryChange> anchor_canary;  ///< empty without a separate anchor
  model::Fact<Others> others_then;          ///< when the rolling series was measured
  model::Fact<Others> others_now;
  bool others_moved = false;            ///< others use more or less of the CPUs than then
  std::optional<MovedCpus> moved_cpus;  ///< during this measurement
  bool environment_moved = false;  ///< nothing fails, and some row lacks a verdict only due to that
  bool anchor_void = false;        ///< the machine has changed since the anchor was measured
  int rounds = 1;                  ///< of processes, each of which was judged
  Verdict overall = Verdict::inconclusive;
};

/// Judges a fresh series. With several rounds, a benchmark fails only if it does so in two of them
/// and in all of them together. `anchor` may be null; an anchor with the same processes as
/// `rolling` adds nothing and is ignored. Throws std::invalid_argument for a series without
/// processes.
[[nodiscard]] BaselineReport compare_with_baseline(const model::Series& now,
                                                   const model::Series& rolling,
                                                   const model::Series* anchor,
                                                   const BaselinePolicy& policy);

/// Names of the rows that are blind: see is_blind().
[[nodiscard]] std::vector<std::string> blind_rows(const BaselineReport& report, double delta);

/// A comparison and all its inputs.
struct BaselineComparison {
  model::Series now;
  model::Series rolling;
  std::optional<model::Series> anchor;
  BaselinePolicy policy;
  BaselineReport report;
};

/// Why a program cannot be judged.
struct BaselineFailure {
  enum class Stage {
    machine,  ///< the baseline is of other machines or builds
    measure,  ///< the program failed
  };
  Stage stage = Stage::measure;
  std::string name;     ///< of the baseline
  std::string program;  ///< as given; empty: the baseline's program
  std::string message;  ///< the error, in lines
};

/// The baselines that are stored under one name and key.
struct StoredBaseline {
  model::Series rolling;
  std::optional<model::Series> anchor;
  bool this_machine = false;
};

/// The times of a series' processes by name: each benchmark, and the parts of the canary.
[[nodiscard]] std::vector<std::pair<std::string, stats::Spread>> spreads_of(
    const model::Series& series);

}  // namespace taskbench::reports::verdict
