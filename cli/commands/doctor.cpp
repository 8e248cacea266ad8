// `taskbench doctor`: finds disturbances of measurements on this machine, and the least that
// anything costs.
#include <exception>
#include <thread>

#include "cli/commands/command.hpp"
#include "cli/options/run_plan.hpp"
#include "cli/output/output.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/signals.hpp"
#include "harness/machine/core_share.hpp"
#include "harness/machine/disturbances.hpp"
#include "harness/machine/drift.hpp"
#include "harness/machine/environment.hpp"
#include "harness/machine/floor.hpp"
#include "harness/os/cpu_affinity.hpp"
#include "reports/json/writer.hpp"
#include "reports/render/render.hpp"
#include "reports/verdict/doctor.hpp"
#include "workloads/base/workload.hpp"

namespace taskbench::cli {
namespace {

// The kernel counts CPU time in ticks of 10 ms: less than half a second is meaningless.
constexpr double kRest_s = 0.6;
constexpr std::int64_t kRepetitions = 5;
constexpr double kFirstLookMinTime_s = 0.02;

void watch_at_rest(ProgressLine& line, const std::stop_token& stop, model::DoctorFacts& facts) {
  line.show("watching what else runs");
  const auto processes = read_process_times();
  const auto before = read_machine();
  for (const double until = line.elapsed_s() + kRest_s;
       line.elapsed_s() < until && !stop.stop_requested();) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  facts.at_rest = drift_between(before, read_machine());
  facts.busiest = model::Fact<std::vector<model::BusyProcess>>::known(
      busiest_processes(processes, read_process_times(), facts.at_rest.seconds));
}

/// Runs each workload briefly, as `taskbench run` would measure it.
std::vector<model::Case> first_look(ProgressLine& line, const std::stop_token& stop) {
  const RunPlan plan = plan_run({}, usable_cpu_count());
  Settings settings = plan.settings;
  settings.repetitions = kRepetitions;
  settings.min_time_s = settings.warmup_s = kFirstLookMinTime_s;
  const auto progress = [&](const Progress& now) {
    if (!now.case_name.empty()) line.show("a first look at {}", now.case_name);
  };
  return measure(plan.cases, settings, progress, stop).cases;
}

/// Takes about five seconds. If `stop` is requested meanwhile, the report is not worth showing.
model::DoctorReport examine(const std::string& executable, bool quiet,
                            const std::stop_token& stop) {
  ProgressLine line(quiet);
  model::DoctorReport report;
  report.environment = probe_environment(executable, workloads::kWorkloadsVersion);
  model::DoctorFacts facts = probe_disturbances();
  facts.tools = probe_tools(stop);
  watch_at_rest(line, stop, facts);
  line.show("looking for somebody else on the core");
  facts.core_share = probe_core_share(stop);
  const auto before = read_machine();
  line.show("measuring the floor");
  report.floor = measure_floor(stop);
  report.workloads = first_look(line, stop);
  facts.at_work = drift_between(before, read_machine());
  report.findings = verdict::diagnose(facts);
  report.at_rest = facts.at_rest;
  report.at_work = facts.at_work;
  return report;
}

class DoctorCommand final : public Command {
  void declare(Options& options) override {
    options.describe(
        "Say what will disturb a measurement here, and how to fix it.\n\n"
        "Worst first. Looks at the build, the CPUs, what else runs, the limits of this process, "
        "memory, clock and tools; measures the least that anything costs here, and gives a first "
        "look at each workload beside it. A finding is serious if it changes results by 10 % or "
        "more. Takes about five seconds.",
        "Examples:\n"
        "  taskbench doctor\n"
        "  taskbench doctor --quiet && taskbench run\n"
        "  taskbench doctor --json doctor.json\n"
        "  taskbench doctor --format json\n\n"
        "Exit status: 0 nothing serious, 2 usage or input error, 4 a finding is serious, 5 a "
        "workload failed, 130 interrupted. Moderate, minor and unknown findings do not count.");
    options.group("Output");
    declare_format(options, format_);
    options.value("--json", json_, "FILE", Path{}, "Write all findings as JSON.");
    options.flag("--quiet", quiet_,
                 "Print nothing: the exit status says whether a finding is serious.");
  }

  ExitCode execute(const Invocation& invocation) override {
    refuse_unwritable(json_, 64 * 1024);
    const std::stop_token stop = stop_on_signals();
    model::DoctorReport report;
    try {
      report = examine(invocation.command_line.front(), quiet_, stop);
    } catch (const std::exception& error) {  // no thread or no memory
      print_error("the examination failed: {}", error.what());
      return ExitCode::measured_program_failed;
    }
    if (stop.stop_requested()) {
      print_note("interrupted; nothing is known yet");
      return ExitCode::interrupted;
    }
    const std::string as_json = json::to_json(report);
    const bool written = write_output(json_, as_json, !quiet_);
    const bool printed = quiet_ || print_answer({.document = render::document(report),
                                                 .json = [&] { return as_json; }},
                                                *format_);
    if (!written || !printed) return ExitCode::usage;
    if (report_failures(report.workloads)) return ExitCode::measured_program_failed;
    return verdict::is_disturbed(report.findings) ? ExitCode::wrong_machine : ExitCode::pass;
  }

  const render::Format* format_ = nullptr;
  std::optional<fs::path> json_;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> doctor_command() { return std::make_unique<DoctorCommand>(); }

}  // namespace taskbench::cli
