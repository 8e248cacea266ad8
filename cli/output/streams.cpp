#include "cli/output/streams.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "reports/render/columns.hpp"

namespace taskbench::cli {
namespace {

/// What was given may be quoted, however long: of such a line, the middle is left out.
std::string without_middle(std::string_view line) {
  constexpr std::size_t kMost = 1000;
  constexpr std::size_t kEnd = 250;
  if (line.size() <= kMost) return std::string(line);
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(line[at]) & 0xC0U) == 0x80U;
  };
  std::size_t first = kMost - kEnd;
  std::size_t last = line.size() - kEnd;
  while (first > 0 && continues(first)) --first;
  while (last < line.size() && continues(last)) ++last;
  return fmt::format("{} … {}", line.substr(0, first), line.substr(last));
}

std::string printable_lines(std::string_view message) {
  const std::string text = render::printable(message);
  std::string result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (begin > 0) result += '\n';
    result += without_middle(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

// One write a line, so that lines of several processes do not mix. A standard error that is gone
// is nothing to fail for. What a file or another program had to say may be part of the message, and
// must not steer the terminal.
void print_line(std::string_view label, std::string_view message) {
  const std::string line = fmt::format("taskbench: {}: {}\n", label, printable_lines(message));
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

bool print_result(std::string_view text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return true;
  print_error(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  return false;
}

void print_error(std::string_view message) { print_line("error", message); }

void print_note(std::string_view message) { print_line("note", message); }

}  // namespace taskbench::cli
