#include "cli/tools/counter_pass.hpp"

#include <algorithm>
#include <exception>

#include "cli/output/progress_line.hpp"
#include "cli/tools/case_command.hpp"
#include "cli/tools/perf.hpp"
#include "cli/tools/scratch_folder.hpp"

namespace taskbench::cli {
namespace {

constexpr std::string_view kInterrupted = "interrupted before it was counted";

/// What could not be timed is not counted either.
bool was_timed(const model::Case& measured) {
  return measured.error.empty() && !measured.repetitions.empty();
}

/// Adds what one process counted, per iteration.
void add_counts(const std::vector<perf::PerfCount>& counts, std::int64_t iterations,
                std::vector<model::EventCount>& events) {
  for (const auto& count : counts) {
    auto event = std::ranges::find(events, count.event, &model::EventCount::event);
    if (event == events.end()) {
      events.push_back({count.event, {}, {}, {}, false, {}});
      event = events.end() - 1;
    }
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

class CounterPassRun {
 public:
  CounterPassRun(const RunPlan& plan, const std::stop_token& stop, model::Run& run)
      : plan_(plan),
        run_(run),
        stop_(stop),
        progress_(progress_style(plan.quiet)),
        perf_(plan.counters.requests, scratch_.path(), stop) {}

  void count() {
    run_.counter_pass->tool = perf_.version();
    run_.counter_pass->unavailable = perf_.unavailable();
    std::int64_t done = 0;
    for (std::size_t i = 0; i < run_.cases.size(); ++i) {
      model::Case& measured = run_.cases[i];
      if (!was_timed(measured)) continue;
      for (const ProbedEvent& each : perf_.events()) {
        measured.events.push_back(
            {each.event, each.unit, {}, {}, each.user_only, each.unavailable});
      }
      if (perf_.unavailable().empty() && perf_.counts_any()) count_case(i, done);
    }
  }

 private:
  void count_case(std::size_t index, std::int64_t& done) {
    model::Case& measured = run_.cases[index];
    const model::Repetition& as_timed = measured.repetitions.front();
    std::string failure = given_up_;
    for (int i = 0; i < kCountingProcesses && failure.empty(); ++i) {
      show(measured.name, done++);
      auto command = case_command(plan_, plan_.cases[index], std::max(run_.settings.warmup_s, 1e-3),
                                  scratch_.path() / "result.json");
      command.insert(command.end(),
                     {"--iterations", fmt::format("{}={}", measured.name, as_timed.iterations)});
      const double repetition_s =
          as_timed.real_ns * 1e-9 * static_cast<double>(as_timed.iterations);
      const PerfOutcome outcome =
          perf_.count(command, 60 + 20 * (repetition_s + run_.settings.warmup_s));
      failure = outcome.failure;
      if (outcome.stop_trying) given_up_ = failure;
      add_counts(outcome.counts, as_timed.iterations, measured.events);
    }
    if (stop_.stop_requested()) failure = kInterrupted;
    for (model::EventCount& event : measured.events) {
      if (event.per_iteration.size() >= kCountingProcesses || !event.unavailable.empty()) continue;
      event.unavailable = failure.empty() ? "perf printed no count of it" : failure;
    }
  }

  void show(const std::string& name, std::int64_t done) {
    const auto total = static_cast<std::int64_t>(run_.cases.size()) * kCountingProcesses;
    progress_.show(fmt::format("counting, {}/{} processes: {}", done, total, name));
  }

  const RunPlan& plan_;
  model::Run& run_;
  std::stop_token stop_;
  ProgressLine progress_;
  ScratchFolder scratch_;
  Perf perf_;
  std::string given_up_;  // why no further process is tried; empty: go on
};

}  // namespace

void count_events(const RunPlan& plan, const std::stop_token& stop, model::Run& run) {
  run.counter_pass.emplace();
  run.counter_pass->requested = plan.counters.words;
  run.counter_pass->processes = kCountingProcesses;
  try {
    CounterPassRun(plan, stop, run).count();
  } catch (const std::exception& error) {  // no room for the pipes, no memory
    run.counter_pass->unavailable = error.what();
    for (model::Case& each : run.cases) {
      each.events.clear();
      if (!was_timed(each)) continue;
      for (const CounterRequest& request : plan.counters.requests) {
        for (const std::string& event : request.events) {
          each.events.push_back({event, {}, {}, {}, false, error.what()});
        }
      }
    }
  }
}

}  // namespace taskbench::cli
