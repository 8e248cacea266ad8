// A fresh series of processes against a stored one: which benchmarks are slower, and whether the
// machine is still the one that it was. Pure. The rules and their reasons:
// docs/design/baselines.md.
//
// x of a process is ln(time per iteration) less the mean of ln(cpu part of the canary) of the
// passes before and after it. y is the median of x over the fresh processes, m and s are trimmed
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
#include "reports/verdict/others.hpp"

namespace taskbench::reports::verdict {

/// By how much the canary's handover may vary within one series, from its least to its greatest
/// pass, relative. When it varies more, the host has moved the CPUs: near to each other, or far
/// apart.
inline constexpr double kHandoverSpread = 2;

/// Where the host has the CPUs, as the canary shows it: the geometric mean of its handover. Empty
/// without a process, and where there is one CPU only.
[[nodiscard]] std::optional<double> place_of(const model::Series& series);

/// Whether the CPUs were there before the process and after it; of an empty place, whether they
/// stayed where they were. What differs so is a property of the machine, not of the program, so
/// that leaving such a process out favours no result.
[[nodiscard]] bool was_at(std::optional<double> place_ns, const model::SeriesProcess& process);

/// The handover of a machine whose CPUs were moved.
struct MovedCpus {
  double least_ns = 0;  ///< of a pass
  double greatest_ns = 0;
};

/// Empty when the CPUs stayed where they were during the series, as far as the canary shows.
[[nodiscard]] std::optional<MovedCpus> moved_cpus(const model::Series& series);

/// While the processes of a series ran.
[[nodiscard]] model::Fact<Others> others_of(const model::Series& series);

struct BaselinePolicy {
  double alpha = 0.01;       ///< chance that any benchmark without a change fails
  double pass_error = 0.05;  ///< chance that a benchmark that is slower by delta passes
  double delta = 0.03;       ///< the smallest change that matters, relative
  bool allow_busy = false;   ///< what others use of the CPUs is no reason to give no verdict
  /// By benchmark; a change below its floor does not matter, either. None is a floor of 0.
  std::map<std::string, model::NoiseFloor> noise_floors{};
};

/// One benchmark against one stored series. Changes are relative: 0.1 is 10 % slower.
struct StoredComparison {
  Verdict verdict = Verdict::inconclusive;
  bool improved = false;
  double change = 0;  ///< exp(y - m) - 1
  double low = 0;     ///< two-sided 95 % interval of it
  double high = 0;
  double delta = 0;        ///< the smallest change that matters: no less than the noise floor
  double limit = 0;        ///< a measured change that is greater fails
  bool masked = false;     ///< it would have a verdict if the machine had not changed
  double detectable = 0;   ///< a true change of so much fails in four of five comparisons
  std::size_t stored = 0;  ///< processes, k
  std::size_t fresh = 0;   ///< M
};

struct BaselineRow {
  std::string name;
  Verdict verdict = Verdict::inconclusive;
  bool improved = false;
  bool drifted = false;      ///< it fails against the anchor alone
  bool unconfirmed = false;  ///< it failed in one of the two series of processes, not in both
  bool masked = false;       ///< it has no verdict only because the machine changed
  double baseline_ns = 0;    ///< per iteration: geometric mean over the stored processes
  double now_ns = 0;         ///< the same and the change: what it takes where the canary is as then
  StoredComparison rolling;
  std::optional<StoredComparison> anchor;
};

struct CanaryChange {
  std::string part;   ///< "cpu", "memory", "futex", "handover"
  double change = 0;  ///< relative
  double limit = 0;   ///< relative, with the sign of the change; one nearer to 0 is chance
  bool moved = false;
};

struct BaselineReport {
  std::vector<BaselineRow> rows;           ///< of both sides, in the order of the baseline
  std::vector<std::string> only_baseline;  ///< that have no partner
  std::vector<std::string> only_now;
  std::vector<CanaryChange> canary;         ///< its parts, against the rolling series
  std::vector<CanaryChange> anchor_canary;  ///< empty without an anchor of its own
  model::Fact<Others> others_then;          ///< when the rolling series was measured
  model::Fact<Others> others_now;
  bool others_moved = false;            ///< they used more or less of the CPUs than then
  std::optional<MovedCpus> moved_cpus;  ///< while this was measured
  bool environment_moved = false;  ///< nothing fails, and a row has no verdict because of it alone
  bool anchor_void = false;        ///< the machine is another than when the anchor was measured
  bool confirmed = false;          ///< both of two series of processes were judged
  Verdict overall = Verdict::inconclusive;
};

/// A series that is confirming holds two, of setup.processes each: a benchmark fails only where it
/// fails in both. `anchor` may be null; one that holds the same processes as `rolling` says nothing
/// more and is left out. Throws std::invalid_argument for a series without processes.
[[nodiscard]] BaselineReport compare_with_baseline(const model::Series& now,
                                                   const model::Series& rolling,
                                                   const model::Series* anchor,
                                                   const BaselinePolicy& policy);

/// The rows without a verdict that could not have seen kBlindFactor times `delta`.
[[nodiscard]] std::vector<std::string> blind_rows(const BaselineReport& report, double delta);

/// A comparison with all that it rests on.
struct BaselineComparison {
  model::Series now;
  model::Series rolling;
  std::optional<model::Series> anchor;
  BaselinePolicy policy;
  BaselineReport report;
};

/// Why nothing can be said of a program.
struct BaselineFailure {
  enum class Stage {
    machine,  ///< the baseline is of other machines or builds
    measure,  ///< the program failed
  };
  Stage stage = Stage::measure;
  std::string name;     ///< of the baseline
  std::string program;  ///< as given; empty: that of the baseline
  std::string message;  ///< what happened, in lines
};

/// What is stored under one name and one key.
struct StoredBaseline {
  model::Series rolling;
  std::optional<model::Series> anchor;
  bool this_machine = false;
};

/// What the processes of a series took: each benchmark, and the parts of the canary, by name.
[[nodiscard]] std::vector<std::pair<std::string, stats::Spread>> spreads_of(
    const model::Series& series);

}  // namespace taskbench::reports::verdict
