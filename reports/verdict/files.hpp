// Compares result files of two sides, within the limits of what files can show. Pure.
//
// A file gives one number for each benchmark, the logarithm of the median of its repetitions: these
// belong together and are not independent samples. So a verdict needs several files per side.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/paired.hpp"
#include "reports/model/run.hpp"
#include "reports/verdict/counter_move.hpp"
#include "reports/verdict/decision.hpp"
#include "reports/verdict/exact.hpp"

namespace taskbench::reports::verdict {

struct FilesPolicy {
  double alpha = 0.01;       ///< chance that any benchmark without a change fails
  double pass_error = 0.05;  ///< chance of a PASS for a benchmark that is slower by delta
  double delta = 0.03;       ///< the smallest change that matters, relative
  double epsilon = 0.01;     ///< the noise floor, relative
  /// Metrics that are judged in addition to the times; `of` is not used.
  std::vector<model::JudgedMetric> judged{};
};

/// The result of the files for one metric of a benchmark.
struct FilesVerdict {
  Verdict verdict = Verdict::inconclusive;
  bool improved = false;
  std::string reason;  ///< why it is inconclusive; empty otherwise
  std::size_t base_files = 0;
  std::size_t head_files = 0;
  /// Per iteration: values around the middle of the two medians over the files whose ratio is
  /// `change`. With one file per side, or files of only one side, the medians. Times are in ns.
  double base = 0;
  double head = 0;
  double delta = 0;  ///< the smallest change that matters here
  /// False: a file has a value of 0 or less. Then there is no change, and only the medians among
  /// these figures mean anything.
  bool has_ratio = true;
  double change = 0;          ///< head over base, less 1; base over head if more is better
  std::optional<double> low;  ///< two-sided 95 % interval; empty for too few files
  std::optional<double> high;
  double p = 1;           ///< of "not slower by more than epsilon"
  double p_adjusted = 1;  ///< `p` over all rows (Holm)

  /// Whether both sides have values, which have a ratio.
  [[nodiscard]] bool has_change() const { return has_ratio && base_files > 0 && head_files > 0; }

  bool operator==(const FilesVerdict&) const = default;
};

/// The verdict on a requested metric.
struct JudgedFilesVerdict : FilesVerdict {
  std::string metric{};
  bool more_is_better = false;

  bool operator==(const JudgedFilesVerdict&) const = default;
};

/// The verdict on a benchmark's wall time, with its other results.
struct FilesRow : FilesVerdict {
  std::string name;
  /// In the order of the policy; only metrics that both sides report for it.
  std::vector<JudgedFilesVerdict> judged;
  /// The counters that moved most between the sides, from the scheduler and from perf.
  std::vector<CounterMove> counters;
  /// A separate metric, present if a side has counted it; any number of files is enough.
  /// Inconclusive if only one side has counts.
  std::optional<InstructionsVerdict> instructions;
};

struct FilesReport {
  FilesPolicy policy;
  std::vector<FilesRow> rows;          ///< benchmarks of both sides, in the order of base
  std::vector<std::string> only_base;  ///< benchmarks that have no partner
  std::vector<std::string> only_head;
  std::vector<std::string> failed;  ///< "name: why", of either side
  /// Why the files as a whole permit no verdict: "num_cpus: 2 and 4". Empty if they do.
  std::vector<std::string> machine_differs;
  Verdict overall = Verdict::inconclusive;
  bool could_fail = false;  ///< with this many files, some row could have failed
  /// Rows without a verdict in which a slowdown of kBlindFactor times delta would not have failed,
  /// given the scatter of these values.
  std::vector<std::string> blind;
  /// By benchmark: those of few printed digits that are above the policy's.
  std::map<std::string, model::NoiseFloor> noise_floors{};
};

/// The smallest number of files per side, equal on both, for which p can be below alpha. For
/// several rows, pass alpha divided by their number.
[[nodiscard]] std::size_t files_needed(double alpha);

/// The facts about the machine in which the files differ: "num_cpus: '2' and '4'". Empty if all are
/// from one machine.
[[nodiscard]] std::vector<std::string> machine_differences(
    const std::vector<const model::Run*>& files);

/// The times of the repetitions; empty if the benchmark failed.
[[nodiscard]] std::vector<double> times_of(const model::Case& benchmark);

/// "name of side: why", for each benchmark that failed.
void add_failures(const std::vector<model::Run>& files, std::string_view side,
                  std::vector<std::string>& failed);

/// The metrics, other than times, of benchmarks that both sides have and that have not failed.
[[nodiscard]] std::set<std::string> metrics_of(const std::vector<model::Run>& base,
                                               const std::vector<model::Run>& head);

/// Called before each row is compared, with the number of finished rows and the approximate total.
/// If it throws, the comparison ends.
using RowObserver = std::function<void(std::size_t done, std::size_t of)>;

/// Compares two sides. Throws std::invalid_argument if a side has no files, or more than
/// stats::kMaxShiftSample.
[[nodiscard]] FilesReport compare_files(const std::vector<model::Run>& base,
                                        const std::vector<model::Run>& head,
                                        const FilesPolicy& policy,
                                        const RowObserver& observer = {});

}  // namespace taskbench::reports::verdict
