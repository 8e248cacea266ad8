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

// The most that the options accept.
inline constexpr int kMostBlocks = 1000;
inline constexpr double kMostBudget_s = 24 * 3600;

/// Most blocks of a trial, by default: the budget ends it earlier, or it is decided.
inline constexpr int kDefaultMaxBlocks = kMostBlocks;
/// The same of a trial in parts, which is judged once all of them are measured.
inline constexpr int kDefaultMaxBlocksInParts = 256;

enum class Side { base, head };

[[nodiscard]] constexpr std::string_view name_of(Side side) {
  return side == Side::base ? "base" : "head";
}

struct PairedProgram {
  std::string command;
  std::string digest;      ///< of the executable's bytes; empty when it could not be read
  std::string revision{};  ///< as the user named it, if the program was built from one; else empty
  std::string commit{};    ///< of that revision, all forty digits
  /// The folder that it runs in; for a revision, relative to the root of its checkout. Empty in
  /// older journals.
  std::string cwd{};
  std::string checkout{};  ///< of a revision: the folder that it was built in. Empty in older ones
  /// The executables that take turns, which differ in the order of their code; empty if there is
  /// one only.
  std::vector<std::string> layouts{};
  std::string one_layout{};  ///< of a revision: why there is one only, as a clause
};

/// The programs of both sides in a folder, for many machines. Paths are relative to it.
struct BuiltPrograms {
  PairedProgram base;
  PairedProgram head;
  std::string identical;                     ///< why nothing was built, as a clause
  std::string reproduce;                     ///< PairedSetup::reproduce
  std::map<std::string, std::string> files;  ///< digests of the executables
  std::vector<std::string> changed_files{};  ///< PairedSetup::changed_files
};

/// How small a difference is noise on this machine, and where that is known from.
struct NoiseFloor {
  double epsilon = 0;  ///< relative: 0.01 is 1 %
  std::string source;  ///< "calibrated 2026-11-21 on …", "assumed: …"

  [[nodiscard]] bool is_assumed() const { return source.starts_with("assumed"); }
};

/// A benchmark that is not compared, though neither program fails in it.
struct LeftOut {
  std::string name;
  std::string reason;  ///< a sentence without its full stop
};

/// Whose CPU time a program reports for a benchmark.
enum class CpuTimeOf {
  process,      ///< all threads
  main_thread,  ///< as a Google Benchmark program reports without MeasureProcessCPUTime()
};

/// A metric that is judged beside the times, because somebody asks for that: one of the counters
/// that processes report.
struct JudgedMetric {
  std::string name;
  double delta = 0;  ///< the smallest rise that matters, relative, or fall if more is better
  bool more_is_better = false;
  std::set<std::string> of{};       ///< the benchmarks of which both sides report it
  bool direction_is_given = false;  ///< by the user: what the program says does not count

  bool operator==(const JudgedMetric&) const = default;
};

/// A part of a trial that is measured on many machines, or on one bit by bit. Part i of n has each
/// nth block of the plan, from the ith on. No part knows of another.
struct TrialPart {
  int number = 0;  ///< from 1 to `of`
  int of = 0;
  std::string plan;            ///< digest of all that must be equal in all parts
  std::string machine;         ///< tells one machine from another, of the same kind, too
  std::vector<KeyField> kind;  ///< what decides how fast it is: MachineKey::machine
  std::string host;
  std::string date;  ///< when it began, RFC 3339

  bool operator==(const TrialPart&) const = default;
};

/// What is taken as one observation of a trial whose parts are merged.
enum class Unit { block, machine };

/// Everything that the verdict depends on besides the samples. Fixed before the first block.
struct PairedSetup : Sampling {
  // Many short repetitions: on a busy machine a process loses its CPU for milliseconds at a time,
  // which some repetitions meet, and their median does not. The time goes into more processes.
  PairedSetup() : Sampling{.repetitions = 9, .min_time_s = 0.001} {}

  PairedProgram base;
  PairedProgram head;
  /// Chance of a false FAIL over all benchmarks and looks: of the wall times, again of the CPU
  /// times, and again of each metric in `judged`.
  double alpha = 0.01;
  double pass_error = 0.05;            ///< chance of a false PASS of one benchmark, over all looks
  double delta = 0.03;                 ///< the smallest change that matters, relative
  int max_blocks = kDefaultMaxBlocks;  ///< of each benchmark
  /// What both programs are; empty: taskbench, or programs that use Google Benchmark.
  std::string kind{};
  int links = 1;  ///< layouts of each side that is a revision, where it can be linked again
  bool counts_instructions = false;  ///< for each benchmark on each side, before the first block
  /// Unless the instructions are counted: counts what a share of the budget is enough for, before
  /// the first block. Kinds of counts that repeat are judged then, and instructions are only shown.
  bool counts_first = false;
  std::vector<std::string> acknowledged;  ///< kinds of counts that may grow; kInstructions, too
  std::vector<std::string> benchmarks;    ///< that both sides have, in base's order
  std::vector<std::string> only_base;     ///< benchmarks that cannot be compared
  std::vector<std::string> only_head;
  std::vector<std::string> failing_in_base;        ///< benchmarks with nothing to compare with
  std::vector<LeftOut> left_out;                   ///< benchmarks of either side
  std::map<std::string, NoiseFloor> noise_floors;  ///< for each of `benchmarks`
  double budget_s = 0;                             ///< when the trial began; 0: not known
  int trials = 0;                                  ///< of a calibration; 0: not known
  double timeout_s = 0;                            ///< of a process; 0: not known
  double explored_s = 0;  ///< of the budget: what the first runs took, which nothing counts of
  double process_s = 0;   ///< that a process of all benchmarks should take; 0: not known
  /// Patterns of benchmarks that come first where there is no time for all.
  std::vector<std::string> changed_first;
  /// The names, without folder and extension, of the files in which two revisions differ:
  /// benchmarks that are called like one of them come first, too. Empty if they are too many to
  /// point anywhere.
  std::vector<std::string> changed_files{};
  bool fits_budget = false;  ///< repetitions and min_time_s are chosen to fit
  /// The benchmarks whose CPU time is judged, too; empty in older journals.
  std::map<std::string, CpuTimeOf> cpu_time_of;
  std::vector<JudgedMetric> judged{};
  std::string reproduce;            ///< the command that does the same elsewhere
  std::optional<TrialPart> part{};  ///< if this is a part of a trial
  std::string identical{};          ///< of a part: why nothing is measured, as a clause
  // Members of a trial whose parts are merged:
  std::vector<TrialPart> parts{};  ///< by their numbers
  int rounds = 0;           ///< how many looks, each a block of each part after the one before
  Unit unit = Unit::block;  ///< of the verdict
};

/// What one process measured.
struct ProcessSample {
  int block = 0;     ///< of the trial, or of its part, from 0
  int position = 0;  ///< in the block, from 0 to 3
  Side side = Side::base;
  double took_s = 0;  ///< since the process before it; what the budget is spent on
  /// Per iteration: the median over the repetitions, of what its block measures.
  std::map<std::string, double> real_ns;
  /// Medians per iteration: CPU time, context switches, the scheduler's counters.
  std::map<std::string, std::map<std::string, double>> counters;
  std::optional<MachineUse> machine;  ///< while it ran; an older journal has none
  int part = 0;                       ///< of a merged trial: the number of its part
};

/// What stands for the instructions among the kinds of counts.
inline constexpr const char* kInstructions = "instructions";

/// The instructions of one benchmark on one side, counted in runs of their own.
struct InstructionSample {
  Side side = Side::base;
  std::string benchmark;
  /// Counts per iteration, one for each process under callgrind; empty if not counted, for the
  /// reason below.
  std::vector<double> per_iteration;
  std::string unavailable;
  /// Counts per iteration of each kind that was recognised, as many as above: "fences" and so on.
  /// An older journal has none.
  std::map<std::string, std::vector<double>> kinds{};
  std::string no_kinds{};  ///< why kinds of instructions are missing; empty if none is
  double took_s = 0;       ///< of the budget; 0 if it is counted on top of that
};

/// Why benchmarks are not counted that nobody has asked to count.
struct Uncounted {
  std::string reason;  ///< a clause; empty: none is missing, or they are still being counted
  double took_s = 0;   ///< of the budget, to find that out
};

/// A function that executes more instructions in head, with those of the system's libraries that it
/// calls. Per iteration.
struct GrownFunction {
  std::string function;  ///< shortened for readers
  std::string file{};    ///< where it grew most; empty if the program has no debug information
  int line = 0;
  double base = 0;
  double head = 0;
  double base_calls = 0;  ///< 0 also for a function that is inlined
  double head_calls = 0;
};

/// Executed instructions or calls of one kind, per iteration.
struct MovedKind {
  std::string kind;
  double base = 0;
  double head = 0;
  std::string function{};  ///< in which there are most more; empty if that is the system's
  std::string file{};      ///< empty if the program has no debug information
  int line = 0;
};

/// Why a benchmark fails, as far as its instructions show: what was counted in a pass of its own
/// after the trial.
struct Explanation {
  std::string benchmark;
  double base = 0;  ///< instructions per iteration; 0 if they were not counted
  double head = 0;
  double scatter = 0;  ///< relative: by how much two counts of one side differ at most
  std::vector<GrownFunction> functions;  ///< at most three, the one that grew most first
  std::vector<MovedKind> kinds;
  std::string unavailable;  ///< why nothing was counted; else empty
  double took_s = 0;        ///< of the budget
};

/// Why no further block was begun.
enum class TrialEnd { decided, budget, blocks };

/// Why there is nothing to judge.
struct PairedFailure {
  enum class Stage {
    build,    ///< a revision could not be built
    start,    ///< a program is missing, or fails as soon as it is asked what it measures
    measure,  ///< a program failed while it was measured
    compare,  ///< the programs have nothing in common
  };
  Stage stage = Stage::measure;
  std::optional<Side> side{};        ///< whose program it was
  std::string benchmark{};           ///< in which it failed; empty if not known
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
  /// If the setup asks for them: base's of a benchmark before head's, which follows. Without
  /// counts_instructions, benchmarks may be missing, as `uncounted` says.
  std::vector<InstructionSample> instructions;
  Uncounted uncounted{};
  std::vector<ProcessSample> samples;       ///< in the order of block and position, without gaps
  std::optional<TrialEnd> end;              ///< empty: it can be continued
  std::vector<Explanation> explanations{};  ///< of what failed, if there was time for it

  [[nodiscard]] bool complete() const { return end.has_value(); }
};

}  // namespace taskbench::reports::model
