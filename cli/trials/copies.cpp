#include "cli/trials/copies.hpp"

#include <algorithm>

#include "workloads/machine/system_file.hpp"
#include "workloads/measure/process.hpp"

namespace taskbench::cli {
namespace {

struct LinkedCopy {
  std::string digest;
  std::string objects;
};

/// The line of the manifest of that name.
std::optional<LinkedCopy> line_of(std::string_view manifest, std::string_view name) {
  for (const std::string_view line : measure::lines_of(manifest)) {
    const auto first = line.find(' ');
    const auto second = line.find(' ', first + 1);
    if (second == std::string_view::npos || line.substr(second + 1) != name) continue;
    return LinkedCopy{std::string(line.substr(0, first)),
                      std::string(line.substr(first + 1, second - first - 1))};
  }
  return std::nullopt;
}

std::string sha256_of(const fs::path& file, const std::stop_token& stop) {
  const auto answer = measure::run_process(
      {.command = {"sha256sum", "--", file.string()}, .environment = {}, .timeout_s = 60}, stop);
  // A name with a backslash or a newline has one in front.
  const auto begin = answer.output.find_first_not_of('\\');
  return answer.ok() && begin != std::string::npos
             ? answer.output.substr(begin, answer.output.find(' ') - begin)
             : std::string();
}

}  // namespace

std::string why_not_copies(const std::vector<measure::Program>& programs,
                           const std::stop_token& stop) {
  const Strings& first = programs.front().command();
  std::string objects;
  for (const measure::Program& program : programs) {
    const fs::path file = program.executable();
    const Strings& command = program.command();
    if (!std::equal(command.begin() + 1, command.end(), first.begin() + 1, first.end())) {
      return fmt::format("'{}' and '{}' are run with different arguments", first.front(),
                         command.front());
    }
    const fs::path manifest = file.parent_path() / kRelinkManifest;
    const auto content = measure::content_of(manifest);
    if (!content) return fmt::format("there is no {}", manifest.string());
    const auto copy = line_of(*content, file.filename().string());
    if (!copy) return fmt::format("{} does not name '{}'", manifest.string(), file.string());
    if (sha256_of(file, stop) != copy->digest) {
      return fmt::format("'{}' is not what {} says was linked", file.string(), manifest.string());
    }
    if (!objects.empty() && objects != copy->objects) {
      return fmt::format("'{}' was linked from other objects than '{}'", file.string(),
                         first.front());
    }
    objects = copy->objects;
  }
  return {};
}

}  // namespace taskbench::cli
