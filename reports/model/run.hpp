// The measured facts of one run, before any statistics or formatting: from `taskbench run`, or from
// any result file of Google Benchmark, which contains less.
//
// Plain values without behaviour: all readers, renderers and statistics of reports/ use them. Units
// are in the names. A quantity that could not be measured is an empty optional, with the reason
// next to it; it is never zero.
#pragma once

#include <array>
#include <boost/container/flat_map.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/drift.hpp"

namespace taskbench::reports::model {

/// Version of the `taskbench` object in the JSON files. Raised when a reader of the old version
/// would misread the new one; docs/schema/ holds one JSON Schema per version.
inline constexpr int kSchemaVersion = 1;

/// One cache level as Google Benchmark's context describes it.
struct Cache {
  std::string type;  ///< "Data", "Instruction" or "Unified"
  int level = 0;
  std::int64_t size_bytes = 0;
  int num_sharing = 0;  ///< how many CPUs share it
};

/// The machine and software of a run. Empty strings and optionals mean "unknown".
struct Environment {
  std::string date;  ///< RFC 3339, local time with offset
  std::string host_name;
  std::string executable;
  int cpu_count = 0;
  std::int64_t cpu_mhz = 0;
  std::optional<bool> cpu_scaling_enabled;
  std::optional<bool> aslr_enabled;
  std::vector<Cache> caches;
  std::vector<double> load_avg;
  std::string benchmark_library_version;
  std::string benchmark_library_build_type;

  std::string cpu_model;
  std::string cpu_microcode;
  std::string cpu_governor;
  std::optional<bool> smt_active;
  std::string kernel;      ///< uname -sr
  std::string hypervisor;  ///< "none", "kvm", "xen", …; empty if unknown
  std::string compiler;    ///< id and version
  std::string compiler_flags;
  std::string build_type;
  std::string git_commit;  ///< of the sources; with "-dirty" if they were changed
  std::string taskbench_version;
  std::string workloads_version;  ///< times with another version are not comparable
  std::int64_t memory_bytes = 0;
};

/// A text of the environment that Google Benchmark's context has no place for.
struct EnvironmentText {
  const char* key;         ///< in files
  std::string_view title;  ///< for readers
  std::string Environment::*text;
};
inline constexpr std::size_t kMachineTexts = 5;
/// The environment's texts, those about the machine first.
inline constexpr std::array<EnvironmentText, 10> kEnvironmentTexts{{
    {"cpu_model", "CPU", &Environment::cpu_model},
    {"cpu_microcode", "microcode", &Environment::cpu_microcode},
    {"cpu_governor", "frequency governor", &Environment::cpu_governor},
    {"kernel", "kernel", &Environment::kernel},
    {"hypervisor", "hypervisor", &Environment::hypervisor},
    {"compiler", "compiler", &Environment::compiler},
    {"compiler_flags", "compiler flags", &Environment::compiler_flags},
    {"build_type", "build type", &Environment::build_type},
    {"workloads_version", "version of the workloads", &Environment::workloads_version},
    {"git_commit", "git commit", &Environment::git_commit},
}};

// Context switches of the process per iteration, among the counters of a repetition.
inline constexpr const char* kVoluntarySwitches = "voluntary_switches";
inline constexpr const char* kInvoluntarySwitches = "involuntary_switches";  ///< by the kernel

/// How long the threads of the process waited for a CPU while runnable, per iteration. Wall time
/// that is neither this nor CPU time was sleep. Missing if the kernel does not report it.
inline constexpr const char* kQueuedTime = "queued_ns";

/// Numbers by name. Result files have millions of counters, and a std::map would take twice as much
/// memory as their text.
using Counters = boost::container::flat_map<std::string, double, std::less<>>;

/// One repetition of one case: Google Benchmark's unit of timing, many iterations long.
struct Repetition {
  std::int64_t index = 0;
  std::int64_t iterations = 0;
  double real_ns = 0;  ///< wall time per iteration
  double cpu_ns = 0;   ///< CPU time of the whole process per iteration; 0 if not known
  /// Counters per iteration, by name: context switches, and the scheduler's. The tables show
  /// "steals", "parks", "wakeups" and "overflows"; the JSON and CSV files contain all.
  Counters counters{};
};

/// The event that callgrind counts, on a scheduler that does the same in every run.
inline constexpr const char* kInstructionsExact = "instructions-exact";

/// The counts of one hardware or software event in the separate pass over a case.
struct EventCount {
  std::string event;  ///< the tool's name for it, without a modifier that the tool has added
  std::string unit;   ///< "ns"; empty: it is a plain count
  /// Values per iteration, one for each counting process; if empty, the reason is below.
  std::vector<double> per_iteration;
  /// The least share of the time during which the event was on a counter, if the tool reports it;
  /// below 1 the values are extrapolated.
  std::optional<double> counted_share;
  bool user_only = false;   ///< excludes the kernel's work for the program
  std::string unavailable;  ///< why there are no values, or fewer than processes; otherwise empty
};

/// The pass that counted events: its tool and number of processes.
struct CounterPass {
  std::string tool;  ///< "perf version 6.1.192"; empty if there is none
  std::vector<std::string> requested;
  int processes = 0;        ///< for each case, if all succeed
  std::string unavailable;  ///< why perf counted nothing; otherwise empty

  friend bool operator==(const CounterPass&, const CounterPass&) = default;
};

/// A load generator for a server.
struct Load {
  std::string name;
  std::string version;

  friend bool operator==(const Load&, const Load&) = default;
};

/// One workload on one scheduler with one worker count and one set of parameters; or another
/// program's benchmark, which has only a name.
struct Case {
  /// Google Benchmark's run_name, e.g. "chained_spawn/work_stealing/workers:2"; unique within the
  /// run.
  std::string name;
  std::string workload;
  std::string scheduler;
  int workers = 0;
  std::map<std::string, std::uint64_t> parameters;
  std::uint64_t operations = 0;  ///< elementary operations per iteration
  std::string operation;         ///< its name: "spawn", "yield", …
  std::vector<Repetition> repetitions;
  /// Names of counters that are not counts but the workload's own observations, such as
  /// "all_busy_ns". Their values do not depend on how much an iteration does; a name that ends in
  /// "_ns" is a time.
  std::set<std::string> observed{};
  std::optional<Load> load{};  ///< in place of the workload's own clients
  std::string error;  ///< why the case failed, which invalidates its numbers; empty: it did not
  bool load_failed = false;  ///< its load generator did not work
  /// Why the repetitions lack context switches; empty if these were measured.
  std::string switches_unavailable;
  std::vector<EventCount> events{};  ///< from the separate pass for --counters
  // Facts that only files tell:
  bool has_aggregates = false;  ///< there were rows of mean, median and so on, too, or only those
  bool skipped = false;         ///< the program intended this error: it is not a failure
  std::string unusable{};       ///< the fault of its rows; see UnusableRows::noted
  double step_ns = 0;  ///< between two times, by the last digit that is printed; 0: not known

  [[nodiscard]] bool has_samples() const { return !repetitions.empty() && error.empty(); }
};

/// The settings of the run.
struct Settings {
  std::int64_t repetitions = 0;
  double min_time_s = 0;
  double warmup_s = 0;
  std::optional<double> time_budget_s;
  std::optional<std::uint64_t> seed{};  ///< for the schedulers and for the order
  bool pinned = false;
  std::vector<std::string> command_line;
  /// Of another program: how many fresh processes of it ran, each of which is a repetition of the
  /// result, with the medians of its own; and its kind. 0 and empty: taskbench measured by itself.
  int processes = 0;
  std::string kind{};
};

struct Run {
  Environment environment;
  Settings settings;
  std::vector<Case> cases;
  bool partial = false;   ///< ended early: some of the requested repetitions are missing
  std::string failure{};  ///< how its program failed, which ended it early; not in any file
  std::optional<CounterPass> counter_pass{};  ///< empty: not requested
  Drift drift{};                              ///< how the machine changed meanwhile
  std::optional<double> queued_s{};  ///< time that its process waited for a CPU; not in any file
  /// Counters for which the program says whether more is better, with its statements, which may be
  /// contradictory. Not in any file.
  std::map<std::string, std::set<bool>> more_is_better{};
};

}  // namespace taskbench::reports::model
