// What a command writes: results to standard output, everything else to standard error, and files
// where its user asked for them.
#pragma once

#include "cli/output/exit_code.hpp"
#include "cli/output/names.hpp"
#include "harness/trials/journaled_trial.hpp"
#include "harness/trials/program.hpp"
#include "reports/model/run.hpp"
#include "reports/render/formats.hpp"

namespace taskbench::cli {

/// Writes to standard output and flushes: pass; or usage, with the reason on standard error, when
/// that failed: a full disk behind a redirection must not look like success.
[[nodiscard]] ExitCode printed(std::string_view text);

/// Prints an answer in a format; false if that failed, as in printed(). What is for people is in
/// ASCII if the locale names an encoding other than UTF-8, as LC_ALL=C does. So are notes and
/// errors; other formats are UTF-8 in every locale.
[[nodiscard]] bool print_answer(const render::Answer& answer, const render::Format& format);

/// "taskbench: error: …" on standard error.
void print_error(std::string_view message);

/// "taskbench: note: …" on standard error.
void print_note(std::string_view message);

template <class... Parts>
requires(sizeof...(Parts) > 0) void print_error(fmt::format_string<Parts...> format,
                                                Parts&&... parts) {
  print_error(std::string_view(fmt::format(format, std::forward<Parts>(parts)...)));
}

template <class... Parts>
requires(sizeof...(Parts) > 0) void print_note(fmt::format_string<Parts...> format,
                                               Parts&&... parts) {
  print_note(std::string_view(fmt::format(format, std::forward<Parts>(parts)...)));
}

/// Prints a ProgramError and returns its exit code. Throws UsageError for a command that cannot be
/// measured.
[[nodiscard]] ExitCode fail_measurement(const ProgramError& error);

/// Says that a trial was told to stop, if it was, and how to go on with it: "continue with …";
/// `first` is what it had not measured yet if it cannot.
[[nodiscard]] std::optional<ExitCode> interruption(Ending ending, std::string_view how_to_go_on,
                                                   std::string_view first);

/// Prints an error for each case that failed. False if none has.
[[nodiscard]] bool report_failures(const std::vector<model::Case>& cases);

/// Width of the terminal behind `descriptor`, else $COLUMNS, else `otherwise`.
[[nodiscard]] int columns(int descriptor, int otherwise);

/// Whether it is a terminal that understands escape sequences: TERM is set, and not "dumb".
[[nodiscard]] bool takes_escapes(int descriptor);

/// Finds out, before anything is measured, whether the file, if one is named, can be written now
/// and the disk has room for that many bytes. Throws UsageError if not.
void refuse_unwritable(const std::optional<fs::path>& file, std::size_t expected_bytes);

/// Replaces the file, if one is named, whole or not at all. False, with the reason on standard
/// error, if that failed. With `notes`, says on standard error what was written.
[[nodiscard]] bool write_output(const std::optional<fs::path>& file, std::string_view content,
                                bool notes = false);

}  // namespace taskbench::cli
