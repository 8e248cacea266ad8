// A program that can be measured from outside, of any kind (program_kind.hpp).
#pragma once

#include <set>

#include "harness/files/names.hpp"
#include "harness/programs/program_kind.hpp"

namespace taskbench::harness {

/// Splits words as a shell would: blanks separate, '…' and "…" group, a backslash quotes the next
/// character, within "…" only if that is one of $, `, ", \ and the end of a line. Nothing is
/// expanded. Throws std::invalid_argument for an unclosed quote and for an empty command.
[[nodiscard]] Strings split_command(std::string_view text);

/// `word`, quoted so that a shell reads it as one word.
[[nodiscard]] std::string shell_word(const std::string& word);

/// A command that split_command(), or a shell, splits into these words.
[[nodiscard]] std::string command_of(const Strings& words);

/// The first bytes of an executable that is not a script.
inline constexpr std::string_view kElf = "\177ELF";

/// Sixteen hexadecimal digits that differ if the bytes do. Not cryptographic.
[[nodiscard]] std::string digest_of(std::string_view bytes);

/// Whether a command's program is looked up in PATH, since it names no folder.
[[nodiscard]] bool is_looked_up(const std::string& program);

/// The path by which `command` calls its program: absolute, its folder without links. Empty if it
/// cannot be found.
[[nodiscard]] fs::path called_path(const Strings& command);

/// The file that `command` executes, with links followed. Empty if it cannot be found.
[[nodiscard]] fs::path executable_of(const Strings& command);

/// The words that ldd prints for an executable that is run in `folder`: names and paths of the
/// libraries that are loaded with it, and addresses in parentheses. Empty if ldd fails, as it does
/// for a static binary. An empty folder stands for the current one.
[[nodiscard]] Strings words_of_ldd(const fs::path& executable, const fs::path& folder,
                                   const std::stop_token& stop);

/// The libraries that the loader loads with an executable, if ldd can say.
[[nodiscard]] std::set<fs::path> libraries_of(const fs::path& executable);

/// Why a command cannot be measured, and what to run instead: its program is a script that may not
/// pass its arguments on, or is not a benchmark.
[[nodiscard]] std::string why_no_benchmark(const Strings& command);

/// A digest of a program and of the shared objects that it loads or that are in its folder; it
/// reveals a rebuild. Empty if the program cannot be read.
[[nodiscard]] std::string digest_of_program(const Strings& command);

/// How a program is asked what it is.
struct Asking {
  double timeout_s = 60;  ///< of each question: every one has its own limit
  std::function<void(double elapsed_s)> waiting{};  ///< called now and then meanwhile
  fs::path folder{};  ///< the working folder of its processes; empty: the current one
  std::optional<Clock::time_point> deadline{};  ///< of all questions
  const ProgramKind* kind = nullptr;            ///< the kind of program; none: it is recognised
};

class Program {
 public:
  /// Finds out the kind of `command` by asking it. For taskbench, words after the program's name
  /// are options of `taskbench run`; otherwise they are passed on before ours. Throws ProgramError.
  static Program find_out(Strings command, const std::stop_token& stop, const Asking& asking = {});

  [[nodiscard]] const ProgramKind& kind() const { return *kind_; }
  [[nodiscard]] const Strings& command() const { return command_; }

  /// The arguments that the command gives the program.
  [[nodiscard]] Strings own_arguments() const { return {command_.begin() + 1, command_.end()}; }

  /// The folder that its processes run in; empty for the current one.
  [[nodiscard]] const fs::path& folder() const { return folder_; }

  [[nodiscard]] fs::path executable() const { return executable_of(command_); }
  [[nodiscard]] std::string digest() const { return digest_of_program(command_); }

  /// The same program in another layout: `executable`, called with the same arguments.
  [[nodiscard]] Program in(const fs::path& executable) const;

  /// The names of its benchmarks, as it lists them; empty if it does not.
  [[nodiscard]] const Strings& listed() const { return listed_; }

  /// Whether the program is certainly of its kind, and not one that would answer anything in this
  /// way. Asks the program.
  [[nodiscard]] bool is_sure(const std::stop_token& stop) const;

  /// Runs one process and reads its result from its output or from `file`. Throws ProgramError if
  /// it fails in any way or is interrupted; the file may then contain anything.
  [[nodiscard]] model::Run measure(const SampleRequest& request, const fs::path& file,
                                   const std::stop_token& stop) const;

  /// The words that measure() executes.
  [[nodiscard]] Strings arguments(const SampleRequest& request, const fs::path& file) const {
    return kind_->arguments(command_, fitting(request, file), file);
  }

 private:
  /// The request, or one for more benchmarks, if their names do not fit into one argument or
  /// variable: for all that begin like these up to the first slash, or for all.
  [[nodiscard]] SampleRequest fitting(SampleRequest request, const fs::path& file) const;

  Program(const ProgramKind& kind, Strings command, fs::path folder, Strings listed)
      : kind_(&kind),
        command_(std::move(command)),
        folder_(std::move(folder)),
        listed_(std::move(listed)) {}

  const ProgramKind* kind_;
  Strings command_;
  fs::path folder_;
  Strings listed_;
};

}  // namespace taskbench::harness
