// A program that can be measured from outside: taskbench itself, or any program that uses Google
// Benchmark.
#pragma once

#include "harness/trials/names.hpp"
#include "reports/model/sampling.hpp"

namespace taskbench::harness {

/// A failure of a program, in a sentence that names it.
struct ProgramError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A program that cannot be measured: it cannot be started, measures nothing, or ends with a status
/// other than 0 when asked what it measures.
struct NotMeasurable : ProgramError {
  explicit NotMeasurable(const std::string& what, bool ended_so = false)
      : ProgramError(what), has_failed(ended_so) {}
  bool has_failed;  ///< it ended with such a status: it may be no benchmark, or cannot start here
};

/// Splits words as a shell would: blanks separate, '…' and "…" keep together, a backslash takes the
/// next character as it is. Nothing is expanded. Throws std::invalid_argument for a quote that is
/// not closed and for no words at all.
[[nodiscard]] Strings split_command(std::string_view text);

/// `word`, quoted so that a shell takes it for one word.
[[nodiscard]] std::string shell_word(const std::string& word);

/// A command that split_command() splits into these words, as would a shell.
[[nodiscard]] std::string command_of(const Strings& words);

/// The beginning of an executable that is no script.
inline constexpr std::string_view kElf = "\177ELF";

/// Sixteen hexadecimal digits that differ if the bytes do. Not cryptographic.
[[nodiscard]] std::string digest_of(std::string_view bytes);

/// The path by which `command` calls its program: absolute, its folder without links. Empty if it
/// cannot be found.
[[nodiscard]] fs::path called_path(const Strings& command);

/// The file that `command` executes, with links followed. Empty if it cannot be found.
[[nodiscard]] fs::path executable_of(const Strings& command);

/// The words that ldd prints for an executable that is run in `folder`: names and paths of the
/// libraries that are loaded with it, and addresses in parentheses. Empty if ldd fails, as it does
/// for a static binary. An empty folder is the current one.
[[nodiscard]] Strings words_of_ldd(const fs::path& executable, const fs::path& folder,
                                   const std::stop_token& stop);

/// What a command's program is, and what would work instead, if it cannot be measured: a script
/// that may keep its arguments to itself, or a program that is no benchmark.
[[nodiscard]] std::string why_no_benchmark(const Strings& command);

/// A digest of a program and of the shared objects that it loads or that are in its folder, to
/// notice a rebuild; empty if the program cannot be read.
[[nodiscard]] std::string digest_of_program(const Strings& command);

/// How one process should measure.
struct SampleRequest : model::Sampling {
  Strings benchmarks;             ///< names; empty: all
  Strings families;               ///< where those are empty: what names begin with up to a slash
  std::size_t padding_bytes = 0;  ///< moves its stack: the environment grows by so much
  double timeout_s = 60;
  std::function<void(double elapsed_s)> waiting{};  ///< called now and then while it runs
};

/// How to ask a program what it is.
struct Asking {
  double timeout_s = 60;  ///< of each question, which has a limit of its own
  std::function<void(double elapsed_s)> waiting{};  ///< called now and then meanwhile
  fs::path folder{};  ///< where all its processes run; empty: where this one does
  std::optional<Clock::time_point> deadline{};  ///< of all questions
};

class Program {
 public:
  enum class Kind { taskbench, google_benchmark };

  /// Finds out what `command` is by asking it. For taskbench, words after the program's name are
  /// options of `taskbench run`; otherwise they are passed on before ours. Throws ProgramError.
  static Program find_out(Strings command, const std::stop_token& stop, const Asking& asking = {});

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] const Strings& command() const { return command_; }

  /// The words after its name that it was given.
  [[nodiscard]] Strings own_arguments() const { return {command_.begin() + 1, command_.end()}; }

  /// The folder that its processes run in; empty for the current one.
  [[nodiscard]] const fs::path& folder() const { return folder_; }

  [[nodiscard]] fs::path executable() const { return executable_of(command_); }
  [[nodiscard]] std::string digest() const { return digest_of_program(command_); }

  /// The same program in another layout: what `executable` is, called with the same arguments.
  [[nodiscard]] Program in(const fs::path& executable) const;

  /// The names of its benchmarks, as it lists them; empty if it is a taskbench that does not.
  [[nodiscard]] const Strings& listed() const { return listed_; }

  /// Whether it is surely a benchmark: it lists fewer names if asked for those that match an
  /// expression, while another kind of program would answer the same. Asks the program.
  [[nodiscard]] bool lists_by_filter(const std::stop_token& stop) const;

  /// Whether the number of iterations of a repetition can be set.
  [[nodiscard]] bool takes_iterations() const { return kind_ == Kind::taskbench; }

  /// Runs one process that writes its results, as Google Benchmark's JSON, to `json`. Throws
  /// ProgramError if it fails in any way or is interrupted; the file may then contain anything.
  /// Returns how long the process waited for a CPU, as ProcessOutcome::queued_s.
  std::optional<double> measure(const SampleRequest& request, const fs::path& json,
                                const std::stop_token& stop) const;

  /// The words that measure() executes.
  [[nodiscard]] Strings arguments(const SampleRequest& request, const fs::path& json) const;

 private:
  Program(Kind kind, Strings command, fs::path folder, Strings listed)
      : kind_(kind),
        command_(std::move(command)),
        folder_(std::move(folder)),
        listed_(std::move(listed)) {}

  Kind kind_;
  Strings command_;
  fs::path folder_;
  Strings listed_;
};

}  // namespace taskbench::harness
