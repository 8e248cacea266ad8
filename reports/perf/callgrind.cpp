#include "reports/perf/callgrind.hpp"

#include <charconv>

namespace taskbench::reports::perf {
namespace {

/// The first word after `name` on the last line that begins with it.
std::optional<std::string_view> last_value(std::string_view content, std::string_view name) {
  std::optional<std::string_view> found;
  for (std::size_t begin = 0; begin < content.size();) {
    std::size_t end = content.find('\n', begin);
    if (end == std::string_view::npos) break;  // cut off
    std::string_view line = content.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with(name)) continue;
    line.remove_prefix(name.size());
    const std::size_t word = line.find_first_not_of(" \t");
    if (word == std::string_view::npos) continue;
    line.remove_prefix(word);
    found = line.substr(0, line.find_first_of(" \t\r"));
  }
  return found;
}

}  // namespace

std::optional<std::uint64_t> callgrind_instructions(std::string_view content) {
  // The first event is Ir, whatever else is counted; "totals:" is the last line of the file.
  if (last_value(content, "events:") != "Ir") return std::nullopt;
  const auto total = last_value(content, "totals:");
  if (!total) return std::nullopt;
  std::uint64_t instructions = 0;
  const char* const end = total->data() + total->size();
  const auto [last, failed] = std::from_chars(total->data(), end, instructions);
  if (failed != std::errc{} || last != end || instructions == 0) return std::nullopt;
  return instructions;
}

}  // namespace taskbench::reports::perf
