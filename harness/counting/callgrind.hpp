// Counts exactly what one benchmark of a program executes: under valgrind's callgrind, with the
// help of binutils' objdump and addr2line for details of the instructions.
//
// Only the timed iterations are counted. taskbench calls each of its iterations by a function of a
// known name, and is run on a scheduler that does the same each time. For any other program,
// callgrind writes a file whenever State::StartKeepRunning() of Google Benchmark returns, and
// another when State::FinishKeepRunning() is called: that one holds the loop. It is taken from the
// second repetition, since the first also executes one-time initialisation. For a whole command,
// all of its processes are counted, from start to end.
#pragma once

#include <cstdint>
#include <map>

#include "harness/programs/measured_process.hpp"
#include "harness/programs/program.hpp"
#include "reports/perf/callgrind_profile.hpp"
#include "reports/perf/instruction_kinds.hpp"
#include "reports/perf/source_lines.hpp"

namespace taskbench::harness {

/// Number of taskbench iterations that are counted. Few, since callgrind is fifty times slower and
/// all iterations are equal. The warm-up, which is not counted, covers one-time initialisation.
inline constexpr std::int64_t kCountedIterations = 4;

/// The shortest repetition that taskbench accepts; unused if iterations are given.
inline constexpr double kUnusedMinTime_s = 0.001;

inline constexpr const char* kValgrindMissing =
    "valgrind is not installed; the package valgrind provides it";

/// Why one benchmark cannot be counted; others of its program may be countable.
inline constexpr const char* kSeveralThreads = "several threads run its loop at once";

/// Why nothing can be counted here; empty if valgrind is installed.
[[nodiscard]] std::string why_no_valgrind(const std::stop_token& stop);

/// Whose script a program is, as words after "is"; empty if it is not a script. An interpreter
/// under callgrind takes a second or more to start. Shells do not count: they start something else.
[[nodiscard]] std::string why_interpreted(const Program& program);

/// What one process executed.
struct CallgrindCount {
  perf::CallgrindProfile profile;
  double iterations = 1;
  std::string failure;  ///< a clause that says what went wrong; then all else is empty

  [[nodiscard]] double per_iteration() const {
    return static_cast<double>(profile.instructions) / iterations;
  }
};

/// Runs one benchmark in a process under callgrind. `benchmark` is one that the program measures.
[[nodiscard]] CallgrindCount count_by_callgrind(const Program& program,
                                                const std::string& benchmark, std::uint64_t seed,
                                                double timeout_s, const Bench& bench);

/// A command under callgrind, which writes the profile into `file`, or, if the name contains %p,
/// one file for each process. `options` are callgrind's.
[[nodiscard]] Strings under_callgrind(const fs::path& file, const Strings& options,
                                      const Strings& command);

/// The sum of the profiles that processes have written into files in this folder; empty if there
/// are none.
[[nodiscard]] std::optional<perf::CallgrindProfile> sum_of_callgrind_files(const fs::path& folder);

/// What binutils report about programs and libraries. Each file is examined once.
class Binutils {
 public:
  explicit Binutils(const Bench& bench) : bench_(bench) {}

  // Each call of a binutils program may take `timeout_s`.

  /// How often each kind was executed in an iteration. Without objdump, only the kinds recognised
  /// by a call; why_no_instructions() then says why.
  [[nodiscard]] std::map<std::string, double> kinds(const CallgrindCount& count, double timeout_s);
  [[nodiscard]] const std::string& why_no_instructions() const { return why_no_instructions_; }

  /// A profile that counts only this kind in place of all instructions.
  [[nodiscard]] perf::CallgrindProfile only_of(const std::string& kind,
                                               const CallgrindCount& count) const {
    return perf::only_of_kind(count.profile, disassemblies_, kind);
  }

  /// The source lines executed in the program itself, by object name. Empty without addr2line or
  /// debug information.
  [[nodiscard]] std::map<std::string, perf::SourceLines> sources(const CallgrindCount& count,
                                                                 double timeout_s);

 private:
  /// The command's output; empty, with the reason in `failure`, if the command fails.
  [[nodiscard]] std::string output_of(const Strings& command, double timeout_s,
                                      std::string& failure) const;
  void disassemble(const perf::CallgrindProfile& profile, double timeout_s);

  const Bench& bench_;
  std::map<std::string, perf::Disassembly> disassemblies_;  // by object name
  std::string why_no_instructions_;
};

}  // namespace taskbench::harness
