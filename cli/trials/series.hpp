// Runs several fresh processes of one program, one after the other, with the canary between them.
#pragma once

#include "cli/names.hpp"
#include "reports/files/line_file.hpp"
#include "reports/model/baseline.hpp"
#include "workloads/measure/program.hpp"

namespace taskbench::cli {

/// Whose processes, and how long each may take.
struct SeriesProgram {
  measure::Program program;
  std::string command;  ///< as given; empty: the running taskbench
  double timeout_s = 0;
};

/// The program of the command; of an empty one this taskbench itself. Throws UsageError
/// and ProgramError.
[[nodiscard]] SeriesProgram series_program(const std::string& command, double timeout_s,
                                           const std::stop_token& stop);

/// Fills in what a series is of: the program, the date, the key. Runs the program once, not
/// counted, to learn its benchmarks, their iterations, and how it was built. Throws ProgramError
/// and json::ReadError.
void explore(const SeriesProgram& program, const fs::path& scratch, const std::stop_token& stop,
             model::SeriesSetup& setup);

/// What the journal was started with must be what goes on: the machine, the canary and the program.
/// Throws UsageError.
void refuse_changed(const fs::path& journal, const model::SeriesSetup& setup,
                    const SeriesProgram& program);

/// How a series is measured, besides what its setup says.
struct SeriesRun {
  bool quiet = false;
  bool keeps_all = false;               ///< also processes during which the host moved the CPUs
  std::optional<double> place_ns = {};  ///< where the CPUs have to be; empty: where they were first
};

/// Goes on with the series until it is complete or `stop` is set: each process is in the journal
/// before the next is begun. One for which the host had the CPUs elsewhere is set aside, and
/// another is run, but no more than the series has: then all count, and their verdict says that the
/// CPUs were moved. Throws ProgramError, ReadError and JournalError; the series then holds what was
/// complete.
void run_series(const SeriesProgram& program, const fs::path& scratch, const std::stop_token& stop,
                const SeriesRun& run, files::LineFile& journal, model::Series& series);

}  // namespace taskbench::cli
