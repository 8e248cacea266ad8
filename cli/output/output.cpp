#include "cli/output/output.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "harness/os/atomic_file.hpp"
#include "harness/os/system_file.hpp"
#include "reports/render/columns.hpp"

namespace taskbench::cli {
namespace {

/// Whether a byte of UTF-8 is not the first of its character.
bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

/// Shortens a long line by removing its middle. A message may quote input of any length.
std::string without_middle(std::string_view line) {
  constexpr std::size_t kMost = 1000;
  constexpr std::size_t kEnd = 250;
  if (line.size() <= kMost) return std::string(line);
  std::size_t first = kMost - kEnd;
  std::size_t last = line.size() - kEnd;
  while (first > 0 && continues_character(line[first])) --first;
  while (last < line.size() && continues_character(line[last])) ++last;
  return fmt::format("{} … {}", line.substr(0, first), line.substr(last));
}

/// Whether the environment's locale uses UTF-8; empty if it names no locale.
std::optional<bool> locale_takes_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {  // the first one set takes effect
    std::string locale = environment_value(name);
    if (locale.empty()) continue;
    for (char& each : locale) {
      each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
    }
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return std::nullopt;
}

/// Replaces each character outside ASCII. What tables have is replaced by what is as wide, so that
/// columns stay aligned.
std::string in_ascii(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kLikes[] = {
      {"± ", "+-"}, {"±", "+-"}, {"×", "x"},  {"µ", "u"},  {"–", "-"}, {"─", "-"},
      {"·", "-"},   {"…", "~"},  {"→", "->"}, {"“", "\""}, {"”", "\""}};
  std::string result;
  while (!text.empty()) {
    const auto* const like = std::ranges::find_if(
        kLikes, [&](const auto& each) { return text.starts_with(each.first); });
    if (like != std::end(kLikes)) {
      result += like->second;
      text.remove_prefix(like->first.size());
      continue;
    }
    std::size_t size = 1;
    if (static_cast<unsigned char>(text.front()) < 0x80U) {
      result += text.front();
    } else {
      while (size < text.size() && continues_character(text[size])) ++size;
      result.append(render::display_width(text.substr(0, size)), '?');
    }
    text.remove_prefix(size);
  }
  return result;
}

// Writes the message in one call, so that lines of several processes do not mix. A closed standard
// error is not a failure. The message may quote a file or another program, and must not control the
// terminal.
void print_line(std::string_view label, std::string_view message) {
  const std::string text = render::printable(message);
  std::string line = fmt::format("taskbench: {}: ", label);
  for (const std::string_view part : parts_of(text, '\n')) line += without_middle(part) + '\n';
  line = for_people(line);
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

bool print_result(std::string_view text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return true;
  print_error("cannot write to standard output: {}", std::strerror(errno));
  return false;
}

/// The style for tables on standard output. In a file or a pipe each row stays on one line, of any
/// length.
render::TableStyle table_style() {
  render::TableStyle style;
  const bool escapes = takes_escapes(STDOUT_FILENO);
  const int known = columns(STDOUT_FILENO, 0);
  style.colour = escapes && environment_value("NO_COLOR").empty();  // https://no-color.org
  style.folds = known > 0;
  if (style.folds) style.width = known;
  style.draws = escapes && locale_takes_utf8().value_or(false);
  return style;
}

}  // namespace

std::string for_people(std::string_view text) {
  return locale_takes_utf8().value_or(true) ? std::string(text) : in_ascii(text);
}

ExitCode printed(std::string_view text) {
  return print_result(text) ? ExitCode::pass : ExitCode::usage;
}

bool print_answer(const render::Answer& answer, const render::Format& format) {
  const std::string text = format.print(answer, table_style());
  return print_result(format.is_for_people ? for_people(text) : text);
}

void print_error(std::string_view message) { print_line("error", message); }

void print_note(std::string_view message) { print_line("note", message); }

ExitCode fail_measurement(const ProgramError& error) {
  if (dynamic_cast<const NotMeasurable*>(&error) != nullptr) throw UsageError(error.what());
  print_error(error.what());
  return ExitCode::measured_program_failed;
}

std::optional<ExitCode> interruption(Ending ending, std::string_view how_to_go_on,
                                     std::string_view first) {
  if (ending != Ending::interrupted && ending != Ending::not_begun) return std::nullopt;
  print_note(ending == Ending::interrupted ? fmt::format("interrupted; {}", how_to_go_on)
                                           : fmt::format("interrupted before the first {}", first));
  return ExitCode::interrupted;
}

bool report_failures(const std::vector<model::Case>& cases) {
  bool failed = false;
  for (const model::Case& each : cases) {
    if (each.error.empty()) continue;
    print_error("{}: {}", each.name, each.error);
    failed = true;
  }
  return failed;
}

int columns(int descriptor, int otherwise) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const int value = number<int>(environment_value("COLUMNS")).value_or(0);
  return value > 0 ? value : otherwise;
}

bool takes_escapes(int descriptor) {
  const std::string term = environment_value("TERM");
  return ::isatty(descriptor) == 1 && !term.empty() && term != "dumb";
}

void refuse_unwritable(const std::optional<fs::path>& file, std::size_t expected_bytes) {
  if (!file) return;
  const auto outcome = check_writable(*file, expected_bytes);
  if (!outcome.ok()) throw UsageError(outcome.error);
}

bool write_output(const std::optional<fs::path>& file, std::string_view content, bool notes) {
  if (!file) return true;
  const auto outcome = write_atomically(*file, content);
  if (!outcome.ok()) {
    print_error(outcome.error);
    return false;
  }
  if (notes) print_note("wrote {}", file->string());
  return true;
}

}  // namespace taskbench::cli
