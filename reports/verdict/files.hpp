// Result files against each other: what they can and cannot say. Pure.
//
// The sample of a file is one number for each benchmark, the logarithm of the median of its
// repetitions: they come from one process and are no independent samples of anything. So a verdict
// needs several files a side.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/run.hpp"
#include "reports/verdict/counter_move.hpp"
#include "reports/verdict/decision.hpp"
#include "reports/verdict/exact.hpp"

namespace taskbench::reports::verdict {

struct FilesPolicy {
  double alpha = 0.01;       ///< chance that any benchmark without a change fails
  double pass_error = 0.05;  ///< chance that a benchmark that is slower by delta passes
  double delta = 0.03;       ///< the smallest change that matters, relative
  double epsilon = 0.01;     ///< the noise floor, relative
};

struct FilesRow {
  std::string name;
  Verdict verdict = Verdict::inconclusive;
  bool improved = false;
  std::string reason;  ///< why it is inconclusive; empty otherwise
  std::size_t base_files = 0;
  std::size_t head_files = 0;
  /// Per iteration: around the middle of the two medians over the files, as far apart as `change`
  /// says; of one file a side they are the medians.
  double base_ns = 0;
  double head_ns = 0;
  double change = 0;          ///< head over base, less 1
  std::optional<double> low;  ///< two-sided 95 % interval; empty for too few files
  std::optional<double> high;
  double p = 1;           ///< of "not slower by more than epsilon"
  double p_adjusted = 1;  ///< the same over all rows (Holm)
  /// Counters that differ between the sides, of the scheduler and of perf: those that moved most.
  std::vector<CounterMove> counters;
  /// A metric of its own, where a side has counted it: any number of files will do. Inconclusive
  /// where the other has not.
  std::optional<InstructionsVerdict> instructions;
};

struct FilesReport {
  FilesPolicy policy;
  std::vector<FilesRow> rows;          ///< benchmarks of both sides, in the order of base
  std::vector<std::string> only_base;  ///< that have no partner
  std::vector<std::string> only_head;
  std::vector<std::string> failed;  ///< "name: why", of either side
  /// Why the files as a whole carry no verdict: "num_cpus: 2 and 4". Empty when they do.
  std::vector<std::string> machine_differs;
  Verdict overall = Verdict::inconclusive;
  bool could_fail = false;  ///< some row could have, with so many files, whatever they held
  /// Rows without a verdict in which a slowdown of kBlindFactor times delta would not have failed,
  /// with values that scatter as these do.
  std::vector<std::string> blind;
};

/// Files a side below which no p can be under alpha, whatever they hold: with both sides equal. Of
/// several rows the least p is to be under alpha over their number.
[[nodiscard]] std::size_t files_needed(double alpha);

/// Each fact about the machine that two of the files have and do not agree on: "num_cpus: '2' and
/// '4'". Empty when they are of one.
[[nodiscard]] std::vector<std::string> machine_differences(
    const std::vector<const model::Run*>& files);

/// The repetitions' times; empty where it failed.
[[nodiscard]] std::vector<double> times_of(const model::Case& benchmark);

/// "name of side: why", for each benchmark that failed.
void add_failures(const std::vector<model::Run>& files, std::string_view side,
                  std::vector<std::string>& failed);

/// Hears of every row before it is compared: how many are done, and about how many there are. What
/// it throws ends the comparison.
using RowObserver = std::function<void(std::size_t done, std::size_t of)>;

/// Throws std::invalid_argument for no files on a side, or more than stats::kMaxShiftSample.
[[nodiscard]] FilesReport compare_files(const std::vector<model::Run>& base,
                                        const std::vector<model::Run>& head,
                                        const FilesPolicy& policy,
                                        const RowObserver& observer = {});

}  // namespace taskbench::reports::verdict
