// Runs several fresh processes of one program, one after the other, with the canary between them.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "reports/model/baseline.hpp"
#include "workloads/measure/program.hpp"

namespace taskbench::cli {

/// Whose processes, and how long each may take.
struct SeriesProgram {
  workloads::measure::Program program;
  std::string command;  ///< as given; empty: the running taskbench
  double timeout_s = 0;
};

/// The program of the command; of an empty one this taskbench itself. Throws UsageError.
[[nodiscard]] SeriesProgram series_program(const std::string& command, double timeout_s,
                                           const std::atomic<bool>& stop);

/// Fills in what a series is of: the program, the date, the key. Runs the program once, not
/// counted, to learn its benchmarks, their iterations, and how it was built. Throws ProgramError
/// and reports::json::ReadError.
void explore(const SeriesProgram& program, const std::filesystem::path& scratch,
             const std::atomic<bool>& stop, reports::model::SeriesSetup& setup);

struct SeriesCallbacks {
  std::function<void(std::size_t done)> begun;  ///< before each process
  std::function<void(const reports::model::SeriesProcess& process, std::size_t number)> measured;
};

/// Goes on with the series until it is complete or `stop` is set. Measures `benchmarks`, which are
/// among those of its setup. Throws ProgramError and ReadError, and what the callbacks throw; the
/// series then holds what was complete.
void run_series(const SeriesProgram& program, const std::vector<std::string>& benchmarks,
                const std::filesystem::path& scratch, const std::atomic<bool>& stop,
                const SeriesCallbacks& callbacks, reports::model::Series& series);

}  // namespace taskbench::cli
