#include "reports/perf/script.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "reports/perf/text.hpp"

namespace taskbench::reports::perf {
namespace {

constexpr std::string_view kUnknown = "[unknown]";
constexpr std::string_view kDigits = "0123456789";

/// Turns "taskbench-wor-0 27442" into "worker".
std::string thread_name(std::string_view line) {
  line = trimmed(line);
  const auto blank = line.find_last_of(" \t");
  std::string_view name = blank == std::string_view::npos ? line : trimmed(line.substr(0, blank));
  if (name.starts_with("taskbench-wor")) return "worker";
  if (name == "taskbench") return "main thread";
  const auto end = name.find_last_not_of(kDigits);
  if (end != std::string_view::npos && end + 1 < name.size() && name[end] == '-') {
    name = name.substr(0, end);
  }
  return std::string(name);
}

/// Turns "  18d408 taskbench::rt::task::poll" into "taskbench::rt::task::poll". Addresses in the
/// upper half of the address space are the kernel's: "schedule_[k]", as the tools for folded stacks
/// write it.
std::string symbol(std::string_view line) {
  line = trimmed(line);
  const auto blank = line.find(' ');
  std::string name(blank == std::string_view::npos ? kUnknown : trimmed(line.substr(blank)));
  std::ranges::replace(name, ';', ':');  // it separates frames in folded stacks
  if (name.empty() || name == kUnknown) return std::string(kUnknown);
  const bool is_kernel = blank == 16 && line.starts_with("ffff");
  return is_kernel ? name + "_[k]" : name;
}

class Stacks {
 public:
  void begin(std::string_view line) {
    finish();
    thread_ = thread_name(line);
  }

  void add(std::string_view line) {
    std::string name = symbol(line);
    if (name == kUnknown && !frames_.empty() && frames_.back() == kUnknown) return;
    frames_.push_back(std::move(name));
  }

  void finish() {
    if (!thread_.empty() && !frames_.empty()) {
      std::vector<std::string> stack{std::move(thread_)};
      stack.insert(stack.end(), frames_.rbegin(), frames_.rend());
      ++profile_.stacks[std::move(stack)];
    }
    thread_.clear();
    frames_.clear();
  }

  [[nodiscard]] model::Profile take() && {
    finish();
    return std::move(profile_);
  }

 private:
  model::Profile profile_;
  std::string thread_;
  std::vector<std::string> frames_;  // innermost first, as perf prints them
};

}  // namespace

model::Profile parse_perf_script(std::string_view text) {
  Stacks stacks;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (trimmed(line).empty()) {
      stacks.finish();
    } else if (line.front() == '\t' || line.starts_with("    ")) {
      stacks.add(line);
    } else if (line.front() != '#') {
      stacks.begin(line);
    }
  }
  return std::move(stacks).take();
}

}  // namespace taskbench::reports::perf
