// A stored baseline: the results of several fresh processes of one program, with the canary between
// them. Plain values; see docs/design/baselines.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/fact.hpp"
#include "reports/model/machine_key.hpp"
#include "reports/model/paired.hpp"
#include "reports/model/sampling.hpp"

namespace taskbench::reports::model {

/// Version of the baseline's file and of its journal. Raised when a reader of the old version would
/// misread the new one; docs/schema/ holds one JSON Schema per version.
inline constexpr int kBaselineVersion = 2;

/// The smallest number of processes of a baseline: fewer do not show their spread.
inline constexpr int kMinBaselineProcesses = 7;

/// The times of one pass of the canary (harness/machine/canary.hpp), which always does the same
/// work.
struct CanaryTimes {
  double cpu_ns = 0;
  double memory_ns = 0;
  double futex_ns = 0;
  std::optional<double> handover_ns{};  ///< empty if there is only one CPU

  friend bool operator==(const CanaryTimes&, const CanaryTimes&) = default;
};

/// The basis of a comparison: everything that a verdict depends on besides the series. Only in a
/// comparison's journal.
struct ComparedWith {
  std::string rolling;  ///< digests of the stored files
  std::string anchor;   ///< empty: there was no anchor
  double alpha = 0;
  double delta = 0;
  bool allow_busy = false;  ///< judged although others used the CPUs
  std::map<std::string, NoiseFloor> noise_floors;
};

/// The settings of a measurement. Fixed before the first process begins.
struct SeriesSetup : Sampling {
  std::string name;     ///< of the baseline
  std::string command;  ///< of the program; empty: the taskbench that measured
  std::string kind;     ///< of the program, as --kind said; empty: it is recognised
  std::string digest;   ///< of its executable's bytes; empty if it could not be read
  std::string commit;   ///< of the sources; empty if unknown
  std::string date;     ///< RFC 3339, of the start
  MachineKey key;
  int processes = 0;
  std::vector<std::string> benchmarks;
  std::vector<std::string> unmeasured;        ///< left out by the series; not stored
  std::optional<ComparedWith> compared_with;  ///< not stored
};

/// The times of one process.
struct SeriesProcess {
  CanaryTimes before;  ///< immediately before it; between two processes the canary is timed once
  CanaryTimes after;
  std::map<std::string, double> real_ns;  ///< per iteration: median over the repetitions
  Fact<CpuUse> use{};
};

struct Series {
  SeriesSetup setup;
  std::vector<SeriesProcess> processes;
  /// How often setup.processes are measured, with pauses between: more than once if a comparison
  /// does not pass at first.
  int rounds = 1;

  [[nodiscard]] std::size_t wanted() const {
    return static_cast<std::size_t>(setup.processes) * static_cast<std::size_t>(rounds);
  }
  [[nodiscard]] bool complete() const { return processes.size() == wanted(); }
};

/// The two baselines that are stored under one name: the newest, and a fixed one that reveals slow
/// drift.
enum class BaselineRole { rolling, anchor };

[[nodiscard]] constexpr std::string_view name_of(BaselineRole role) {
  return role == BaselineRole::rolling ? "baseline" : "anchor";
}

}  // namespace taskbench::reports::model
