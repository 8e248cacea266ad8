// `taskbench doctor`: what will disturb a measurement here, and the least that anything costs.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <thread>

#include "cli/commands/command.hpp"
#include "cli/options/options.hpp"
#include "cli/options/run_plan.hpp"
#include "cli/output/output_file.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/signals.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/terminal.hpp"
#include "reports/json/answers.hpp"
#include "reports/render/doctor.hpp"
#include "reports/verdict/doctor.hpp"
#include "workloads/machine/cpu_affinity.hpp"
#include "workloads/machine/disturbances.hpp"
#include "workloads/machine/drift.hpp"
#include "workloads/machine/environment.hpp"
#include "workloads/machine/floor.hpp"
#include "workloads/measure/measure.hpp"

namespace taskbench::cli {
namespace {

// The kernel counts CPU time in ticks of 10 ms: less than half a second says nothing.
constexpr double kRest_s = 0.6;
constexpr std::int64_t kRepetitions = 5;
constexpr double kFirstLookMinTime_s = 0.02;

class Examination {
 public:
  Examination(const std::stop_token& stop, bool quiet)
      : stop_(stop), line_(progress_style(quiet)) {}

  /// About two seconds. When `stop` is set on the way, what is found is not worth showing.
  model::DoctorReport run(const std::string& executable) {
    model::DoctorReport report;
    report.environment = measure::probe_environment(executable);
    model::DoctorFacts facts = measure::probe_disturbances();
    facts.tools = measure::probe_tools(stop_);
    watch_at_rest(facts);
    const auto before = measure::read_machine();
    line_.show("measuring the floor");
    report.floor = measure::measure_floor(stop_);
    report.workloads = first_look();
    facts.at_work = measure::drift_between(before, measure::read_machine());
    report.findings = verdict::diagnose(facts);
    report.at_rest = facts.at_rest;
    report.at_work = facts.at_work;
    line_.clear();
    return report;
  }

 private:
  void watch_at_rest(model::DoctorFacts& facts) {
    line_.show("watching what else runs");
    const auto processes = measure::read_process_times();
    const auto before = measure::read_machine();
    for (const double until = line_.elapsed_s() + kRest_s;
         line_.elapsed_s() < until && !stop_.stop_requested();) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    facts.at_rest = measure::drift_between(before, measure::read_machine());
    facts.busiest = model::Fact<std::vector<model::BusyProcess>>::known(measure::busiest_processes(
        processes, measure::read_process_times(), facts.at_rest.seconds));
  }

  /// Each workload, as `taskbench run` would measure it, for a moment.
  std::vector<model::Case> first_look() {
    const auto cpus = static_cast<unsigned>(measure::allowed_cpus().size());
    const RunPlan plan = plan_run({}, std::max(1U, cpus));
    measure::Settings settings = plan.settings;
    settings.repetitions = kRepetitions;
    settings.min_time_s = settings.warmup_s = kFirstLookMinTime_s;
    const auto progress = [&](const measure::Progress& now) {
      if (!now.case_name.empty()) line_.show(fmt::format("a first look at {}", now.case_name));
    };
    return measure::measure(plan.cases, settings, progress, stop_).cases;
  }

  std::stop_token stop_;
  ProgressLine line_;
};

bool print_report(const model::DoctorReport& report, bool as_json) {
  if (as_json) return print_result(json::to_json(report));
  return print_result(render::table(report, table_style(STDOUT_FILENO)));
}

bool report_failures(const model::DoctorReport& report) {
  bool failed = false;
  for (const auto& each : report.workloads) {
    if (each.error.empty()) continue;
    print_error(fmt::format("{}: {}", each.name, each.error));
    failed = true;
  }
  return failed;
}

class DoctorCommand final : public Command {
 public:
  void declare(Options& options) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  const PrintedForm* form_ = kTableOrJson;
  std::optional<fs::path> json_;
  bool quiet_ = false;
};

void DoctorCommand::declare(Options& options) {
  options.app().description(
      "Say what will disturb a measurement here, and how to fix it.\n\n"
      "Worst first. Looks at the build, the CPUs, what else runs, the limits of this process, "
      "memory, clock and tools; measures the least that anything costs here, and gives a first "
      "look at each workload beside it. A finding is serious when it moves results by 10 % and "
      "more. Takes two seconds.");
  options.app().footer(
      "Examples:\n"
      "  taskbench doctor\n"
      "  taskbench doctor --quiet && taskbench run\n"
      "  taskbench doctor --json doctor.json\n"
      "  taskbench doctor --format json\n\n"
      "Exit status: 0 nothing serious, 2 usage or input error, 4 a finding is serious, 5 a "
      "workload failed, 130 interrupted. What is moderate, minor or unknown does not change it.");
  declare_form(options, form_);
  options.value("--json", json_, "FILE", Path{}, "Write all that was found as JSON.");
  options.flag("--quiet", quiet_, "Print nothing: the exit status says whether it is serious.");
}

ExitCode DoctorCommand::execute(const Invocation& invocation) {
  constexpr std::size_t kFileBytes = 64 * 1024;
  refuse_unwritable(json_, kFileBytes);
  const std::stop_token stop = stop_on_signals();
  model::DoctorReport report;
  try {
    report = Examination(stop, quiet_).run(invocation.command_line.front());
  } catch (const std::exception& error) {  // no thread, no memory
    print_error(fmt::format("the examination failed: {}", error.what()));
    return ExitCode::measured_program_failed;
  }
  if (stop.stop_requested()) {
    print_note("interrupted; nothing is known yet");
    return ExitCode::interrupted;
  }
  const bool written = write_output(json_, json::to_json(report), !quiet_);
  const bool printed = quiet_ || print_report(report, form_->is_json);
  if (!written || !printed) return ExitCode::usage;
  if (report_failures(report)) return ExitCode::measured_program_failed;
  return verdict::is_disturbed(report.findings) ? ExitCode::wrong_machine : ExitCode::pass;
}

}  // namespace

std::unique_ptr<Command> doctor_command() { return std::make_unique<DoctorCommand>(); }

}  // namespace taskbench::cli
