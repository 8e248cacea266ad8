#include "cli/streams.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "reports/render/columns.hpp"

namespace taskbench::cli {
namespace {

// One write a line, so that lines of several processes do not mix. A standard error that is gone
// is nothing to fail for. What a file or another program had to say may be part of the message, and
// must not steer the terminal.
void print_line(std::string_view label, std::string_view message) {
  const std::string line =
      fmt::format("taskbench: {}: {}\n", label, reports::render::printable(message));
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
