// Runs a paired trial: block after block of fresh processes, each journaled, until every benchmark
// has its verdict or the budget is spent.
#pragma once

#include "harness/files/line_file.hpp"
#include "harness/files/names.hpp"
#include "harness/programs/measured_process.hpp"
#include "harness/programs/program.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::harness {

/// The share of the budget for counting that the user has not asked for, and the smallest budget
/// for which this share suffices to count anything.
inline constexpr double kCountingShare = 0.2;
inline constexpr double kLeastBudgetToCount_s = 30;

/// The two programs. Each may have several layouts, which take turns in the blocks; questions and
/// counts use the program itself.
struct TrialPrograms {
  Program base;
  Program head;
};

/// A program that failed while it was measured: its side and, if known, the benchmark.
struct SideError : BenchmarkError {
  SideError(const std::string& what, model::Side failing_side, const std::string& failing)
      : BenchmarkError(what, failing), side(failing_side) {}
  model::Side side;
};

/// Runs each program once, without counting the run, to find the benchmarks that both have and
/// their iterations, and adds these to `setup`. Runs only the benchmarks that `chosen` selects, in
/// the sense of keep_chosen(), if it selects any. Benchmarks that fail in base or cannot be judged
/// are noted and left out. Calls `waiting` meanwhile, with the total time so far. Throws SideError,
/// and ProgramError if the programs have nothing in common.
void explore(const TrialPrograms& programs, const Strings& chosen, const Bench& bench,
             model::PairedSetup& setup, const std::function<void(double elapsed_s)>& waiting = {});

/// Keeps the benchmarks of `setup` that the user has named, in full or by a prefix that ends before
/// a slash; all if `chosen` is empty. Throws UsageError for a name that matches no benchmark.
void keep_chosen(const Strings& chosen, model::PairedSetup& setup);

/// The benchmark in which the program of `side` fails, found after a failure by running each
/// benchmark alone, once. Empty if that takes more than a minute, or if every one fails.
[[nodiscard]] std::string failing_benchmark(const TrialPrograms& programs, model::Side side,
                                            const model::PairedSetup& setup, const Bench& bench);

/// Continues `trial` until it ends or a stop is requested. If `ends_when_decided`, it ends when
/// everything is decided; otherwise, with the budget or the number of blocks. Calls `progress`
/// before each process. Appends each sample to the journal and to the trial. Throws SideError and
/// json::JournalError; the trial then holds all complete samples.
void run_trial(const TrialPrograms& programs, const Bench& bench, double budget_s,
               bool ends_when_decided, const std::function<void()>& progress, LineFile& journal,
               model::PairedTrial& trial);

}  // namespace taskbench::harness
