// What is counted of a paired trial, exactly, besides its times: instructions and their kinds
// before the first block, and after a failure the functions that make the difference.
#pragma once

#include <functional>
#include <string>

#include "harness/trials/line_file.hpp"
#include "harness/trials/paired_trial.hpp"

namespace taskbench::harness {

/// Counts the instructions that `trial` still lacks, if its setup asks for them: each benchmark on
/// each side, in two processes, and in three more if these differ. Appends each count to the
/// journal and to the trial; if one is impossible, the reason, which is no error. Returns early if
/// told to stop. Throws json::JournalError.
void count_instructions(const TrialPrograms& programs, const Bench& bench,
                        const std::function<void(const std::string&)>& progress, LineFile& journal,
                        model::PairedTrial& trial);

/// The longest time that explaining takes, even if more is left of the budget.
inline constexpr double kMostExplaining_s = 120;

/// Explains why benchmarks of an ended trial fail: of those that failed by most, two. Takes at most
/// `left_s`, and kMostExplaining_s. Appends each explanation to the journal and to the trial, or
/// why there is none, which is no error. Returns early if told to stop. Throws json::JournalError.
void explain_failures(const TrialPrograms& programs, const Bench& bench, double left_s,
                      const std::function<void(const std::string&)>& progress, LineFile& journal,
                      model::PairedTrial& trial);

}  // namespace taskbench::harness
