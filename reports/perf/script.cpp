#include "reports/perf/script.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "reports/model/pieces.hpp"

namespace taskbench::reports::perf {

using model::next_line;
using model::trimmed;
namespace {

constexpr std::string_view kUnknown = "[unknown]";
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kWorkerThread = "taskbench-worker";

/// Turns "taskbench-wor-0 27442", and "taskbench-wo-10 27452", into "worker": the runtime cuts the
/// name so that the number fits.
std::string thread_name(std::string_view line) {
  line = trimmed(line);
  const auto blank = line.find_last_of(" \t");
  std::string_view name = blank == std::string_view::npos ? line : trimmed(line.substr(0, blank));
  if (name == "taskbench") return "main thread";
  const auto end = name.find_last_not_of(kDigits);
  if (end != std::string_view::npos && end + 1 < name.size() && name[end] == '-') {
    name = name.substr(0, end);
    if (name.starts_with("taskbench-") && kWorkerThread.starts_with(name)) return "worker";
  }
  return std::string(name);
}

/// Turns "  18d408 taskbench::rt::task::poll" into "taskbench::rt::task::poll". Addresses in the
/// upper half of the address space are the kernel's: "schedule_[k]", as in tools for folded stacks.
std::string symbol(std::string_view line) {
  line = trimmed(line);
  const auto blank = line.find(' ');
  std::string name(blank == std::string_view::npos ? kUnknown : trimmed(line.substr(blank)));
  std::ranges::replace(name, ';', ':');  // it separates frames in folded stacks
  if (name.empty() || name == kUnknown) return std::string(kUnknown);
  const bool is_kernel = blank == 16 && line.starts_with("ffff");
  return is_kernel ? name + "_[k]" : name;
}

}  // namespace

model::Profile parse_perf_script(std::string_view text) {
  model::Profile profile;
  std::vector<std::string> stack;  // the thread; then, innermost first, as perf prints them, frames
  const auto finish = [&] {
    if (stack.size() > 1 && !stack.front().empty()) {
      std::reverse(stack.begin() + 1, stack.end());
      ++profile.stacks[std::move(stack)];
    }
    stack.clear();
  };
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (trimmed(line).empty()) {
      finish();
    } else if (line.front() == '\t' || line.starts_with("    ")) {
      std::string name = symbol(line);
      const bool is_repeated = stack.size() > 1 && name == kUnknown && stack.back() == kUnknown;
      if (!stack.empty() && !is_repeated) stack.push_back(std::move(name));
    } else if (line.front() != '#') {
      finish();
      stack.push_back(thread_name(line));
    }
  }
  finish();
  return profile;
}

}  // namespace taskbench::reports::perf
