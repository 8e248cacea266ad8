// Counts the instructions of both programs of a paired trial, before its first block.
#pragma once

#include <functional>

#include "cli/names.hpp"
#include "cli/trials/paired_trial.hpp"
#include "reports/files/line_file.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::cli {

/// Counts what `trial` still lacks, if its setup asks for counts: each benchmark on each side by
/// `taskbench run --counters instructions-exact`. Each is appended to the journal and to the trial;
/// what cannot be counted with the reason, which is no error. Returns early when `stop` is set.
/// Throws JournalError.
void count_instructions(const TrialPrograms& programs, const fs::path& scratch, double timeout_s,
                        const std::stop_token& stop,
                        const std::function<void(const std::string&)>& progress,
                        files::LineFile& journal, model::PairedTrial& trial);

}  // namespace taskbench::cli
