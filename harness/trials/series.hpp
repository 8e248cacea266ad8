// Runs several fresh processes of one program, one after the other, with the canary between them.
#pragma once

#include "harness/trials/line_file.hpp"
#include "harness/trials/measured_process.hpp"
#include "harness/trials/names.hpp"
#include "reports/model/baseline.hpp"

namespace taskbench::harness {

/// How a series is measured, besides what its setup says.
struct SeriesRun {
  bool keeps_all = false;               ///< also processes during which the host moved the CPUs
  std::optional<double> place_ns = {};  ///< where the CPUs have to be; empty: where they were first
};

class SeriesProgram {
 public:
  /// The program of `command`; this taskbench if that is empty. `timeout_s` is for each process.
  /// Throws UsageError and ProgramError.
  SeriesProgram(std::string command, double timeout_s, const std::stop_token& stop);

  /// Fills in what a series is of: the program, the date, the key. Runs the program once, without
  /// counting it, to learn its benchmarks, their iterations, and how it was built. Throws
  /// ProgramError.
  void explore(const Listener& listener, model::SeriesSetup& setup) const;

  /// Throws UsageError unless machine, canary and program are those that the journal was started
  /// with.
  void refuse_changed(const fs::path& journal, const model::SeriesSetup& setup) const;

  /// Continues the series until it is complete or told to stop: each process is in the journal
  /// before the next begins. A process for which the host had moved the CPUs is set aside and
  /// another is run, but only as often as the series has processes; after that all count, and the
  /// verdict says that the CPUs were moved. Throws ProgramError and json::JournalError; the series
  /// then holds what was complete.
  void run(const SeriesRun& how, const Listener& listener, LineFile& journal,
           model::Series& series) const;

 private:
  std::string command_;  ///< as given
  Bench bench_;
  Program program_;
};

}  // namespace taskbench::harness
