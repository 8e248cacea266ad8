// Counts what one benchmark of a program executes, exactly: under valgrind's callgrind, and with
// what binutils' objdump and addr2line say of the instructions.
//
// Nothing but the timed iterations is counted. taskbench calls each of its own by a function of a
// known name, and is run on a scheduler that does the same each time. Of any other program
// callgrind writes a file whenever State::StartKeepRunning() of Google Benchmark returns, and
// another when State::FinishKeepRunning() is called: that one holds the loop. It is taken from the
// second repetition, since the first makes what is made only once. Of a whole command all of its
// processes are counted, from start to end.
#pragma once

#include <cstdint>
#include <map>

#include "harness/trials/measured_process.hpp"
#include "harness/trials/program.hpp"
#include "reports/perf/callgrind_profile.hpp"
#include "reports/perf/instruction_kinds.hpp"
#include "reports/perf/source_lines.hpp"

namespace taskbench::harness {

/// Iterations of taskbench's own that are counted. Few: callgrind is fifty times slower, and one is
/// as good as many, since all are equal. The warm-up, which is not counted, makes what is made only
/// once.
inline constexpr std::int64_t kCountedIterations = 4;

/// The shortest repetition that taskbench accepts; unused where iterations are given.
inline constexpr double kUnusedMinTime_s = 0.001;

inline constexpr const char* kValgrindMissing =
    "valgrind is not installed; the package valgrind provides it";

/// Why one benchmark cannot be counted; others of its program may be.
inline constexpr const char* kSeveralThreads = "several threads run its loop at once";

/// Why nothing can be counted here; empty if valgrind is installed.
[[nodiscard]] std::string why_no_valgrind(const std::stop_token& stop);

/// What a program is that an interpreter runs, as words after "is"; empty if it is none. callgrind
/// would take a second or more for each of its processes. A shell starts something else.
[[nodiscard]] std::string why_interpreted(const Program& program);

/// What one process executed.
struct CallgrindCount {
  perf::CallgrindProfile profile;
  double iterations = 1;
  std::string failure;  ///< a clause that says what went wrong; then there is nothing else

  [[nodiscard]] double per_iteration() const {
    return static_cast<double>(profile.instructions) / iterations;
  }
};

/// Runs one benchmark in a process under callgrind. `benchmark` is one that the program measures.
[[nodiscard]] CallgrindCount count_by_callgrind(const Program& program,
                                                const std::string& benchmark, std::uint64_t seed,
                                                double timeout_s, const Bench& bench);

/// A command under callgrind, which writes what it executed into `file`; with %p in the name, into
/// one for each process. `options` are callgrind's.
[[nodiscard]] Strings under_callgrind(const fs::path& file, const Strings& options,
                                      const Strings& command);

/// What all processes executed that wrote what they did into files in this folder; empty if none
/// has.
[[nodiscard]] std::optional<perf::CallgrindProfile> sum_of_callgrind_files(const fs::path& folder);

/// What binutils say of programs and libraries. Asks once for each file.
class Binutils {
 public:
  explicit Binutils(const Bench& bench) : bench_(bench) {}

  // Each call of theirs may take `timeout_s`.

  /// How often each kind was executed in an iteration. Without objdump, only what is recognised by
  /// a call; why_no_instructions() then says why.
  [[nodiscard]] std::map<std::string, double> kinds(const CallgrindCount& count, double timeout_s);
  [[nodiscard]] const std::string& why_no_instructions() const { return why_no_instructions_; }

  /// What is of this kind in place of the instructions.
  [[nodiscard]] perf::CallgrindProfile only_of(const std::string& kind,
                                               const CallgrindCount& count) const {
    return perf::only_of_kind(count.profile, disassemblies_, kind);
  }

  /// The source lines of what was executed in the program itself, by the objects' names. Without
  /// addr2line, or without debug information, there are none.
  [[nodiscard]] std::map<std::string, perf::SourceLines> sources(const CallgrindCount& count,
                                                                 double timeout_s);

 private:
  /// What the command prints; empty, with the reason in `failure`, if it fails.
  [[nodiscard]] std::string output_of(const Strings& command, double timeout_s,
                                      std::string& failure) const;
  void disassemble(const perf::CallgrindProfile& profile, double timeout_s);

  const Bench& bench_;
  std::map<std::string, perf::Disassembly> disassemblies_;  // by the objects' names
  std::string why_no_instructions_;
};

}  // namespace taskbench::harness
