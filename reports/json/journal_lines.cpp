#include "reports/json/journal_lines.hpp"

#include <fmt/format.h>

#include <exception>

namespace taskbench::reports::json {

void fail_journal(const std::filesystem::path& path, std::string_view what) {
  throw JournalError(fmt::format("{}: {}", path.string(), what));
}

void for_each_line(const std::filesystem::path& path, std::string_view content,
                   const std::function<void(std::string_view text, std::size_t number)>& take) {
  std::size_t number = 0;
  for (std::size_t newline = 0; (newline = content.find('\n')) != std::string_view::npos;) {
    ++number;
    try {
      take(content.substr(0, newline), number);
    } catch (const std::exception& error) {
      fail_journal(path, fmt::format("line {} does not belong in a taskbench journal: {}", number,
                                     error.what()));
    }
    content.remove_prefix(newline + 1);
  }
  if (number == 0) {
    fail_journal(path,
                 "is not a journal: not even its first line is complete; delete it to start again");
  }
}

}  // namespace taskbench::reports::json
