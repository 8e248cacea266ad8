#include "harness/os/system_file.hpp"

#include <algorithm>
#include <array>
#include <fstream>

namespace taskbench::harness {
namespace {

constexpr std::string_view kBlank = " \t\r\n";
constexpr unsigned kMostCpus = 1U << 16;

}  // namespace

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kBlank) - first + 1));
}

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return trimmed(line);
}

std::optional<std::string> content_of(const std::filesystem::path& path, std::size_t most_bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  // Files in /proc report no size, and reading one fails when its process has ended.
  std::string content;
  std::array<char, 4096> block{};
  do {
    file.read(block.data(), block.size());
    if (file.bad()) return std::nullopt;
    content.append(block.data(), static_cast<std::size_t>(file.gcount()));
  } while (file && content.size() < most_bytes);
  return content;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; (at = text.find_first_not_of(kBlank, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlank, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::optional<std::int64_t> whole_number_in(const std::filesystem::path& path) {
  return number<std::int64_t>(first_line(path));
}

std::vector<unsigned> cpu_list(std::string_view text) {
  std::vector<unsigned> cpus;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view range = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t dash = range.find('-');
    const auto first = number<unsigned>(range.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : number<unsigned>(range.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= kMostCpus) return {};
    for (unsigned cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::string value_of_line(const std::filesystem::path& path, std::string_view name) {
  const auto content = content_of(path);
  if (!content) return {};
  for (const std::string_view line : lines_of(*content)) {
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == name) {
      return trimmed(line.substr(colon + 1));
    }
  }
  return {};
}

std::vector<unsigned> allowed_cpus_below(const std::filesystem::path& root) {
  return cpu_list(value_of_line(root / "proc/self/status", "Cpus_allowed_list"));
}

std::vector<std::string> entries_of(std::string_view text) {
  std::vector<std::string> entries;
  for (std::size_t end = 0; (end = text.find('\0')) != std::string_view::npos;
       text.remove_prefix(end + 1)) {
    entries.emplace_back(text.substr(0, end));
  }
  return entries;
}

}  // namespace taskbench::harness
