#include "cli/tools/exact_pass.hpp"

#include <algorithm>
#include <exception>

#include "cli/output/progress_line.hpp"
#include "cli/output/streams.hpp"
#include "cli/tools/case_command.hpp"
#include "cli/tools/scratch_folder.hpp"
#include "reports/files/file_content.hpp"
#include "reports/model/event_count.hpp"
#include "reports/perf/callgrind.hpp"
#include "workloads/measure/process.hpp"

namespace taskbench::cli {
namespace {

using measure::Case;
using measure::ProcessOutcome;

/// Few: callgrind is fifty times slower, and one iteration is as good as many where all are equal.
/// A first one is run uncounted, for what is allocated once.
constexpr std::int64_t kIterations = 4;
constexpr double kUnusedMinTime_s = 0.001;  // the iterations are given
constexpr double kTimeout_s = 600;

/// The case on a scheduler that does the same each time.
Case repeatable(Case spec) {
  if (!spec.scheduler->repeatable) spec.scheduler = measure::find_scheduler("in_turn");
  return spec;
}

Strings command_of(const RunPlan& plan, const Case& spec, const fs::path& scratch) {
  Strings words{"valgrind", "--tool=callgrind", "--toggle-collect=taskbench_iteration",
                "--callgrind-out-file=" + (scratch / "callgrind.out").string()};
  for (std::string& word : case_command(plan, spec, kUnusedMinTime_s, scratch / "result.json")) {
    words.push_back(std::move(word));
  }
  words.insert(words.end(), {"--iterations", fmt::format("{}={}", spec.name(), kIterations)});
  return words;
}

std::string failure_of(const ProcessOutcome& outcome) {
  if (outcome.end == ProcessOutcome::End::not_started) {
    return "valgrind cannot be started; Debian's package valgrind brings it";
  }
  return fmt::format("under callgrind it {}", outcome.text());
}

class ExactPass {
 public:
  ExactPass(const RunPlan& plan, const std::stop_token& stop, model::Run& run)
      : plan_(plan), stop_(stop), run_(run), progress_(progress_style(plan.quiet)) {}

  void count() {
    for (std::size_t i = 0; i < run_.cases.size(); ++i) {
      model::Case& measured = run_.cases[i];
      if (!measured.error.empty() || measured.repetitions.empty()) continue;
      measured.events.push_back(counted(repeatable(plan_.cases[i]), measured.name));
      warn_of_scatter(measured);
    }
  }

 private:
  model::EventCount counted(const Case& spec, const std::string& name) {
    model::EventCount event;
    event.event = model::kInstructionsExact;
    event.unavailable = given_up_;
    const auto command = command_of(plan_, spec, scratch_.path());
    while (event.unavailable.empty() && event.per_iteration.size() < kExactCounts) {
      progress_.show(fmt::format("counting instructions, {}/{} processes: {}", done_++,
                                 run_.cases.size() * kExactCounts, name));
      fs::remove(scratch_.path() / "callgrind.out");
      const ProcessOutcome outcome = measure::run_process(
          {.command = command, .environment = {}, .timeout_s = kTimeout_s}, stop_);
      if (!outcome.ok()) {
        event.unavailable = failure_of(outcome);
        // The next one would do no better.
        if (outcome.end != ProcessOutcome::End::exited) given_up_ = event.unavailable;
        break;
      }
      const auto counts = files::read_file(scratch_.path() / "callgrind.out");
      if (const auto total = perf::callgrind_instructions(counts.bytes)) {
        event.per_iteration.push_back(static_cast<double>(*total) / kIterations);
      } else {
        event.unavailable = "callgrind wrote no count of it";
      }
    }
    return event;
  }

  void warn_of_scatter(const model::Case& measured) const {
    const auto& counts = measured.events.back().per_iteration;
    if (counts.empty()) return;
    const auto [least, most] = std::ranges::minmax(counts);
    if (least == most || plan_.quiet) return;
    print_note(fmt::format(
        "{}: {} counts of its instructions differ by up to {:.2g} %: something in it depends on "
        "the clock, on addresses, or on another thread",
        measured.name, counts.size(), 100 * (most / least - 1)));
  }

  const RunPlan& plan_;
  std::stop_token stop_;
  model::Run& run_;
  ProgressLine progress_;
  ScratchFolder scratch_;
  std::size_t done_ = 0;
  std::string given_up_;  // why no further process is tried; empty: go on
};

}  // namespace

void count_exactly(const RunPlan& plan, const std::stop_token& stop, model::Run& run) {
  if (!run.counter_pass) {
    run.counter_pass.emplace();
    run.counter_pass->requested = plan.counters.words;
    run.counter_pass->processes = kExactCounts;
  }
  try {
    ExactPass(plan, stop, run).count();
  } catch (const std::exception& error) {  // no room for the files, no memory
    for (model::Case& each : run.cases) {
      model::EventCount event;
      event.event = model::kInstructionsExact;
      event.unavailable = error.what();
      std::erase_if(each.events,
                    [](const auto& e) { return e.event == model::kInstructionsExact; });
      each.events.push_back(std::move(event));
    }
  }
}

}  // namespace taskbench::cli
