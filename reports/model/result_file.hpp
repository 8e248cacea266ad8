// A result file of Google Benchmark, ours or anybody's, as it was read. Plain values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/model/drift.hpp"
#include "reports/model/event_count.hpp"

namespace taskbench::reports::model {

struct ResultRepetition {
  std::int64_t iterations = 0;
  double real_ns = 0;  ///< per iteration
  double cpu_ns = 0;   ///< per iteration
  std::map<std::string, double> counters;
};

struct Benchmark {
  std::string run_name;  ///< the name without what a repetition or an aggregate adds to it
  std::vector<ResultRepetition> repetitions;
  bool has_aggregates = false;       ///< rows of mean, median and so on were there, too, or alone
  std::string error;                 ///< why the program gave it no result; empty when it did
  bool skipped = false;              ///< it was the program's will: that is no failure
  std::string unusable{};            ///< what is wrong with its rows, where that was to be noted
  std::vector<EventCount> events{};  ///< of our own files that --counters made
  /// Of our own files; empty, or 0, where the file does not tell.
  std::string workload{};
  std::string scheduler{};
  int workers = 0;
  std::uint64_t operations = 0;  ///< elementary operations per iteration
  std::string operation{};       ///< what one is: "spawn", "yield"

  [[nodiscard]] bool has_samples() const { return !repetitions.empty() && error.empty(); }
};

struct ResultFile {
  std::string host_name;  ///< empty where the file does not tell, as all of these
  std::string executable;
  std::string date;
  std::int64_t cpu_count = 0;
  double cpu_mhz = 0;
  std::string library_version;     ///< of Google Benchmark, from 1.8 on
  std::string library_build_type;  ///< "release" or "debug"
  /// Of our own files: "cpu_model", "kernel", "compiler" and so on.
  std::map<std::string, std::string> environment;
  bool partial = false;                   ///< ours, and interrupted
  std::vector<double> load_avg;           ///< of 1, 5 and 15 minutes, when it was begun
  bool cpu_scaling_enabled = false;       ///< the clock rate could change
  std::string taskbench_version;          ///< of our own files
  std::vector<std::string> command_line;  ///< of our own files
  std::optional<std::uint64_t> seed;      ///< of our own files: of the schedulers, and of the order
  Drift drift;  ///< of our own files: what moved meanwhile, all unknown where they do not tell
  std::vector<Benchmark> benchmarks;  ///< in the order in which they first appear
};

}  // namespace taskbench::reports::model
