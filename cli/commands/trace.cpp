// `taskbench trace`: records the activity of every worker over time, for a trace viewer.
#include <bit>
#include <exception>

#include "cli/commands/command.hpp"
#include "cli/options/run_plan.hpp"
#include "cli/output/output.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/signals.hpp"
#include "harness/bench/tracing.hpp"
#include "harness/machine/environment.hpp"
#include "harness/os/cpu_affinity.hpp"
#include "reports/json/chrome_trace.hpp"
#include "reports/model/date.hpp"
#include "reports/render/render.hpp"
#include "workloads/base/workload.hpp"

namespace taskbench::cli {
namespace {

constexpr std::uint64_t kMaxTracedIterations = 1'000'000;
constexpr std::uint64_t kLeastEvents = 16;

/// Limit on the memory of all rings together. A trace of this size is far beyond what a viewer can
/// open.
constexpr std::uint64_t kMaxRingBytes = std::uint64_t{4} << 30;

/// Bytes that must be free on the disk before tracing begins; the size of the trace is not known
/// yet.
constexpr std::size_t kLeastFileBytes = 1 << 20;

class TraceCommand final : public Command {
  void declare(Options& options) override {
    options.describe(
        "Record what every worker does when, for a trace viewer.\n\n"
        "Runs one workload with the tracer on: spawns, polls, wakes, steals, parks, unparks and "
        "overflows, with worker and time. The file opens in https://ui.perfetto.dev and "
        "chrome://tracing. Tracing slows the scheduler down: for times, use `taskbench run`.",
        "Examples:\n"
        "  taskbench trace ping_pong --out ping_pong.json\n"
        "  taskbench trace spawn_local --workers 4 --iterations 3 --out trace.json\n"
        "  taskbench trace yield_many --scheduler current_thread --out trace.json\n\n"
        "Exit status: 0 done, 2 usage or input error, 5 the workload failed, 130 interrupted.");
    declare_one_case(options, arguments_, "trace");
    options.value("--seed", settings_.seed, "N", Number{0, kMaxSeed}, "Seed of the scheduler.");
    options.group("How much");
    options.value("--iterations", settings_.iterations, "N", Number{1, kMaxTracedIterations},
                  "Iterations of the workload to trace.");
    options.value("--warmup", settings_.warmup_iterations, "N", Number{0, kMaxTracedIterations},
                  "Iterations to run first, which are left out of the trace.");
    options.value("--events", settings_.events, "N", Number{kLeastEvents, rt::kMaxTraceEvents},
                  fmt::format("Events to keep of each worker, the newest: up to {}, {} bytes each, "
                              "rounded up to a power of two.",
                              rt::kMaxTraceEvents, rt::kTraceEventBytes));
    options.group("Output");
    options.value("--out", out_, "FILE", Path{.may_be_dash = false}, "Where to write the trace.");
    auto* format = declare_format(options, format_);
    options.flag("--quiet", quiet_, "Print no progress and no summary.")->excludes(format);
  }

  ExitCode execute(const Invocation& invocation) override {
    const RunPlan plan = plan_one_case(arguments_, usable_cpu_count(), "trace");
    const Case& spec = plan.cases.front();
    if ((spec.workers + 1) * std::uint64_t{std::bit_ceil(settings_.events)} * rt::kTraceEventBytes >
        kMaxRingBytes) {
      refuse("--events: {} of {} workers take more than {} GiB; give fewer", settings_.events,
             spec.workers, kMaxRingBytes >> 30);
    }
    if (out_.empty()) throw UsageError("say where to write the trace: --out FILE");
    refuse_unwritable(out_, kLeastFileBytes);
    const std::stop_token stop = stop_on_signals();
    TraceOutcome outcome;
    try {
      outcome = record_trace(spec, stop);
    } catch (const std::bad_alloc&) {
      throw;                                 // handled by run_command_line()
    } catch (const std::exception& error) {  // no thread
      print_error("the workload could not be traced: {}", error.what());
      return ExitCode::measured_program_failed;
    }
    outcome.trace.environment =
        probe_environment(invocation.command_line.front(), workloads::kWorkloadsVersion);
    return conclude(spec, outcome);
  }

  TraceOutcome record_trace(const Case& spec, const std::stop_token& stop) const {
    constexpr double kBetweenLooks_s = 0.25;
    ProgressLine line(quiet_);
    double shown_s = 0;
    const auto progress = [&](std::int64_t done, std::int64_t all) {
      const double now_s = line.elapsed_s();
      if (now_s - shown_s < kBetweenLooks_s) return;
      shown_s = now_s;
      line.show("{}/{} iterations, {} elapsed", done, all, model::duration_text(now_s));
    };
    return trace_case(spec, settings_, progress, stop);
  }

  /// Writes the trace, complete or not.
  ExitCode conclude(const Case& spec, const TraceOutcome& outcome) const {
    const std::size_t iterations = outcome.trace.iterations.size();
    bool is_told = true;
    if (iterations > 0) {
      is_told = write_output(out_, json::to_chrome_trace(outcome.trace));
      if (is_told && !quiet_) {
        print_note("wrote {}; open it in https://ui.perfetto.dev or chrome://tracing",
                   out_.string());
      }
      const auto& trace = outcome.trace;
      is_told = (quiet_ || print_answer({.document = render::document(trace),
                                         .json = [&] { return json::to_chrome_trace(trace); }},
                                        *format_)) &&
                is_told;
    }
    if (!outcome.error.empty()) print_error("{}: {}", spec.name(), outcome.error);
    if (outcome.interrupted) {
      print_note(iterations > 0 ? fmt::format("interrupted; the trace has {} of {} iterations",
                                              iterations, settings_.iterations)
                                : "interrupted before the first traced iteration was complete");
      return ExitCode::interrupted;
    }
    if (!is_told) return ExitCode::usage;
    return outcome.error.empty() ? ExitCode::pass : ExitCode::measured_program_failed;
  }

  RunArguments arguments_;
  TraceSettings settings_;
  const render::Format* format_ = nullptr;
  fs::path out_;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> trace_command() { return std::make_unique<TraceCommand>(); }

}  // namespace taskbench::cli
