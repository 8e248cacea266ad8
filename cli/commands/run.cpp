// `taskbench run`: measures workloads, prints the result, writes it to files.

#include <unistd.h>

#include <algorithm>
#include <exception>

#include "cli/commands/command.hpp"
#include "cli/options/run_plan.hpp"
#include "cli/output/output_file.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/report_writer.hpp"
#include "cli/output/signals.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/terminal.hpp"
#include "cli/tools/counter_pass.hpp"
#include "cli/tools/exact_pass.hpp"
#include "reports/files/atomic_file.hpp"
#include "reports/json/writer.hpp"
#include "reports/render/report.hpp"
#include "reports/stats/summary.hpp"
#include "reports/verdict/drift.hpp"
#include "workloads/machine/cpu_affinity.hpp"
#include "workloads/machine/drift.hpp"
#include "workloads/machine/environment.hpp"

namespace taskbench::cli {
namespace {

using measure::Progress;
using Kind = OptionValues::Kind;

constexpr std::string_view kRunDescription =
    "Measure workloads on the schedulers.\n\n"
    "Every chosen workload is run on every chosen scheduler with every worker count; each such "
    "case\n"
    "is repeated, and the repetitions of all cases are interleaved at random. Prints the result.";

constexpr std::string_view kExamples =
    "Examples:\n"
    "  taskbench run                                      every workload, a worker for each CPU\n"
    "  taskbench run ping_pong yield_many --workers 1,2,4\n"
    "  taskbench run --scheduler work_stealing,current_thread --time-budget 1m\n"
    "  taskbench run spawn_many --param tasks=1000 --json result.json\n"
    "  taskbench run ping_pong --counters basic,software,sched:sched_switch\n"
    "  taskbench run --workers 1,2 --report out           plots, in out/index.html\n"
    "\n"
    "Exit status: 0 done, 2 usage or input error, 5 a workload failed, 130 interrupted.";

// A repetition takes about this much in the file, counters and aggregates included.
std::size_t expected_bytes(const RunPlan& plan) {
  constexpr std::size_t kContextBytes = 64 * 1024;
  constexpr std::size_t kRowBytes = 1500;
  constexpr std::size_t kAggregateRows = 5;
  const auto rows = static_cast<std::size_t>(plan.settings.repetitions) + kAggregateRows;
  return kContextBytes + plan.cases.size() * rows * kRowBytes;
}

model::Run measure_plan(const RunPlan& plan, const Invocation& invocation,
                        const std::stop_token& stop) {
  model::Run run;
  run.environment = measure::probe_environment(invocation.command_line.front());
  ProgressLine progress_line(progress_style(plan.quiet));
  const auto before = measure::read_machine();
  auto result = measure::measure(
      plan.cases, plan.settings, [&](const Progress& now) { progress_line.show(now); }, stop);
  run.drift = measure::drift_between(before, measure::read_machine());
  run.settings = {.repetitions = plan.settings.repetitions,
                  .min_time_s = result.min_time_s,
                  .warmup_s = result.warmup_s,
                  .time_budget_s = plan.settings.time_budget_s,
                  .seed = plan.settings.seed,
                  .pinned = plan.settings.pin,
                  .command_line = invocation.command_line};
  run.cases = std::move(result.cases);
  run.partial = result.interrupted;
  return run;
}

/// False when it was interrupted.
bool count(const RunPlan& plan, const std::stop_token& stop, model::Run& run) {
  if (!plan.counters.requests.empty()) count_events(plan, stop, run);
  if (plan.counters.instructions_exact) count_exactly(plan, stop, run);
  if (stop.stop_requested()) {
    print_note("interrupted while counting; the times are complete");
    return false;
  }
  if (!plan.quiet && !run.counter_pass->unavailable.empty()) {
    print_note(fmt::format("perf counted nothing: {}", run.counter_pass->unavailable));
  }
  return true;
}

// Files come first: a reader of standard output that goes away must not cost the measurement.
bool write_files(const RunPlan& plan, const model::Run& run) {
  bool all_written = true;
  if (plan.json) all_written &= write_output(*plan.json, json::to_json(run), !plan.quiet);
  if (plan.json_flat) {
    all_written &= write_output(*plan.json_flat, json::to_flat_json(run), !plan.quiet);
  }
  return all_written;
}

/// Writes the times, to be replaced when there is more, so that nothing costs them meanwhile, a
/// kill included. A failure is not told: write_files() will meet it again.
void keep_times(const RunPlan& plan, const model::Run& run) {
  const auto keep = [](const std::optional<fs::path>& file, auto text) {
    if (!file || !files::is_replaced(*file)) return;
    static_cast<void>(files::write_atomically(*file, text()));
  };
  keep(plan.json, [&] { return json::to_json(run); });
  keep(plan.json_flat, [&] { return json::to_flat_json(run); });
}

/// The report shows what the result file holds, and holds that file too. Who has interrupted the
/// run wants what there is of it: then the drawing is not interrupted by the same signal.
ExitCode write_run_report(const RunPlan& plan, const model::Run& run, bool interrupted,
                          const std::stop_token& stop) {
  if (!plan.report) return ExitCode::pass;
  constexpr const char* kResult = "result.json";
  const std::stop_token never;
  ReportRequest request{*plan.report, {{kResult, json::to_json(run)}}};
  request.quiet = plan.quiet;
  request.write_if_interrupted = true;
  try {
    render::ReportInputs inputs{{{kResult, run}}, {}};
    for (model::Case& measured : inputs.results.front().file.cases) {
      std::erase_if(measured.repetitions,
                    [](const auto& each) { return !stats::is_complete(each); });
    }
    return write_report(render::report(inputs), request, interrupted ? never : stop);
  } catch (const std::exception& error) {
    print_error(error.what());
    return ExitCode::usage;
  }
}

bool print_run(const RunPlan& plan, const model::Run& run) {
  if (plan.quiet) return true;
  return print_result(plan.format->render(run, table_style(STDOUT_FILENO)));
}

bool report_failures(const model::Run& run) {
  bool failed = false;
  for (const auto& each : run.cases) {
    if (each.error.empty()) continue;
    print_error(fmt::format("{}: {}", each.name, each.error));
    failed = true;
  }
  return failed;
}

void print_notes_before(const RunPlan& plan, unsigned cpus) {
  if (plan.quiet) return;
  for (const std::string& each : plan.left_out) print_note(fmt::format("left out: {}", each));
  unsigned most = 0;
  for (const auto& each : plan.cases) most = std::max(most, each.workers);
  if (most > cpus) {
    print_note(fmt::format("up to {} workers share {} CPU{}", most, cpus, cpus == 1 ? "" : "s"));
  }
}

class RunCommand : public Command {
 public:
  void declare(Options& options) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  void declare_selection(Options& options);
  void declare_measuring(Options& options);
  void declare_output(Options& options);

  RunArguments arguments_;
  bool list_ = false;
};

void RunCommand::declare(Options& options) {
  options.app().description(std::string(kRunDescription));
  options.app().footer(std::string(kExamples));
  declare_selection(options);
  declare_measuring(options);
  declare_output(options);
}

void RunCommand::declare_selection(Options& options) {
  options.group("What to measure");
  options
      .value("WORKLOAD", arguments_.words, "WORKLOAD",
             AsGiven{{Kind::one_of, row_names(workloads::all())}},
             "What to run; `taskbench list` shows them.")
      ->default_str("all");
  const auto schedulers = measure::schedulers();
  options.value(
      "--scheduler", arguments_.schedulers, "NAME[,NAME...]",
      Choices<measure::Scheduler>{"scheduler", schedulers},
      fmt::format("Schedulers to run them on: {}.", fmt::join(row_names(schedulers), ", ")));
  options
      .value("--workers", arguments_.workers, "N[,N...]", Numbers{1, kMaxWorkers},
             fmt::format("Worker counts, each up to {}, and up to {} in all cases together. A "
                         "scheduler that has only one worker takes part with 1 only.",
                         kMaxWorkers, kMaxWorkersInAll))
      ->default_str("the CPUs that this process may use");
  options.value(
      "--param", arguments_.parameters, "NAME=VALUE", AsGiven{offered_parameters()},
      "Set a parameter of every chosen workload that has it, or, as WORKLOAD.NAME=VALUE, of one. "
      "May be repeated, and more NAME=VALUE may follow. `taskbench list parameters` shows them.");
  options.value("--filter", arguments_.filter, "REGEX", Text{.may_be_empty = true},
                "Keep the cases in whose name this regular expression (of RE2) is found. A name "
                "looks like chained_spawn/work_stealing/workers:2.");
  options.flag("--list", list_, "Print the names of the cases that would be run, and run none.");
}

void RunCommand::declare_measuring(Options& options) {
  options.group("How to measure");
  auto& settings = arguments_.plan.settings;
  options.value("--repetitions", settings.repetitions, "N", Number{1, kMaxRepetitions},
                fmt::format("Repetitions of each case, up to {}, and up to {} in all.",
                            kMaxRepetitions, kMaxRepetitionsInAll));
  auto* min_time = options.value("--min-time", arguments_.min_time_s, "TIME",
                                 Duration{kMinMinTimeS, kMaxMinTimeS},
                                 "Shortest duration of a repetition: 0.1, 500ms, 10s, 2m.");
  min_time->default_str(Duration::written(settings.min_time_s));
  auto* budget = options.value("--time-budget", settings.time_budget_s, "TIME",
                               Duration{kMinTimeBudgetS, kMaxTimeBudgetS},
                               "Duration of the whole run, from which that of a repetition "
                               "follows; --counters comes on top. Excludes --min-time.");
  options
      .value("--iterations", settings.iterations, "CASE=N", By{parse_iterations},
             "Iterations of each repetition of a case, in place of those that take --min-time. "
             "May be repeated. For runs that will be compared.")
      ->excludes(budget);
  min_time->excludes(budget);
  options.value("--seed", settings.seed, "N", Number{0, kMaxSeed},
                "Seed of the order of the repetitions and of the schedulers.");
  options.flag("--pin", settings.pin, "Bind every worker to a CPU of its own.");
  auto sets = row_names(counter_sets());
  const std::string help = fmt::format(
      "Count events with perf, in a pass of its own after the timing, {} processes a case: sets "
      "({}) or events as `perf list` shows them; and {}, by callgrind.",
      kCountingProcesses, fmt::join(sets, ", "), model::kInstructionsExact);
  sets.emplace_back(model::kInstructionsExact);
  options.value("--counters", arguments_.plan.counters, "SET|EVENT[,...]",
                By{parse_counters, OptionValues{Kind::list_of, sets}}, help);
  if constexpr (rt::kPlantsDelays) {
    options.value("--plant", arguments_.plan.planted, "PLACE=NS", By{parse_plants},
                  fmt::format("Slow the scheduler down on purpose, at each event of a place: {}. "
                              "May be repeated.",
                              fmt::join(rt::kDelaySites, ", ")));
  }
}

void RunCommand::declare_output(Options& options) {
  options.group("Output");
  RunPlan& plan = arguments_.plan;
  auto* format = options.value(
      "--format", plan.format, "FORMAT", Choice<OutputFormat>{"format", output_formats()},
      fmt::format("What is printed: {}.", fmt::join(row_names(output_formats()), ", ")));
  const Path file{.may_be_dash = false};
  options.value("--json", plan.json, "FILE", file,
                "Write every repetition, as JSON that readers of Google Benchmark's output take.");
  options.value("--json-flat", plan.json_flat, "FILE", file,
                "Write the median of every case, one row each, in the same JSON: for trackers that "
                "chart every row.");
  options.value("--report", plan.report, "DIR", Path{},
                "Write the result as a page with plots, as Markdown and as JSON into this folder; "
                "see `taskbench report`.");
  options
      .flag("--quiet", plan.quiet,
            "Print no progress and no result; needs --json, --json-flat or --report.")
      ->excludes(format);
}

ExitCode RunCommand::execute(const Invocation& invocation) {
  const unsigned cpus = measure::usable_cpu_count();
  const RunPlan plan = plan_run(arguments_, cpus);
  if (list_) {
    std::string names;
    for (const auto& each : plan.cases) names += each.name() + '\n';
    return print_result(names) ? ExitCode::pass : ExitCode::usage;
  }
  for (const auto& file : {plan.json, plan.json_flat}) {
    refuse_unwritable(file, expected_bytes(plan));
  }
  if (plan.report) refuse_unwritable_report(*plan.report);
  print_notes_before(plan, cpus);
  for (const PlantedDelay& each : plan.planted) rt::plant_delay(each.site, each.ns);

  const std::stop_token stop = stop_on_signals();
  model::Run run;
  try {
    run = measure_plan(plan, invocation, stop);
  } catch (const std::bad_alloc&) {
    throw;                                 // as everywhere: main() says what to do
  } catch (const std::exception& error) {  // no thread: nothing to show
    print_error(fmt::format("the measurement failed: {}", error.what()));
    return ExitCode::measured_program_failed;
  }
  if (run.partial) print_note("interrupted; the results are partial");
  const bool counts = plan.counters.any() && !run.partial;
  if (counts) keep_times(plan, run);
  const bool counted = !counts || count(plan, stop, run);
  const std::string moved = verdict::drift_warning(run.drift);
  if (!moved.empty() && !plan.quiet) print_note(moved);
  const bool written = write_files(plan, run);
  const bool printed = print_run(plan, run);
  const bool interrupted = run.partial || !counted;
  const ExitCode reported = write_run_report(plan, run, interrupted, stop);
  const bool failed = report_failures(run);
  // Whoever interrupted wants the loop around this process to end, so that comes first.
  if (interrupted || reported == ExitCode::interrupted) return ExitCode::interrupted;
  if (!written || !printed || reported != ExitCode::pass) return ExitCode::usage;
  return failed ? ExitCode::measured_program_failed : ExitCode::pass;
}

}  // namespace

std::unique_ptr<Command> run_command() { return std::make_unique<RunCommand>(); }

}  // namespace taskbench::cli
