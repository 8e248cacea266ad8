// Exact counts for a paired trial, in addition to its times: instructions and their kinds before
// the first block, and the functions that make the difference.
#pragma once

#include "harness/counting/callgrind.hpp"
#include "harness/files/line_file.hpp"
#include "harness/trials/paired_trial.hpp"

namespace taskbench::harness {

/// Time limit of --explain, even if more of the budget is left.
inline constexpr double kMostExplaining_s = 120;

/// Counts the benchmarks of a trial. Keeps the profile of a process, so that a change is explained
/// without counting it again. Appends to the journal and to the trial; throws json::JournalError.
/// Returns early if a stop is requested.
class CountedTrial {
 public:
  using Progress = std::function<void(const std::string&)>;

  CountedTrial(const TrialPrograms& programs, const Bench& bench, Progress progress,
               LineFile& journal, model::PairedTrial& trial)
      : programs_(programs),
        bench_(bench),
        progress_(std::move(progress)),
        journal_(journal),
        trial_(trial) {}

  /// Counts what the setup asks for and the trial still lacks. A benchmark that cannot be counted
  /// is noted with the reason, and is not an error.
  ///
  /// With counts_instructions: each benchmark on each side in two processes, and in three more if
  /// these differ. With counts_first: as many benchmarks as kCountingShare of the budget allows, in
  /// one process of each side; if these differ, in another, which shows whether the counts repeat.
  /// Then explains the largest increases, at most kMostExplained benchmarks.
  void count(double budget_s);

  /// Explains why benchmarks of an ended trial fail: up to kMostExplained that are not explained
  /// yet, the worst failures first. Takes at most `left_s`, and kMostExplaining_s.
  void explain_failures(double left_s);

 private:
  /// One side of a benchmark.
  struct CountedSide {
    model::InstructionSample sample;
    std::optional<CallgrindCount> first{};  ///< the counts of one process
  };
  struct Pair {
    CountedSide base;
    CountedSide head;
  };

  static constexpr std::size_t kMostExplained = 2;

  void count_all_asked();
  void count_first(double budget_s);
  [[nodiscard]] std::string why_nothing_counts(double budget_s) const;
  [[nodiscard]] Pair pair_of(const std::string& benchmark) const;
  bool count_once(CountedSide& side);
  void count_repeatedly(CountedSide& side, std::size_t most);
  void count_in_turn(Pair& pair);
  void keep(Pair pair);
  void explain_moved();
  void explain(const std::string& benchmark, Pair& pair);
  void fill_in(Pair& pair, model::Explanation& explanation);
  void name_functions(const CallgrindCount& base, const CallgrindCount& head, bool has_moved,
                      model::Explanation& explanation);
  [[nodiscard]] double left_s() const { return end_s_ - seconds_since(start_); }

  const TrialPrograms& programs_;
  const Bench& bench_;
  Progress progress_;
  LineFile& journal_;
  model::PairedTrial& trial_;
  Clock::time_point start_ = Clock::now();
  double end_s_ = 0;  ///< in seconds after the start; no further process may run then
  Binutils binutils_{bench_};
  std::vector<Pair> moved_;  ///< the pairs whose counts differ
};

}  // namespace taskbench::harness
