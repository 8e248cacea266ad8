// The output of a command: results to standard output, everything else to standard error, and the
// files that the user requested.
#pragma once

#include "cli/output/exit_code.hpp"
#include "cli/output/names.hpp"
#include "harness/programs/program.hpp"
#include "harness/trials/journaled_trial.hpp"
#include "reports/model/run.hpp"
#include "reports/render/formats.hpp"

namespace taskbench::cli {

/// Writes to standard output and flushes. Returns pass, or usage with the reason on standard error
/// if that failed: a full disk behind a redirection must not look like success.
[[nodiscard]] ExitCode printed(std::string_view text);

/// Prints an answer in a format; false if that failed, as in printed(). Formats for people, notes
/// and errors are in ASCII if the locale names an encoding other than UTF-8, as LC_ALL=C does;
/// other formats are UTF-8 in every locale.
[[nodiscard]] bool print_answer(const render::Answer& answer, const render::Format& format);

/// Text in the encoding of the locale: in ASCII if that names another than UTF-8.
[[nodiscard]] std::string for_people(std::string_view text);

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

/// Reports that a trial was stopped, if it was, and how to resume it: "continue with …". If it
/// cannot be resumed, `first` names what it had not measured yet.
[[nodiscard]] std::optional<ExitCode> interruption(Ending ending, std::string_view how_to_go_on,
                                                   std::string_view first);

/// Prints an error for each failed case. False if there is none.
[[nodiscard]] bool report_failures(const std::vector<model::Case>& cases);

/// Width of the terminal at `descriptor`, otherwise $COLUMNS, otherwise `otherwise`.
[[nodiscard]] int columns(int descriptor, int otherwise);

/// Whether it is a terminal that understands escape sequences: TERM is set, and not "dumb".
[[nodiscard]] bool takes_escapes(int descriptor);

/// Checks, before anything is measured, that the file, if one is named, can be written now and that
/// the disk has room for that many bytes. Throws UsageError if not.
void refuse_unwritable(const std::optional<fs::path>& file, std::size_t expected_bytes);

/// Replaces the file, if one is named, atomically. False, with the reason on standard error, if
/// that failed. With `notes`, reports on standard error what was written.
[[nodiscard]] bool write_output(const std::optional<fs::path>& file, std::string_view content,
                                bool notes = false);

}  // namespace taskbench::cli
