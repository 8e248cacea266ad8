// What is counted of a paired trial, exactly, besides its times: instructions and their kinds
// before the first block, and which functions make the difference.
#pragma once

#include "harness/trials/callgrind.hpp"
#include "harness/trials/line_file.hpp"
#include "harness/trials/paired_trial.hpp"
#include "reports/verdict/exact.hpp"

namespace taskbench::harness {

/// The longest time that --explain takes, even if more is left of the budget.
inline constexpr double kMostExplaining_s = 120;

/// Counts the benchmarks of a trial, and keeps what a process executed, so that what has changed is
/// explained without counting it again. Appends to the journal and to the trial; throws
/// json::JournalError. Returns early if told to stop.
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

  /// Counts what the setup asks for and the trial still lacks. What could not be counted is noted
  /// with its reason, which is no error.
  ///
  /// With counts_instructions: each benchmark on each side, in two processes, and in three more if
  /// these differ. With counts_first: what kCountingShare of the budget is enough for; one process
  /// of each side, and if these differ another, which shows whether the counts repeat. Then
  /// explains what has grown most, at most kMostExplained benchmarks.
  void count(double budget_s);

  /// Explains why benchmarks of an ended trial fail: of those that failed by most and are not
  /// explained yet, kMostExplained. Takes at most `left_s`, and kMostExplaining_s.
  void explain_failures(double left_s);

 private:
  /// One side of a benchmark.
  struct CountedSide {
    model::InstructionSample sample;
    std::optional<CallgrindCount> first{};  ///< what one process executed
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
  double end_s_ = 0;  ///< after the start, when no further process may run
  Binutils binutils_{bench_};
  std::vector<Pair> moved_;  ///< whose counts differ
};

}  // namespace taskbench::harness
