#include "cli/tools/perf.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "reports/files/file_content.hpp"
#include "workloads/measure/counting_region.hpp"
#include "workloads/measure/process.hpp"

namespace taskbench::cli {
namespace {

using measure::ProcessOutcome;
using End = ProcessOutcome::End;

constexpr int kPerfUsage = 129;  // perf's status for what it does not understand
constexpr std::string_view kNotCounted = "not counted";
constexpr std::string_view kMoreIsForbidden =
    "; `sudo sysctl kernel.perf_event_paranoid=1` permits more";

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

/// perf reads these from the system when it ends, whether the counters are on or off.
bool is_time_of_perf(std::string_view event) {
  return event == "duration_time" || event == "user_time" || event == "system_time";
}

/// Why it cannot be counted; empty when it can. "not counted" only says that the event had no
/// chance yet.
std::string refusal(const perf::PerfCount& count, bool asked_for_user_only) {
  if (is_time_of_perf(count.event)) {
    return "perf takes this time over the whole process, not over what is timed alone";
  }
  // Some versions print a tracepoint without the modifier that it was asked for with.
  if (asked_for_user_only && perf::happens_in_the_kernel(count.event)) {
    return std::string(perf::kNotInUserMode);
  }
  if (count.value || count.unavailable == kNotCounted) return {};
  const bool forbidden = count.unavailable == perf::kNotInUserMode;
  return forbidden ? count.unavailable + std::string(kMoreIsForbidden) : count.unavailable;
}

}  // namespace

std::string make_perf_pipes(const fs::path& scratch) {
  const fs::path commands = scratch / "commands";
  const fs::path answers = scratch / "answers";
  std::string pipes = fmt::format("{},{}", commands.string(), answers.string());
  if (pipes.find(',') != pipes.rfind(',')) {
    throw PerfError(fmt::format(
        "the folder for temporary files has a comma in its name, at which perf would part it: {}; "
        "set TMPDIR to another",
        scratch.parent_path().string()));
  }
  for (const auto& pipe : {commands, answers}) {
    if (::mkfifo(pipe.c_str(), 0600) == 0) continue;
    throw PerfError(fmt::format("no pipe to perf can be made: {}", std::strerror(errno)));
  }
  return pipes;
}

/// What became of one call of perf.
struct Perf::Answer {
  perf::PerfOutput output;
  std::string failure;  ///< empty: it went well
  bool stop_trying = false;
};

Perf::Perf(const std::vector<CounterRequest>& requests, fs::path scratch,
           const std::stop_token& stop)
    : scratch_(std::move(scratch)), stop_(stop) {
  find_form();
  for (const CounterRequest& request : requests) {
    if (unavailable_.empty()) {
      probe(request);
    } else {
      refuse(request, unavailable_);
    }
  }
}

Perf::Answer Perf::ask(Strings options, const Strings& command, const Strings& environment,
                       double timeout_s) const {
  const fs::path file = scratch_ / "counts";
  std::error_code ignored;
  fs::remove(file, ignored);  // what an earlier process wrote is not this one's
  Strings words{"perf", "stat"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"-o", file.string(), "--"});
  words.insert(words.end(), command.begin(), command.end());
  // perf writes numbers as the locale says; and it says why in the user's language.
  Strings variables{"LC_ALL=C"};
  variables.insert(variables.end(), environment.begin(), environment.end());
  const ProcessOutcome outcome = measure::run_process(
      {.command = std::move(words), .environment = std::move(variables), .timeout_s = timeout_s},
      stop_);
  Answer answer;
  answer.stop_trying = outcome.end == End::timed_out || outcome.end == End::interrupted;
  if (!outcome.ok()) {
    const std::string reason = perf::perf_reason(outcome.errors);
    const bool says_it_all = outcome.code == kPerfUsage || reason.starts_with("not permitted") ||
                             reason.starts_with("not supported");
    if (outcome.end != End::exited || reason.empty()) {
      ProcessOutcome in_short = outcome;
      in_short.errors = reason;  // without what perf says of the switching
      answer.failure = fmt::format("perf stat {}", in_short.text());
    } else if (says_it_all) {
      answer.failure = reason;
    } else {
      answer.failure = fmt::format("perf stat exited with status {}: {}", outcome.code, reason);
    }
    return answer;
  }
  answer.output = perf::parse_perf_stat(files::read_file(file).bytes);
  answer.failure = answer.output.damage;
  if (answer.failure.empty() && answer.output.counts.empty()) {
    answer.failure = "perf stat ended well but wrote no counts";
  }
  return answer;
}

void Perf::find_form() {
  const ProcessOutcome version = measure::run_process(
      {.command = {"perf", "--version"}, .environment = {"LC_ALL=C"}, .timeout_s = kProbeTimeout_s},
      stop_);
  if (version.end == End::not_started && version.code == ENOENT) {
    unavailable_ = kPerfMissing;
    return;
  }
  if (!version.ok()) {
    unavailable_ = fmt::format("perf does not work here: it {}", version.text());
    return;
  }
  version_ = first_line(version.output);
  try {
    pipes_ = make_perf_pipes(scratch_);
  } catch (const PerfError& error) {
    unavailable_ = error.what();
    return;
  }
  const Strings common{"-D", "-1", "--control", "fifo:" + pipes_, "-e", "task-clock"};
  for (auto form : {Strings{"-j"}, Strings{"-x", std::string(1, perf::kPerfSeparator)}}) {
    Strings options = form;
    options.insert(options.end(), common.begin(), common.end());
    const Answer answer = ask(std::move(options), {"true"}, {}, kProbeTimeout_s);
    if (answer.failure.empty()) {
      unavailable_.clear();
      form_ = std::move(form);
      return;
    }
    if (unavailable_.empty()) unavailable_ = answer.failure;
    if (answer.stop_trying) return;
  }
  if (unavailable_.find("unknown option `control'") != std::string::npos) {
    unavailable_ = fmt::format(
        "'{}' is too old: it has no --control, by which only the timed part is counted; 5.10 has",
        version_);
  }
}

void Perf::refuse(const CounterRequest& request, const std::string& reason) {
  for (const std::string& event : request.events) events_.push_back({event, {}, false, reason});
}

void Perf::probe(const CounterRequest& request) {
  Strings options = form_;
  options.insert(options.end(), {"-e", request.argument});
  const Answer answer = ask(std::move(options), {"true"}, {}, kProbeTimeout_s);
  if (answer.stop_trying) unavailable_ = answer.failure;
  if (!answer.failure.empty()) {
    refuse(request, answer.failure);
  } else if (add_events(request, answer.output.counts)) {
    arguments_.push_back(request.argument);
  }
}

bool Perf::add_events(const CounterRequest& request, const std::vector<perf::PerfCount>& counts) {
  // perf may print an event in another way than it was asked for: "cycles:u" for cycles where user
  // mode is all that may be counted, and sched:sched_switch for sched:sched_switch:u. Where there
  // is a line for each event, their order says which is which; else, an event has several kinds of
  // CPU, and is called as perf calls it.
  const bool one_by_one = counts.size() == request.events.size();
  bool counts_more = false;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const perf::PerfCount& count = counts[i];
    ProbedEvent event{
        one_by_one ? request.events[i] : count.event, count.unit, count.user_only, {}};
    const bool asked_for_user_only = perf::perf_event(event.event).user_only;
    event.user_only = event.user_only || asked_for_user_only;
    event.unavailable = refusal(count, asked_for_user_only);
    const auto [known, is_new] = printed_.try_emplace(count.printed, event);
    if (!is_new) {
      if (known->second.event == event.event) continue;  // in a group, and in a set or alone
      if (event.unavailable.empty()) {
        event.unavailable = fmt::format(
            "perf prints it by the name of {}, which is counted too; ask for one of them",
            known->second.event);
      }
    }
    counts_more = counts_more || event.unavailable.empty();
    events_.push_back(std::move(event));
  }
  return counts_more;
}

PerfOutcome Perf::count(const Strings& command, double timeout_s) const {
  Strings options = form_;
  options.insert(options.end(), {"-D", "-1", "--control", "fifo:" + pipes_});
  for (const std::string& each : arguments_) options.insert(options.end(), {"-e", each});
  Answer answer = ask(std::move(options), command,
                      {fmt::format("{}={}", measure::kPerfControlVariable, pipes_)}, timeout_s);
  PerfOutcome outcome;
  outcome.failure = std::move(answer.failure);
  outcome.stop_trying = answer.stop_trying;
  if (!outcome.failure.empty()) return outcome;
  for (perf::PerfCount& count : answer.output.counts) {
    const auto known = printed_.find(count.printed);
    if (known == printed_.end()) continue;  // not when it was tried: nobody has asked for it
    const ProbedEvent& event = known->second;
    const auto same = std::ranges::find(outcome.counts, event.event, &perf::PerfCount::event);
    if (!event.unavailable.empty() || same != outcome.counts.end()) continue;
    count.event = event.event;
    count.user_only = event.user_only;
    outcome.counts.push_back(std::move(count));
  }
  return outcome;
}

}  // namespace taskbench::cli
