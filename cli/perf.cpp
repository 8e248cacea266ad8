#include "cli/perf.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "reports/json/file_content.hpp"
#include "workloads/measure/counting_region.hpp"
#include "workloads/measure/process.hpp"

namespace taskbench::cli {
namespace {

namespace json = reports::json;
using workloads::measure::ProcessOutcome;
using End = ProcessOutcome::End;

constexpr int kPerfUsage = 129;  // perf's status for what it does not understand
constexpr std::string_view kNotCounted = "not counted";

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

/// Other than "not counted", which only says that the event had no chance yet.
bool is_refused(const json::PerfCount& count) {
  return !count.value && count.unavailable != kNotCounted;
}

}  // namespace

/// What became of one call of perf.
struct Perf::Answer {
  json::PerfOutput output;
  std::string failure;  ///< empty: it went well
  bool hopeless = false;
};

Perf::Perf(const std::vector<CounterRequest>& requests, std::filesystem::path scratch,
           const std::atomic<bool>& stop)
    : scratch_(std::move(scratch)), stop_(stop) {
  find_form();
  for (const CounterRequest& request : requests) {
    if (!unavailable_.empty()) {
      for (const std::string& event : request.events) {
        events_.push_back({event, {}, false, unavailable_});
      }
    } else {
      probe(request);
    }
  }
}

std::string Perf::pipes() const {
  return fmt::format("{},{}", (scratch_ / "commands").string(), (scratch_ / "answers").string());
}

bool Perf::make_pipes() {
  for (const char* name : {"commands", "answers"}) {
    if (::mkfifo((scratch_ / name).c_str(), 0600) == 0) continue;
    unavailable_ = fmt::format("no pipe to perf can be made: {}", std::strerror(errno));
    return false;
  }
  return true;
}

Perf::Answer Perf::ask(std::vector<std::string> options, const std::vector<std::string>& command,
                       const std::vector<std::string>& environment, double timeout_s) const {
  const std::filesystem::path file = scratch_ / "counts";
  std::error_code ignored;
  std::filesystem::remove(file, ignored);  // what an earlier process wrote is not this one's
  std::vector<std::string> words{"perf", "stat"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"-o", file.string(), "--"});
  words.insert(words.end(), command.begin(), command.end());
  // perf writes numbers as the locale says; and it says why in the user's language.
  std::vector<std::string> variables{"LC_ALL=C"};
  variables.insert(variables.end(), environment.begin(), environment.end());
  const ProcessOutcome outcome = workloads::measure::run_process(
      {.command = std::move(words), .environment = std::move(variables), .timeout_s = timeout_s},
      stop_);
  Answer answer;
  answer.hopeless = outcome.end == End::timed_out || outcome.end == End::interrupted;
  if (!outcome.ok()) {
    const std::string reason = json::perf_reason(outcome.errors);
    const bool says_it_all = outcome.code == kPerfUsage || reason.starts_with("not permitted");
    if (outcome.end != End::exited || reason.empty()) {
      answer.failure = fmt::format("perf stat {}", outcome.text());
    } else if (says_it_all) {
      answer.failure = reason;
    } else {
      answer.failure = fmt::format("perf stat exited with status {}: {}", outcome.code, reason);
    }
    return answer;
  }
  answer.output = json::parse_perf_stat(json::read_file(file).bytes);
  answer.failure = answer.output.damage;
  if (answer.failure.empty() && answer.output.counts.empty()) {
    answer.failure = "perf stat ended well but wrote no counts";
  }
  return answer;
}

void Perf::find_form() {
  const ProcessOutcome version = workloads::measure::run_process(
      {.command = {"perf", "--version"}, .environment = {"LC_ALL=C"}, .timeout_s = kProbeTimeout_s},
      stop_);
  if (version.end == End::not_started && version.code == ENOENT) {
    unavailable_ =
        "perf is not installed; the package linux-perf brings it (Ubuntu: linux-tools-generic)";
    return;
  }
  if (!version.ok()) {
    unavailable_ = fmt::format("perf does not work here: it {}", version.text());
    return;
  }
  version_ = first_line(version.output);
  if (!make_pipes()) return;
  const std::vector<std::string> common{"-D", "-1",        "--control", "fifo:" + pipes(),
                                        "-e", "task-clock"};
  for (auto form : {std::vector<std::string>{"-j"},
                    std::vector<std::string>{"-x", std::string(1, json::kPerfSeparator)}}) {
    std::vector<std::string> options = form;
    options.insert(options.end(), common.begin(), common.end());
    const Answer answer = ask(std::move(options), {"true"}, {}, kProbeTimeout_s);
    if (answer.failure.empty()) {
      unavailable_.clear();
      form_ = std::move(form);
      return;
    }
    if (unavailable_.empty()) unavailable_ = answer.failure;
    if (answer.hopeless) return;
  }
  if (ask({"-x", ";", "-e", "task-clock"}, {"true"}, {}, kProbeTimeout_s).failure.empty()) {
    unavailable_ = fmt::format(
        "'{}' is too old: it has no --control, by which only the timed part is counted; 5.10 has",
        version_);
  }
}

void Perf::probe(const CounterRequest& request) {
  std::vector<std::string> options = form_;
  options.insert(options.end(), {"-e", request.argument});
  const Answer answer = ask(std::move(options), {"true"}, {}, kProbeTimeout_s);
  if (answer.hopeless) unavailable_ = answer.failure;
  if (!answer.failure.empty()) {
    for (const std::string& event : request.events) {
      events_.push_back({event, {}, false, answer.failure});
    }
    return;
  }
  bool counts_more = false;
  for (const json::PerfCount& count : answer.output.counts) {
    // Where user mode is all that may be counted, "cycles" and "cycles:u" are the same.
    const bool as_asked = std::ranges::find(request.events, count.printed) != request.events.end();
    const std::string& name = as_asked ? count.printed : count.event;
    if (!names_.emplace(count.printed, name).second) continue;
    events_.push_back(
        {name, count.unit, count.user_only, is_refused(count) ? count.unavailable : ""});
    counts_more = counts_more || !is_refused(count);
  }
  if (counts_more) arguments_.push_back(request.argument);
}

PerfOutcome Perf::count(const std::vector<std::string>& command, double timeout_s) const {
  std::vector<std::string> options = form_;
  options.insert(options.end(), {"-D", "-1", "--control", "fifo:" + pipes()});
  for (const std::string& each : arguments_) options.insert(options.end(), {"-e", each});
  Answer answer =
      ask(std::move(options), command,
          {fmt::format("{}={}", workloads::measure::kPerfControlVariable, pipes())}, timeout_s);
  PerfOutcome outcome;
  outcome.failure = std::move(answer.failure);
  outcome.hopeless = answer.hopeless;
  if (!outcome.failure.empty()) return outcome;
  outcome.counts = std::move(answer.output.counts);
  for (json::PerfCount& count : outcome.counts) {
    const auto name = names_.find(count.printed);
    if (name != names_.end()) count.event = name->second;
  }
  return outcome;
}

}  // namespace taskbench::cli
