// Runs a paired trial: block after block of fresh processes, each journaled, until every benchmark
// has its verdict or the budget is spent.
#pragma once

#include <functional>

#include "cli/names.hpp"
#include "reports/files/line_file.hpp"
#include "reports/model/paired.hpp"
#include "workloads/measure/program.hpp"

namespace taskbench::cli {

struct TrialPrograms {
  measure::Program base;
  measure::Program head;
};

/// A program that failed while it was measured, with whose it was and, when that is known, in which
/// benchmark.
class SideError : public measure::ProgramError {
 public:
  SideError(const std::string& what, model::Side side, std::string benchmark = {})
      : ProgramError(what), side_(side), benchmark_(std::move(benchmark)) {}
  [[nodiscard]] model::Side side() const { return side_; }
  [[nodiscard]] const std::string& benchmark() const { return benchmark_; }

 private:
  model::Side side_;
  std::string benchmark_;
};

/// How far a trial is.
struct TrialProgress {
  int blocks = 0;  ///< complete ones
  int max_blocks = 0;
  double spent_s = 0;  ///< of the budget
  double budget_s = 0;
  std::string now;  ///< "base", "head"
};

/// Runs each program once, not counted, to learn which benchmarks both have and how many iterations
/// theirs take; fills these into `setup`, beside what it holds already. Only those that `chosen`
/// means are run, as keep_chosen() understands it, where it means any; what fails in base, and what
/// cannot be judged, is noted and left out. `waiting` is called meanwhile.
/// Throws SideError, and ProgramError when they have nothing in common.
void explore(const TrialPrograms& programs, const Strings& chosen, const fs::path& scratch,
             double timeout_s, const std::stop_token& stop, model::PairedSetup& setup,
             const std::function<void()>& waiting = {});

/// Keeps the benchmarks of `setup` that the user has named, in full or by what they begin with up
/// to a slash; all of them when `chosen` is empty. Throws UsageError for a name that matches no
/// benchmark.
void keep_chosen(const Strings& chosen, model::PairedSetup& setup);

struct TrialLimits {
  double budget_s = 0;
  double timeout_s = 0;           ///< of one process
  bool ends_when_decided = true;  ///< or only by the budget and the number of blocks
};

/// In which benchmark the program of `side` fails, after it has: each is run alone, once. Empty
/// when that cannot be found out within a minute, and when it fails in every one.
[[nodiscard]] std::string failing_benchmark(const TrialPrograms& programs, model::Side side,
                                            const model::PairedSetup& setup,
                                            const fs::path& scratch, double timeout_s,
                                            const std::stop_token& stop);

/// Goes on with `trial` until it has an end or `stop` is set. Each sample is appended to the
/// journal and to the trial. Throws SideError and JournalError; the trial then holds what was
/// complete.
void run_trial(const TrialPrograms& programs, const fs::path& scratch, const TrialLimits& limits,
               const std::stop_token& stop,
               const std::function<void(const TrialProgress&)>& progress, files::LineFile& journal,
               model::PairedTrial& trial);

}  // namespace taskbench::cli
