// `taskbench trace`: records what every worker does when, for a trace viewer.

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <exception>

#include "cli/commands/command.hpp"
#include "cli/options/run_plan.hpp"
#include "cli/output/output_file.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/signals.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/terminal.hpp"
#include "reports/json/chrome_trace.hpp"
#include "reports/render/trace.hpp"
#include "workloads/machine/cpu_affinity.hpp"
#include "workloads/machine/environment.hpp"
#include "workloads/measure/tracing.hpp"

namespace taskbench::cli {
namespace {

using measure::TraceOutcome;
using measure::TraceSettings;

constexpr std::uint64_t kMaxTracedIterations = 1'000'000;
constexpr std::uint64_t kLeastEvents = 16;
/// Of all rings together. A trace of this size is far beyond what a viewer takes.
constexpr std::uint64_t kMaxRingBytes = std::uint64_t{4} << 30;
/// Whether so much can be written is found out before; how much it will be nobody knows.
constexpr std::size_t kLeastFileBytes = 1 << 20;

struct TracePlan {
  measure::Case spec;
  measure::TraceSettings settings;
  fs::path out;
  bool quiet = false;
};

void refuse_all_but_one_workload(const Strings& words) {
  const auto named = std::ranges::count_if(
      words, [](const std::string& word) { return word.find('=') == std::string::npos; });
  if (named == 0) {
    throw UsageError(
        fmt::format("name a workload: {}", fmt::join(row_names(workloads::all()), ", ")));
  }
  if (named > 1) throw UsageError("give one WORKLOAD only: a trace is of one case");
}

/// Fills in the case.
TracePlan complete(TracePlan plan, const RunArguments& arguments) {
  refuse_all_but_one_workload(arguments.words);
  const RunPlan run = plan_run(arguments, measure::usable_cpu_count());
  if (run.cases.size() != 1 || !run.left_out.empty()) {
    throw UsageError("give one scheduler and one worker count only: a trace is of one case");
  }
  plan.spec = run.cases.front();
  const std::uint64_t ring_bytes =
      std::uint64_t{std::bit_ceil(plan.settings.events)} * rt::kTraceEventBytes;
  if ((plan.spec.workers + 1) * ring_bytes > kMaxRingBytes) {
    throw UsageError(fmt::format("--events: {} of {} workers take more than {} GiB; give fewer",
                                 plan.settings.events, plan.spec.workers, kMaxRingBytes >> 30));
  }
  if (plan.out.empty()) throw UsageError("say where to write the trace: --out FILE");
  return plan;
}

TraceOutcome record(const TracePlan& plan, const std::stop_token& stop) {
  constexpr double kBetweenLooks_s = 0.25;
  ProgressLine line(progress_style(plan.quiet));
  double shown_s = 0;
  const auto progress = [&](std::int64_t done, std::int64_t all) {
    const double now_s = line.elapsed_s();
    if (now_s - shown_s < kBetweenLooks_s) return;
    shown_s = now_s;
    line.show(fmt::format("{}/{} iterations, {} elapsed", done, all, duration_text(now_s)));
  };
  return measure::trace_case(plan.spec, plan.settings, progress, stop);
}

bool write(const TracePlan& plan, const model::Trace& trace) {
  if (!write_output(plan.out, json::to_chrome_trace(trace))) return false;
  if (!plan.quiet) {
    print_note(fmt::format("wrote {}; open it in https://ui.perfetto.dev or chrome://tracing",
                           plan.out.string()));
  }
  return true;
}

bool print(const TracePlan& plan, const model::Trace& trace) {
  if (plan.quiet) return true;
  return print_result(render::table(trace, table_style(STDOUT_FILENO)));
}

/// Files what there is, complete or not.
ExitCode conclude(const TracePlan& plan, const TraceOutcome& outcome) {
  const std::size_t iterations = outcome.trace.iterations.size();
  bool is_told = true;
  if (iterations > 0) {
    const bool is_written = write(plan, outcome.trace);
    is_told = print(plan, outcome.trace) && is_written;
  }
  if (!outcome.error.empty()) {
    print_error(fmt::format("{}: {}", plan.spec.name(), outcome.error));
  }
  if (outcome.interrupted) {
    print_note(iterations > 0 ? fmt::format("interrupted; the trace has {} of {} iterations",
                                            iterations, plan.settings.iterations)
                              : "interrupted before the first traced iteration was complete");
    return ExitCode::interrupted;
  }
  if (!is_told) return ExitCode::usage;
  return outcome.error.empty() ? ExitCode::pass : ExitCode::measured_program_failed;
}

class TraceCommand : public Command {
 public:
  void declare(Options& options) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  RunArguments arguments_;
  TracePlan plan_;
};

void TraceCommand::declare(Options& options) {
  options.app().description(
      "Record what every worker does when, for a trace viewer.\n\n"
      "Runs one workload with the tracer on: spawns, polls, wakes, steals, parks, unparks and "
      "overflows, with worker and time. The file opens in https://ui.perfetto.dev and "
      "chrome://tracing. Tracing slows the scheduler down: times are those of `taskbench run`.");
  options.app().footer(
      "Examples:\n"
      "  taskbench trace ping_pong --out ping_pong.json\n"
      "  taskbench trace spawn_local --workers 4 --iterations 3 --out trace.json\n"
      "  taskbench trace yield_many --scheduler current_thread --out trace.json\n\n"
      "Exit status: 0 done, 2 usage or input error, 5 the workload failed, 130 interrupted.");
  declare_one_case(options, arguments_, "trace");
  TraceSettings& settings = plan_.settings;
  options.value("--seed", settings.seed, "N", Number{0, kMaxSeed}, "Seed of the scheduler.");
  options.group("How much");
  options.value("--iterations", settings.iterations, "N", Number{1, kMaxTracedIterations},
                "Iterations of the workload to trace.");
  options.value("--warmup", settings.warmup_iterations, "N", Number{0, kMaxTracedIterations},
                "Iterations before, which are left out of the trace.");
  options.value("--events", settings.events, "N", Number{kLeastEvents, rt::kMaxTraceEvents},
                fmt::format("Events kept of each worker, the newest: up to {}, {} bytes each, and "
                            "rounded up to a power of two.",
                            rt::kMaxTraceEvents, rt::kTraceEventBytes));
  options.group("Output");
  options.value("--out", plan_.out, "FILE", Path{.may_be_dash = false},
                "Where to write the trace.");
  options.flag("--quiet", plan_.quiet, "Print no progress and no summary.");
}

ExitCode TraceCommand::execute(const Invocation& invocation) {
  const TracePlan plan = complete(plan_, arguments_);
  refuse_unwritable(plan.out, kLeastFileBytes);
  const std::stop_token stop = stop_on_signals();
  TraceOutcome outcome;
  try {
    outcome = record(plan, stop);
  } catch (const std::bad_alloc&) {
    throw;                                 // as everywhere: main() says what to do
  } catch (const std::exception& error) {  // no thread
    print_error(fmt::format("the workload could not be traced: {}", error.what()));
    return ExitCode::measured_program_failed;
  }
  outcome.trace.environment = measure::probe_environment(invocation.command_line.front());
  return conclude(plan, outcome);
}

}  // namespace

std::unique_ptr<Command> trace_command() { return std::make_unique<TraceCommand>(); }

}  // namespace taskbench::cli
