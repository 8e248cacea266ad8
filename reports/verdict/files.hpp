// Compares result files of two sides: what they can and cannot say. Pure.
//
// A file gives one number for each benchmark, the logarithm of the median of its repetitions: these
// come from one process and are not independent samples. So a verdict needs several files a side.
#pragma once

#include <cstddef>
#include <functional>
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
  /// Metrics that are judged beside the times; `of` is not used.
  std::vector<model::JudgedMetric> judged{};
};

/// What the files can say of one metric of a benchmark.
struct FilesVerdict {
  Verdict verdict = Verdict::inconclusive;
  bool improved = false;
  std::string reason;  ///< why it is inconclusive; empty otherwise
  std::size_t base_files = 0;
  std::size_t head_files = 0;
  /// Per iteration: around the middle of the two medians over the files, as far apart as `change`
  /// says. With one file a side, the medians. Times are in ns.
  double base = 0;
  double head = 0;
  double delta = 0;  ///< the smallest change that matters here
  /// False: a file has 0 or less, so that there is no change, and these figures but the medians
  /// mean nothing.
  bool has_ratio = true;
  double change = 0;          ///< head over base, less 1; base over head if more is better
  std::optional<double> low;  ///< two-sided 95 % interval; empty for too few files
  std::optional<double> high;
  double p = 1;           ///< of "not slower by more than epsilon"
  double p_adjusted = 1;  ///< `p` over all rows (Holm)

  bool operator==(const FilesVerdict&) const = default;
};

/// The verdict on a metric that somebody has asked for.
struct JudgedFilesVerdict : FilesVerdict {
  std::string metric{};
  bool more_is_better = false;

  bool operator==(const JudgedFilesVerdict&) const = default;
};

/// The verdict on a benchmark's wall time, with what else is known of it.
struct FilesRow : FilesVerdict {
  std::string name;
  /// In the order of the policy; only of metrics that both sides report of it.
  std::vector<JudgedFilesVerdict> judged;
  /// The counters that moved most between the sides, of the scheduler and of perf.
  std::vector<CounterMove> counters;
  /// A metric of its own, if a side has counted it: any number of files is enough. Inconclusive if
  /// only one side has.
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
  /// Rows without a verdict in which, with values that scatter like these, a slowdown of
  /// kBlindFactor times delta would not have failed.
  std::vector<std::string> blind;
};

/// The least number of files a side, equal on both, with which p can be below alpha. With several
/// rows, divide alpha by their number.
[[nodiscard]] std::size_t files_needed(double alpha);

/// Each fact about the machine in which two of the files differ: "num_cpus: '2' and '4'". Empty if
/// they are of one machine.
[[nodiscard]] std::vector<std::string> machine_differences(
    const std::vector<const model::Run*>& files);

/// The times of the repetitions; empty if the benchmark failed.
[[nodiscard]] std::vector<double> times_of(const model::Case& benchmark);

/// "name of side: why", for each benchmark that failed.
void add_failures(const std::vector<model::Run>& files, std::string_view side,
                  std::vector<std::string>& failed);

/// The metrics besides times of benchmarks that both sides have and that have not failed.
[[nodiscard]] std::set<std::string> metrics_of(const std::vector<model::Run>& base,
                                               const std::vector<model::Run>& head);

/// Called before each row is compared: how many are done, and about how many there are. If it
/// throws, the comparison ends.
using RowObserver = std::function<void(std::size_t done, std::size_t of)>;

/// Compares two sides. Throws std::invalid_argument for no files on a side, or more than
/// stats::kMaxShiftSample.
[[nodiscard]] FilesReport compare_files(const std::vector<model::Run>& base,
                                        const std::vector<model::Run>& head,
                                        const FilesPolicy& policy,
                                        const RowObserver& observer = {});

}  // namespace taskbench::reports::verdict
