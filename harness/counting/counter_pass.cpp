#include "harness/counting/counter_pass.hpp"

#include <exception>
#include <iterator>

#include "harness/counting/callgrind.hpp"
#include "harness/counting/perf.hpp"
#include "harness/files/near_miss.hpp"
#include "harness/files/scratch_folder.hpp"
#include "harness/os/file_content.hpp"
#include "harness/os/process.hpp"
#include "reports/model/run.hpp"
#include "reports/perf/callgrind_profile.hpp"

namespace taskbench::harness {
namespace {

using Events = std::vector<model::EventCount>;

/// Time limit of a process under callgrind.
constexpr double kLongestPass_s = 600;

/// Whether a case was timed; otherwise it is not counted either.
bool was_timed(const model::Case& measured) {
  return measured.error.empty() && !measured.repetitions.empty();
}

model::EventCount not_counted(const std::string& event, const std::string& reason) {
  return {event, {}, {}, {}, false, reason};
}

/// Adds the counts of one process, per iteration.
void add_counts(const std::vector<perf::PerfCount>& counts, std::int64_t iterations,
                Events& events) {
  for (const auto& count : counts) {
    auto event = std::ranges::find(events, count.event, &model::EventCount::event);
    if (event == events.end()) event = events.insert(events.end(), not_counted(count.event, {}));
    event->user_only = event->user_only || count.user_only;
    if (!count.value) {
      if (event->unavailable.empty()) event->unavailable = count.unavailable;
      continue;
    }
    event->unit = count.unit;
    event->per_iteration.push_back(*count.value / static_cast<double>(iterations));
    event->counted_share = std::min(event->counted_share.value_or(1), count.counted_share);
  }
}

/// How one pass counts: with perf or with callgrind.
struct Counter {
  std::string_view what;  ///< the activity, for the progress line
  Events events;          ///< that it requests, some of them unavailable
  /// Runs one process for case number `index`.
  std::function<PerfOutcome(std::size_t index)> count_once;
  std::function<std::int64_t(std::size_t index)> iterations;
};

class CountingPass {
 public:
  CountingPass(const RunPlan& plan, const std::stop_token& stop, const Listener& listener,
               model::Run& run)
      : plan_(plan), stop_(stop), listener_(listener), run_(run) {}

  void count_by_perf() {
    const Perf perf(plan_.counters.requests, scratch_.path(), stop_);
    run_.counter_pass->tool = perf.version();
    run_.counter_pass->unavailable = perf.unavailable();
    Events events;
    for (const ProbedEvent& each : perf.events()) {
      events.push_back({each.event, each.unit, {}, {}, each.user_only, each.unavailable});
    }
    const double warmup_s = run_.settings.warmup_s;
    const auto as_timed = [&](std::size_t i) { return run_.cases[i].repetitions.front(); };
    const auto count_once = [&](std::size_t i) {
      const auto iterations = as_timed(i).iterations;
      const double repetition_s = as_timed(i).real_ns * 1e-9 * static_cast<double>(iterations);
      return perf.count(command(plan_.cases[i], std::max(warmup_s, 1e-3), iterations),
                        60 + 20 * (repetition_s + warmup_s));
    };
    const bool counts = perf.unavailable().empty() && perf.counts_any();
    count({"counting", events, counts ? count_once : decltype(Counter::count_once)(),
           [&](std::size_t i) { return as_timed(i).iterations; }});
  }

  void count_by_callgrind() {
    const auto count_once = [&](std::size_t i) {
      Case spec = plan_.cases[i];  // on a scheduler that repeats exactly
      if (!spec.scheduler->repeatable) spec.scheduler = find_scheduler("in_turn");
      return count_iterations(command(spec, kUnusedMinTime_s, kCountedIterations));
    };
    count_exactly(count_once, kCountedIterations);
  }

  void count_commands_by_callgrind() {
    count_exactly([&](std::size_t i) { return count_run(plan_.commands[i]); }, 1);
  }

 private:
  void count_exactly(const std::function<PerfOutcome(std::size_t index)>& count_once,
                     std::int64_t iterations) {
    count({"counting instructions",
           {not_counted(std::string(model::kInstructionsExact), {})},
           count_once,
           [&](std::size_t) { return iterations; }});
    for (model::Case& each : run_.cases) {
      if (!was_timed(each)) continue;
      each.events.back().counted_share.reset();  // callgrind extrapolates nothing
      warn_of_scatter(each);
    }
  }

  Strings command(const Case& spec, double min_time_s, std::int64_t iterations) const {
    Strings words = case_command(plan_, spec, min_time_s, scratch_.path() / "result.json");
    words.insert(words.end(), {"--iterations", fmt::format("{}={}", spec.name(), iterations)});
    return words;
  }

  void count(const Counter& counter) {
    std::string given_up;  // why no further process is tried; empty: go on
    std::size_t done = 0;
    std::vector<Events> counted;
    for (std::size_t i = 0; i < run_.cases.size(); ++i) {
      const model::Case& measured = run_.cases[i];
      Events& events = counted.emplace_back();
      if (!was_timed(measured)) continue;
      events = counter.events;
      if (!counter.count_once) continue;
      std::string failure = given_up;
      for (int process = 0; process < kCountingProcesses && failure.empty(); ++process) {
        listener_.progress(fmt::format("{}, {}/{} processes: {}", counter.what, done++,
                                       run_.cases.size() * kCountingProcesses, measured.name));
        const PerfOutcome outcome = counter.count_once(i);
        failure = outcome.failure;
        if (outcome.stop_trying) given_up = failure;
        add_counts(outcome.counts, counter.iterations(i), events);
      }
      if (stop_.stop_requested()) failure = "interrupted before it was counted";
      for (model::EventCount& event : events) {
        if (event.per_iteration.size() >= kCountingProcesses || !event.unavailable.empty())
          continue;
        event.unavailable = failure.empty() ? "perf printed no count of it" : failure;
      }
    }
    for (std::size_t i = 0; i < run_.cases.size(); ++i) {
      std::ranges::move(counted[i], std::back_inserter(run_.cases[i].events));
    }
  }

  /// The iterations of one case, which `command` runs.
  PerfOutcome count_iterations(const Strings& command) const {
    const fs::path file = scratch_.path() / "callgrind.out";
    fs::remove(file);
    const Strings words = under_callgrind(file, {"--toggle-collect=taskbench_iteration"}, command);
    const ProcessOutcome outcome =
        run_process({.command = words, .timeout_s = kLongestPass_s}, stop_);
    PerfOutcome result;
    if (outcome.end == ProcessOutcome::End::not_started) {
      result.failure = kValgrindMissing;
    } else if (!outcome.ok()) {
      result.failure = fmt::format("under callgrind it {}", outcome.text());
    }
    result.stop_trying = outcome.end != ProcessOutcome::End::exited;
    if (result.failure.empty()) store(perf::parse_callgrind(read_file(file).bytes), result);
    return result;
  }

  /// One run of a command, with its preparation and conclusion.
  PerfOutcome count_run(const TimedCommand& command) const {
    const ScratchFolder files;
    const Strings counted =
        under_callgrind(files.path() / "callgrind.out.%p", {"--trace-children=yes"}, command.words);
    Strings words{"sh", "-c", "exec \"$@\" < \"$0\"", command.input.string()};
    words.insert(words.end(), counted.begin(), counted.end());
    PerfOutcome result;
    const auto run = [&](std::string_view what, const Strings& run_words, bool may_fail) {
      if (run_words.empty() || !result.failure.empty()) return;
      const ProcessOutcome outcome =
          run_process({.command = run_words, .timeout_s = kLongestPass_s}, stop_);
      const bool has_ended = outcome.end == ProcessOutcome::End::exited;
      if (!outcome.ok() && !(may_fail && has_ended)) {
        result.failure = fmt::format("{} {}", what, outcome.text());
      }
      result.stop_trying = outcome.end == ProcessOutcome::End::interrupted;
    };
    run("--prepare", command.prepare, false);
    run("under callgrind it", words, command.may_fail);
    run("--conclude", command.conclude, false);
    if (result.failure.empty()) store(sum_of_callgrind_files(files.path()), result);
    return result;
  }

  static void store(const std::optional<perf::CallgrindProfile>& profile, PerfOutcome& result) {
    if (!profile || profile->instructions == 0) {
      result.failure = "callgrind wrote no count of it";
      return;
    }
    perf::PerfCount count;
    count.event = model::kInstructionsExact;
    count.value = static_cast<double>(profile->instructions);
    result.counts.push_back(std::move(count));
  }

  void warn_of_scatter(const model::Case& measured) const {
    const auto& counts = measured.events.back().per_iteration;
    if (counts.empty()) return;
    const auto [least, most] = std::ranges::minmax(counts);
    if (least == most) return;
    listener_.note(fmt::format(
        "{}: {} counts of its instructions differ by up to {:.2g} %: something in it depends on "
        "the clock, on addresses, or on another thread",
        measured.name, counts.size(), 100 * (most / least - 1)));
  }

  const RunPlan& plan_;
  std::stop_token stop_;
  const Listener& listener_;
  model::Run& run_;
  ScratchFolder scratch_;
};

/// Whether perf says that there is no such event, rather than that it cannot be counted here.
bool says_unknown(std::string_view reason) {
  const auto has = [&](std::string_view part) { return reason.find(part) != reason.npos; };
  return has("event syntax error") && (has("parser error") || has("Bad event name") ||
                                       has("unknown tracepoint") || has("Unable to find"));
}

}  // namespace

void check_counters(const CounterPlan& plan, const std::stop_token& stop) {
  if (plan.instructions_exact) {
    if (const std::string why = why_no_valgrind(stop); !why.empty()) throw ToolMissing(why);
  }
  if (plan.requests.empty()) return;
  if (const std::string why = why_no_perf(stop); !why.empty()) throw ToolMissing(why);
  // perf also reports events of sets as unknown if the CPU lacks them.
  const Strings known = events_of_sets();
  const auto is_known = [&](const std::string& event) { return contains(known, event); };
  std::vector<CounterRequest> asked;
  std::ranges::copy_if(plan.requests, std::back_inserter(asked), [&](const auto& request) {
    return !std::ranges::all_of(request.events, is_known);
  });
  if (asked.empty()) return;
  const ScratchFolder scratch;
  const Perf perf(asked, scratch.path(), stop);
  for (const ProbedEvent& each : perf.events()) {
    if (!says_unknown(each.unavailable)) continue;
    const auto near = nearest(each.event, known);
    refuse("--counters: perf knows no event '{}'; {}", each.event,
           near ? fmt::format("did you mean '{}'?", *near)
                : std::string("`perf list` shows those that it knows"));
  }
}

Strings case_command(const RunPlan& plan, const Case& spec, double min_time_s,
                     const fs::path& result) {
  Strings words{fs::canonical("/proc/self/exe").string(), "run"};
  const auto add = [&](std::string_view option, std::string value) {
    words.insert(words.end(), {std::string(option), std::move(value)});
  };
  words.emplace_back(spec.workload->name);
  add("--scheduler", std::string(spec.scheduler->name));
  add("--workers", std::to_string(spec.workers));
  add("--repetitions", "1");
  add("--min-time", fmt::format("{:.6f}s", min_time_s));
  add("--seed", std::to_string(plan.settings.seed));
  add("--json", result.string());
  words.emplace_back("--quiet");
  if (plan.settings.pin) words.emplace_back("--pin");
  for (const auto& [name, value] : spec.parameters) {
    add("--param", fmt::format("{}={}", name, value));
  }
  for (const PlantedDelay& each : plan.planted) {
    const auto site = rt::kDelaySites[static_cast<std::size_t>(each.site)];
    add("--plant", fmt::format("{}={}", site, each.ns));
  }
  return words;
}

void count_events(const RunPlan& plan, const std::stop_token& stop, const Listener& listener,
                  model::Run& run) {
  run.counter_pass.emplace();
  run.counter_pass->requested = plan.counters.words;
  run.counter_pass->processes = kCountingProcesses;
  const auto none = [&](const Strings& events, const std::string& reason) {
    for (model::Case& each : run.cases) {
      if (!was_timed(each)) continue;
      for (const std::string& event : events) each.events.push_back(not_counted(event, reason));
    }
  };
  if (!plan.counters.requests.empty()) {
    try {
      CountingPass(plan, stop, listener, run).count_by_perf();
    } catch (const std::exception& error) {  // no room for the pipes, no memory
      run.counter_pass->unavailable = error.what();
      for (const CounterRequest& each : plan.counters.requests) none(each.events, error.what());
    }
  }
  if (plan.counters.instructions_exact) {
    try {
      CountingPass pass(plan, stop, listener, run);
      if (plan.commands.empty()) {
        pass.count_by_callgrind();
      } else {
        pass.count_commands_by_callgrind();
      }
    } catch (const std::exception& error) {  // no room for the files, no memory
      none({std::string(model::kInstructionsExact)}, error.what());
    }
  }
}

}  // namespace taskbench::harness
