#include "harness/os/system_file.hpp"

#include <cstdlib>
#include <fstream>

#include "harness/os/file_content.hpp"

namespace taskbench::harness {
namespace {

constexpr std::string_view kBlank = " \t\r\n";
constexpr unsigned kMostCpus = 1U << 16;

}  // namespace

std::string trimmed(std::string_view text) { return std::string(model::trimmed(text)); }

std::string environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return trimmed(line);
}

std::optional<std::string> content_of(const fs::path& path) {
  FileContent content = read_file(path);
  return content.ok() ? std::optional(std::move(content.bytes)) : std::nullopt;
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end != std::string_view::npos) text.remove_prefix(end + 1);
  }
  return parts;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  auto lines = parts_of(text, '\n');
  if (lines.back().empty()) lines.pop_back();
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

std::optional<std::int64_t> whole_number_in(const fs::path& path) {
  return number<std::int64_t>(first_line(path));
}

std::vector<unsigned> cpu_list(std::string_view text) {
  std::vector<unsigned> cpus;
  if (text.empty()) return cpus;
  for (const std::string_view range : parts_of(text, ',')) {
    const auto ends = parts_of(range, '-');
    const auto first = number<unsigned>(ends.front());
    const auto last = number<unsigned>(ends.back());
    if (!first || !last || *last < *first || *last >= kMostCpus || ends.size() > 2) return {};
    for (unsigned cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::string value_of_line(const fs::path& path, std::string_view name) {
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

std::vector<unsigned> allowed_cpus_below(const fs::path& root) {
  return cpu_list(value_of_line(root / "proc/self/status", "Cpus_allowed_list"));
}

Strings entries_of(std::string_view text) {
  const auto parts = parts_of(text, '\0');
  return {parts.begin(), parts.end() - 1};
}

}  // namespace taskbench::harness
