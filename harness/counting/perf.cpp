#include "harness/counting/perf.hpp"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "harness/bench/counting_region.hpp"
#include "harness/os/file_content.hpp"
#include "harness/os/process.hpp"
#include "reports/perf/script.hpp"

namespace taskbench::harness {
namespace {

using End = ProcessOutcome::End;

/// Time limit for a perf that lists its abilities; a slower one hangs.
constexpr double kProbeTimeout_s = 10;
constexpr int kPerfUsage = 129;  // perf's status for a usage error
constexpr std::string_view kNotCounted = "not counted";
constexpr const char* kPerfMissing =
    "perf is not installed; the package linux-perf provides it (Ubuntu: linux-tools-generic)";
constexpr std::string_view kMoreIsForbidden =
    "; `sudo sysctl kernel.perf_event_paranoid=1` permits more";

// How stacks are unwound: by the tables that the compiler puts into every binary, since a Release
// build has no frame pointers.
constexpr const char* kUnwinding = "dwarf,8192";

// Disk space of a sample: 8,192 bytes of stack, its other fields, and the sample as text.
constexpr double kSampleBytes = 8192 + 2048;

/// `pipes` are the ones by which the measured program switches perf on and off.
ProcessOutcome run_perf(Strings words, double timeout_s, const std::stop_token& stop,
                        const std::string& pipes = {},
                        const std::function<void(double)>& waiting = {}) {
  words.insert(words.begin(), "perf");
  // In other locales perf formats numbers differently and gives reasons in the user's language.
  Strings environment{"LC_ALL=C"};
  if (!pipes.empty()) environment.push_back(fmt::format("{}={}", kPerfControlVariable, pipes));
  return run_process({.command = std::move(words),
                      .environment = std::move(environment),
                      .timeout_s = timeout_s,
                      .waiting = waiting},
                     stop);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Whether perf reads this event from the system at its end, even while the counters are off.
bool is_time_of_perf(std::string_view event) {
  return event == "duration_time" || event == "user_time" || event == "system_time";
}

/// Why an event cannot be counted; empty if it can. "not counted" only says that the event was
/// never scheduled.
std::string refusal(const perf::PerfCount& count, bool asked_for_user_only) {
  if (is_time_of_perf(count.event)) {
    return "perf takes this time over the whole process, not over what is timed alone";
  }
  // Some versions print a tracepoint without the modifier that was asked for.
  if (asked_for_user_only && perf::happens_in_the_kernel(count.event)) {
    return std::string(perf::kNotInUserMode);
  }
  if (count.value || count.unavailable == kNotCounted) return {};
  const bool forbidden = count.unavailable == perf::kNotInUserMode;
  return forbidden ? count.unavailable + std::string(kMoreIsForbidden) : count.unavailable;
}

/// Creates the pipes by which perf is switched on and off, and returns them as an argument of
/// --control.
std::string make_perf_pipes(const fs::path& scratch) {
  const fs::path commands = scratch / "commands";
  const fs::path answers = scratch / "answers";
  std::string pipes = fmt::format("{},{}", commands.string(), answers.string());
  if (pipes.find(',') != pipes.rfind(',')) {
    throw PerfError(fmt::format(
        "the name of the folder for temporary files has a comma, where perf would split it: {}; "
        "set TMPDIR to another folder",
        scratch.parent_path().string()));
  }
  for (const auto& pipe : {commands, answers}) {
    if (::mkfifo(pipe.c_str(), 0600) == 0) continue;
    throw PerfError(fmt::format("no pipe to perf can be made: {}", std::strerror(errno)));
  }
  return pipes;
}

/// The options that make perf start switched off, and obey the pipes.
Strings switched_by(const std::string& pipes) { return {"-D", "-1", "--control", "fifo:" + pipes}; }

void append(Strings& words, const Strings& more) {
  words.insert(words.end(), more.begin(), more.end());
}

/// Whether perf has written its data completely. It does so even after a signal to the program,
/// before it dies of the same signal. If perf itself is killed, the size at the beginning of the
/// file stays 0. (perf.data-file-format.txt of its sources: the magic, two sizes, the section of
/// attributes, and the section of data, each by offset and size.)
bool has_ended_by_itself(const std::string& data) {
  std::array<char, 8> magic{};
  std::array<std::uint64_t, 6> header{};
  std::ifstream file(data, std::ios::binary);
  file.read(magic.data(), magic.size());
  file.read(reinterpret_cast<char*>(header.data()), sizeof(header));
  return file && std::string_view(magic.data(), magic.size()) == "PERFILE2" && header[5] > 0;
}

/// The last error message that the workload has printed.
std::string last_error(std::string_view errors) {
  constexpr std::string_view kError = "taskbench: error: ";
  const auto at = errors.rfind(kError);
  if (at == std::string_view::npos) return {};
  errors.remove_prefix(at + kError.size());
  return std::string(errors.substr(0, errors.find('\n')));
}

std::string why(const char* tool, const ProcessOutcome& outcome) {
  if (outcome.is_missing()) return kPerfMissing;
  const std::string reason = perf::perf_reason(outcome.errors);
  const bool told = outcome.end == End::exited && !reason.empty();
  return fmt::format(
      "{} {}", tool,
      told ? fmt::format("exited with status {}: {}", outcome.code, reason) : outcome.text());
}

/// The preferred event that perf can sample here: cycles, or the clock.
std::string choose_event(const fs::path& scratch, const std::stop_token& stop) {
  ProcessOutcome outcome;
  for (const char* event : {"cycles", "cpu-clock"}) {
    outcome =
        run_perf({"record", "-q", "-e", event, "-o", (scratch / "probe").string(), "--", "true"},
                 kProbeTimeout_s, stop);
    if (outcome.ok()) return event;
    if (outcome.end != End::exited) break;
  }
  throw PerfError(why("perf record", outcome));
}

/// Throws WorkloadError if the workload failed, and PerfError if perf did. perf passes on the
/// workload's exit status, signal and error messages, so the two must be told apart.
[[noreturn]] void fail_recording(const ProcessOutcome& outcome, const std::string& data) {
  if (outcome.end == End::exited) {
    if (std::string error = last_error(outcome.errors); !error.empty()) {
      const auto of_perf = error.find(kPerfDidNot);
      if (of_perf == std::string::npos) throw WorkloadError(error);
      throw PerfError(error.substr(of_perf));
    }
  }
  if (outcome.end == End::killed && has_ended_by_itself(data)) {
    throw WorkloadError(fmt::format("under perf it {}", outcome.text()));
  }
  throw PerfError(why("perf record", outcome));
}

}  // namespace

std::string why_no_perf(const std::stop_token& stop) {
  return run_perf({"--version"}, kProbeTimeout_s, stop).is_missing() ? kPerfMissing : "";
}

Perf::Perf(const std::vector<CounterRequest>& requests, fs::path scratch,
           const std::stop_token& stop)
    : scratch_(std::move(scratch)), stop_(stop) {
  find_form();
  for (const CounterRequest& request : requests) probe(request);
}

PerfOutcome Perf::ask(const Strings& options, const Strings& command, double timeout_s,
                      const std::string& pipes) const {
  const fs::path file = scratch_ / "counts";
  std::error_code ignored;
  fs::remove(file, ignored);  // an earlier process may have left one
  Strings words{"stat"};
  append(words, options);
  append(words, {"-o", file.string(), "--"});
  append(words, command);
  const ProcessOutcome outcome = run_perf(std::move(words), timeout_s, stop_, pipes);
  PerfOutcome answer;
  answer.stop_trying = outcome.end == End::timed_out || outcome.end == End::interrupted;
  if (!outcome.ok()) {
    const std::string reason = perf::perf_reason(outcome.errors);
    const bool says_it_all = outcome.code == kPerfUsage || reason.starts_with("not permitted") ||
                             reason.starts_with("not supported");
    if (outcome.end != End::exited || reason.empty()) {
      ProcessOutcome in_short = outcome;
      in_short.errors = reason;  // without perf's messages about the switching
      answer.failure = fmt::format("perf stat {}", in_short.text());
    } else if (says_it_all) {
      answer.failure = reason;
    } else {
      answer.failure = fmt::format("perf stat exited with status {}: {}", outcome.code, reason);
    }
    return answer;
  }
  perf::PerfOutput output = perf::parse_perf_stat(read_file(file).bytes);
  answer.counts = std::move(output.counts);
  answer.failure = std::move(output.damage);
  if (answer.failure.empty() && answer.counts.empty()) {
    answer.failure = "perf stat ended well but wrote no counts";
  }
  return answer;
}

void Perf::find_form() {
  const ProcessOutcome version = run_perf({"--version"}, kProbeTimeout_s, stop_);
  if (!version.ok()) {
    unavailable_ = version.is_missing()
                       ? kPerfMissing
                       : fmt::format("perf does not work here: it {}", version.text());
    return;
  }
  version_ = first_line(version.output);
  try {
    pipes_ = make_perf_pipes(scratch_);
  } catch (const PerfError& error) {
    unavailable_ = error.what();
    return;
  }
  for (auto form : {Strings{"-j"}, Strings{"-x", std::string(1, perf::kPerfSeparator)}}) {
    Strings options = form;
    append(options, switched_by(pipes_));
    append(options, {"-e", "task-clock"});
    const PerfOutcome answer = ask(options, {"true"}, kProbeTimeout_s);
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
        "'{}' is too old: it lacks --control, which limits counting to the timed part; 5.10 and "
        "later have it",
        version_);
  }
}

void Perf::probe(const CounterRequest& request) {
  PerfOutcome answer{.counts = {}, .failure = unavailable_};
  if (unavailable_.empty()) {
    Strings options = form_;
    append(options, {"-e", request.argument});
    answer = ask(options, {"true"}, kProbeTimeout_s);
    if (answer.stop_trying) unavailable_ = answer.failure;
  }
  if (!answer.failure.empty()) {
    for (const std::string& event : request.events) {
      events_.push_back({event, {}, false, answer.failure});
    }
  } else if (add_events(request, answer.counts)) {
    arguments_.push_back(request.argument);
  }
}

bool Perf::add_events(const CounterRequest& request, const std::vector<perf::PerfCount>& counts) {
  // perf may print an event under another name than the requested one: "cycles:u" for cycles if
  // only user mode may be counted, and sched:sched_switch for sched:sched_switch:u. If there is a
  // line for each event, their order identifies them. Otherwise the CPU has several kinds of cores,
  // and the event gets perf's name.
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
  append(options, switched_by(pipes_));
  for (const std::string& each : arguments_) append(options, {"-e", each});
  PerfOutcome outcome = ask(options, command, timeout_s, pipes_);
  for (perf::PerfCount& count : std::exchange(outcome.counts, {})) {
    const auto known = printed_.find(count.printed);
    if (known == printed_.end()) continue;  // not in the probe: not requested
    const ProbedEvent& event = known->second;
    const auto same = std::ranges::find(outcome.counts, event.event, &perf::PerfCount::event);
    if (!event.unavailable.empty() || same != outcome.counts.end()) continue;
    count.event = event.event;
    count.user_only = event.user_only;
    outcome.counts.push_back(std::move(count));
  }
  return outcome;
}

double recording_bytes(unsigned frequency, unsigned cpus, double duration_s) {
  return frequency * static_cast<double>(cpus) * duration_s * kSampleBytes;
}

Recording record(const Strings& command, unsigned frequency, double timeout_s,
                 const fs::path& scratch, const std::stop_token& stop,
                 const std::function<void(double)>& waiting) {
  Recording recording;
  recording.event = choose_event(scratch, stop);
  const std::string pipes = make_perf_pipes(scratch);
  const std::string data = (scratch / "data").string();
  Strings words{"record", "-q"};
  append(words, switched_by(pipes));
  append(words, {"-F", std::to_string(frequency), "-e", recording.event, "--call-graph", kUnwinding,
                 "-o", data, "--"});
  append(words, command);
  ProcessOutcome outcome = run_perf(std::move(words), timeout_s, stop, pipes, waiting);
  if (!outcome.ok()) fail_recording(outcome, data);

  // Finds out what was actually sampled. Most versions of perf silently use the clock if they
  // cannot count cycles, and user mode alone if they may not look into the kernel.
  outcome = run_perf({"evlist", "-i", data}, kProbeTimeout_s, stop);
  if (outcome.ok()) {
    auto event = perf::perf_event(first_line(outcome.output));
    if (!event.name.empty()) recording.event = std::move(event.name);
    recording.user_only = event.user_only;
  }

  // The script goes to a file: it has more lines than our pipes keep. --no-inline, because looking
  // up inlined functions one by one takes minutes.
  const fs::path script = scratch / "script";
  outcome = run_process(
      {.command = {"sh", "-c", "exec perf script --no-inline -i \"$1\" -F comm,tid,ip,sym > \"$0\"",
                   script.string(), data},
       .environment = {"LC_ALL=C"},
       .timeout_s = timeout_s,
       .waiting = waiting},
      stop);
  if (!outcome.ok()) throw PerfError(why("perf script", outcome));
  recording.profile = perf::parse_perf_script(read_file(script).bytes);
  return recording;
}

}  // namespace taskbench::harness
