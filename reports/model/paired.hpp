// The measured facts of a paired trial: two programs, blocks of fresh processes, one number for
// each process and benchmark. Plain values; see docs/design/measurement.md.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/drift.hpp"
#include "reports/model/machine_key.hpp"
#include "reports/model/sampling.hpp"

namespace taskbench::reports::model {

/// Version of the journal. Raised when a reader of the old version would misread the new one. Older
/// ones are read, too: version 1 has no judged CPU times and nothing of the machine; up to version
/// 2, programs of revisions ran in the current folder of taskbench; up to version 3, each process
/// measured all benchmarks.
inline constexpr int kJournalVersion = 4;

/// Processes in a block: two of each side.
inline constexpr int kBlockSize = 4;

// The limits that the options accept.
inline constexpr int kMostBlocks = 1000;
inline constexpr double kMostBudget_s = 24 * 3600;
inline constexpr int kMostLayouts = 64;

/// Default limit on the blocks of a trial: usually the budget or a decision ends it earlier.
inline constexpr int kDefaultMaxBlocks = kMostBlocks;
/// The same for a trial in parts, which is judged once all of them are measured.
inline constexpr int kDefaultMaxBlocksInParts = 256;

enum class Side { base, head };

[[nodiscard]] constexpr std::string_view name_of(Side side) {
  return side == Side::base ? "base" : "head";
}

inline constexpr Side kBothSides[] = {Side::base, Side::head};

/// The member of `both` for this side; `both` is anything with a base and a head.
template <class Both>
[[nodiscard]] auto& of(Both& both, Side side) {
  return side == Side::base ? both.base : both.head;
}

struct PairedProgram {
  std::string command;
  std::string digest;      ///< of the executable's bytes; empty if it could not be read
  std::string revision{};  ///< as the user named it; empty if the program was not built from one
  std::string commit{};    ///< of that revision, all forty digits
  /// Its working folder; for a revision, relative to the root of its checkout. Empty in older
  /// journals.
  std::string cwd{};
  std::string checkout{};  ///< of a revision: the folder of its build. Empty in older journals
  /// The executables that take turns, which differ in the order of their code; empty if there is
  /// only one.
  std::vector<std::string> layouts{};
  std::string one_layout{};  ///< of a revision: why there is only one, as a clause
};

/// The first twelve digits of a commit's hash, as messages and reports show it.
[[nodiscard]] inline std::string abbreviated(const std::string& commit) {
  return commit.substr(0, 12);
}

/// The programs of both sides in a folder, for many machines. Paths are relative to it.
struct BuiltPrograms {
  PairedProgram base;
  PairedProgram head;
  std::string identical;                     ///< why nothing was built, as a clause
  std::string reproduce;                     ///< PairedSetup::reproduce
  std::map<std::string, std::string> files;  ///< digests of the executables, and of --outputs
  std::vector<std::string> changed_files{};  ///< PairedSetup::changed_files
};

/// The noise floor on this machine, and its source.
struct NoiseFloor {
  double epsilon = 0;  ///< relative: 0.01 is 1 %
  std::string source;  ///< "calibrated 2026-11-21 on …", "assumed: …"

  [[nodiscard]] bool is_assumed() const { return source.starts_with("assumed"); }
};

/// A benchmark that is not compared, although neither program fails in it.
struct LeftOut {
  std::string name;
  std::string reason;  ///< a sentence without its full stop
};

/// The scope of the CPU time that a program reports for a benchmark.
enum class CpuTimeOf {
  process,      ///< all threads
  main_thread,  ///< as reported by a Google Benchmark without MeasureProcessCPUTime()
};

/// A metric that is judged on request, in addition to the times: one of the counters that processes
/// report.
struct JudgedMetric {
  std::string name;
  double delta = 0;  ///< the smallest relevant relative rise; a fall if more is better
  bool more_is_better = false;
  std::set<std::string> of{};       ///< the benchmarks for which both sides report it
  bool direction_is_given = false;  ///< by the user: overrides the program's statement

  bool operator==(const JudgedMetric&) const = default;
};

/// A part of a trial that is measured on many machines, or on one machine piece by piece. Part i of
/// n has every nth block of the plan, starting with the ith. No part knows of another.
struct TrialPart {
  int number = 0;  ///< from 1 to `of`
  int of = 0;
  std::string plan;            ///< digest of everything that all parts must share
  std::string machine;         ///< identifies a machine, even among others of its kind
  std::vector<KeyField> kind;  ///< what determines its speed: MachineKey::machine
  std::string host;
  std::string date;  ///< start, RFC 3339

  bool operator==(const TrialPart&) const = default;
};

/// The unit of observation in a trial whose parts are merged.
enum class Unit { block, machine };

/// Everything that the verdict depends on besides the samples. Fixed before the first block.
struct PairedSetup : Sampling {
  // Many short repetitions: on a busy machine a process loses its CPU for milliseconds at a time,
  // which affects some repetitions but not their median. The time goes into more processes instead.
  PairedSetup() : Sampling{.repetitions = 9, .min_time_s = 0.001} {}

  PairedProgram base;
  PairedProgram head;
  /// Chance of a false FAIL over all benchmarks and looks: separately for the wall times, for the
  /// CPU times, and for each metric in `judged`.
  double alpha = 0.01;
  double pass_error = 0.05;            ///< chance of a false PASS of one benchmark, over all looks
  double delta = 0.03;                 ///< the smallest change that matters, relative
  int max_blocks = kDefaultMaxBlocks;  ///< of each benchmark
  /// The kind of both programs; empty: taskbench, or programs that use Google Benchmark.
  std::string kind{};
  int links = 1;  ///< layouts of each side that is a revision, if it can be linked again
  bool counts_instructions = false;  ///< for each benchmark on each side, before the first block
  /// Without counts_instructions: counts what fits into a share of the budget, before the first
  /// block. Kinds of counts that repeat are then judged, and instructions are only shown.
  bool counts_first = false;
  std::vector<std::string> acknowledged;  ///< kinds of counts that may grow, or kInstructions
  std::vector<std::string> benchmarks;    ///< present on both sides, in base's order
  std::vector<std::string> only_base;     ///< benchmarks that cannot be compared
  std::vector<std::string> only_head;
  std::vector<std::string> failing_in_base;        ///< benchmarks without anything to compare with
  std::vector<LeftOut> left_out;                   ///< benchmarks of either side
  std::map<std::string, NoiseFloor> noise_floors;  ///< for each of `benchmarks`
  double budget_s = 0;                             ///< at the start of the trial; 0: not known
  int trials = 0;                                  ///< of a calibration; 0: not known
  double timeout_s = 0;                            ///< of a process; 0: not known
  double explored_s = 0;  ///< duration of the first runs, part of the budget; no results
  double process_s = 0;   ///< expected duration of a process with all benchmarks; 0: not known
  /// Patterns of benchmarks that come first if there is no time for all.
  std::vector<std::string> changed_first;
  /// The names, without folder and extension, of the files in which two revisions differ:
  /// benchmarks with similar names also come first. Empty if there are too many to be of any help.
  std::vector<std::string> changed_files{};
  bool fits_budget = false;  ///< repetitions and min_time_s are chosen to fit
  /// The benchmarks whose CPU time is also judged; empty in older journals.
  std::map<std::string, CpuTimeOf> cpu_time_of;
  std::vector<JudgedMetric> judged{};
  std::string reproduce;            ///< the command that repeats this elsewhere
  std::optional<TrialPart> part{};  ///< if this is a part of a trial
  std::string identical{};          ///< of a part: why nothing is measured, as a clause
  // Members of a trial whose parts are merged:
  std::vector<TrialPart> parts{};  ///< by their numbers
  int rounds = 0;           ///< number of looks, each a block of each part after the one before
  Unit unit = Unit::block;  ///< of the verdict
};

/// The results of one process.
struct ProcessSample {
  int block = 0;     ///< of the trial, or of its part, from 0
  int position = 0;  ///< in the block, from 0 to 3
  Side side = Side::base;
  double took_s = 0;  ///< since the previous process; spends the budget
  /// Per iteration: the median over the repetitions, for the benchmarks of its block.
  std::map<std::string, double> real_ns;
  /// Medians per iteration: CPU time, context switches, the scheduler's counters.
  std::map<std::string, std::map<std::string, double>> counters;
  std::optional<MachineUse> machine;  ///< while it ran; an older journal has none
  int part = 0;                       ///< of a merged trial: the number of its part
  int layout = 0;                     ///< which of its side's layouts; older journals say 0
};

/// The name that stands for the instructions among the kinds of counts.
inline constexpr const char* kInstructions = "instructions";

/// The instructions of one benchmark on one side, counted in separate runs.
struct InstructionSample {
  Side side = Side::base;
  std::string benchmark;
  /// Counts per iteration, one for each process under callgrind; if empty, the reason is below.
  std::vector<double> per_iteration;
  std::string unavailable;
  /// Counts per iteration of each recognised kind, as many as above: "fences" and so on. Missing in
  /// an older journal.
  std::map<std::string, std::vector<double>> kinds{};
  std::string no_kinds{};  ///< why kinds of instructions are missing; empty if none is
  double took_s = 0;       ///< of the budget; 0 if counted in addition to it
};

/// Why benchmarks lack counts that were not requested explicitly.
struct Uncounted {
  std::string reason;  ///< a clause; empty: none is missing, or counting is still in progress
  double took_s = 0;   ///< of the budget, spent on that
};

/// A function that executes more instructions in head, including the functions of the system's
/// libraries that it calls. Per iteration.
struct GrownFunction {
  std::string function;  ///< shortened for readers
  std::string file{};    ///< place of the largest growth; empty without debug information
  int line = 0;
  double base = 0;
  double head = 0;
  double base_calls = 0;  ///< 0 also for an inlined function
  double head_calls = 0;
};

/// Executed instructions or calls of one kind, per iteration.
struct MovedKind {
  std::string kind;
  double base = 0;
  double head = 0;
  std::string function{};  ///< with the largest increase; empty if that is the system's
  std::string file{};      ///< empty if the program has no debug information
  int line = 0;
};

/// Why a benchmark fails, judging by its instructions: counts from a separate pass after the trial.
struct Explanation {
  std::string benchmark;
  double base = 0;  ///< instructions per iteration; 0 if not counted
  double head = 0;
  double scatter = 0;  ///< relative: the largest difference between two counts of one side
  std::vector<GrownFunction> functions;  ///< at most three, largest growth first
  std::vector<MovedKind> kinds;
  std::string unavailable;  ///< why nothing was counted; otherwise empty
  double took_s = 0;        ///< of the budget
};

/// The reason why no further block was begun.
enum class TrialEnd { decided, budget, blocks };

/// Why there is nothing to judge.
struct PairedFailure {
  enum class Stage {
    build,    ///< a revision could not be built
    start,    ///< a program is missing, or fails when asked for its benchmarks
    measure,  ///< a program failed while it was measured
    compare,  ///< the programs have nothing in common
  };
  Stage stage = Stage::measure;
  std::optional<Side> side{};        ///< whose program it was
  std::string benchmark{};           ///< that it failed in; empty if not known
  std::string message{};             ///< a sentence that names the program or revision
  std::vector<std::string> lines{};  ///< the last lines of the build's log
};

/// The number in the whole plan of a block of a trial, or of its part.
[[nodiscard]] inline int planned_block(const PairedSetup& setup, int block) {
  return setup.part ? block * setup.part->of + setup.part->number - 1 : block;
}

/// How many blocks a trial, or its part, may have.
[[nodiscard]] inline int most_blocks(const PairedSetup& setup) {
  if (!setup.part) return setup.max_blocks;
  return (setup.max_blocks - setup.part->number) / setup.part->of + 1;
}

struct PairedTrial {
  PairedSetup setup;
  /// If requested by the setup; for each benchmark, base's counts precede head's. Without
  /// counts_instructions, benchmarks may be missing: `uncounted` gives the reason.
  std::vector<InstructionSample> instructions;
  Uncounted uncounted{};
  std::vector<ProcessSample> samples;       ///< in the order of block and position, without gaps
  std::optional<TrialEnd> end;              ///< empty: it can be continued
  std::vector<Explanation> explanations{};  ///< of failures, if there was time for them

  [[nodiscard]] bool complete() const { return end.has_value(); }
};

}  // namespace taskbench::reports::model
