// `taskbench profile`: where the time of a workload goes, by sampling with perf.

#include <algorithm>
#include <thread>

#include "cli/commands/command.hpp"
#include "cli/options/run_plan.hpp"
#include "cli/output/output_file.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/signals.hpp"
#include "cli/output/streams.hpp"
#include "cli/tools/case_command.hpp"
#include "cli/tools/perf_record.hpp"
#include "cli/tools/scratch_folder.hpp"
#include "reports/render/flame_graph.hpp"
#include "workloads/machine/cpu_affinity.hpp"

namespace taskbench::cli {
namespace {

constexpr unsigned kMaxFrequency = 20'000;
constexpr double kMinDuration_s = 0.01;
constexpr double kMaxDuration_s = 600;
constexpr std::size_t kProfileBytes = std::size_t{1} << 20;

constexpr double kGiB = 1 << 30;

struct ProfilePlan {
  RunPlan run;
  unsigned cpus = 1;
  fs::path folded;
  fs::path svg;
  unsigned frequency = 997;  ///< a prime: not in step with what the program does
  double duration_s = 2;
};

ExitCode interrupted() {
  print_note("interrupted; a profile of part of the time is not written, and nothing was kept");
  return ExitCode::interrupted;
}

/// Found out before minutes of sampling have filled the disk.
void refuse_too_much(const ProfilePlan& plan, const fs::path& folder) {
  std::error_code failed;
  const auto space = fs::space(folder, failed);
  // The workers, and the thread that waits for them.
  const unsigned busy = std::min(plan.cpus, plan.run.cases.front().workers + 1);
  const double most = recording_bytes(plan.frequency, busy, plan.duration_s);
  if (failed || most <= static_cast<double>(space.available)) return;
  throw UsageError(fmt::format(
      "{} of sampling at {} Hz on {} CPU{} may take {:.1f} GiB, and '{}' has {:.1f} GiB left: "
      "shorten it (--duration), sample less often (--frequency), or name a folder on a larger disk "
      "by TMPDIR",
      duration_limit_text(plan.duration_s), plan.frequency, busy, busy == 1 ? "" : "s", most / kGiB,
      folder.parent_path().string(), static_cast<double>(space.available) / kGiB));
}

class ProfileCommand final : public Command {
 public:
  void declare(Options& options) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  [[nodiscard]] ProfilePlan plan() const;

  RunArguments arguments_;
  ProfilePlan plan_;
  fs::path folder_ = "taskbench-profile";
};

void ProfileCommand::declare(Options& options) {
  options.app().description(
      "Show where the time of a workload goes, by sampling it with perf.\n\n"
      "Runs it once under `perf record`, sampling its timed part only, and writes the stacks that "
      "were found: profile.folded for other tools, and profile.svg, a flame graph.");
  options.app().footer(
      "Examples:\n"
      "  taskbench profile ping_pong\n"
      "  taskbench profile spawn_many --workers 4 --duration 10s --out profiles/spawn_many\n\n"
      "Exit status: 0 done, 2 usage or input error, 4 perf cannot sample here, 5 the workload "
      "failed, 130 interrupted.");
  declare_one_case(options, arguments_, "sample");
  options.app().get_option("WORKLOAD")->required();
  options.group("How to sample");
  options.value("--frequency", plan_.frequency, "HZ", Number{1, kMaxFrequency},
                fmt::format("Samples a second and CPU, up to {}.", kMaxFrequency));
  options.value("--duration", plan_.duration_s, "TIME", Duration{kMinDuration_s, kMaxDuration_s},
                "How long is sampled, at least: 500ms, 10s.");
  options.group("Output");
  options.value("--out", folder_, "DIR", Path{}, "Folder for the files; it is made if need be.");
}

ProfilePlan ProfileCommand::plan() const {
  ProfilePlan plan = plan_;
  const auto allowed = static_cast<unsigned>(measure::allowed_cpus().size());
  plan.cpus = allowed > 0 ? allowed : std::max(1U, std::thread::hardware_concurrency());
  plan.run = plan_run(arguments_, plan.cpus);
  if (plan.run.cases.size() != 1 || !plan.run.left_out.empty()) {
    throw UsageError(fmt::format(
        "profile takes one workload, one scheduler and one worker count; these are {} cases",
        plan.run.cases.size() + plan.run.left_out.size()));
  }
  std::error_code failed;
  fs::create_directories(folder_, failed);
  if (failed) {
    throw UsageError(fmt::format(
        "--out: '{}' cannot be made: {}; name another folder, or change its permissions",
        folder_.string(), failed.message()));
  }
  plan.folded = folder_ / "profile.folded";
  plan.svg = folder_ / "profile.svg";
  for (const auto& file : {plan.folded, plan.svg}) refuse_unwritable(file, kProfileBytes);
  return plan;
}

ExitCode ProfileCommand::execute(const Invocation&) {
  const ProfilePlan plan = this->plan();
  const auto& spec = plan.run.cases.front();
  const std::stop_token stop = stop_on_signals();
  Recording recording;
  try {
    const ScratchFolder scratch;
    refuse_too_much(plan, scratch.path());
    ProgressLine progress(progress_style(false));
    recording = record(
        case_command(plan.run, spec, plan.duration_s, scratch.path() / "result.json"),
        plan.frequency, 120 + 20 * plan.duration_s, scratch.path(), stop, [&](double elapsed_s) {
          progress.show(
              fmt::format("sampling {}, {} elapsed", spec.name(), duration_text(elapsed_s)));
        });
  } catch (const PerfError& error) {
    if (stop.stop_requested()) return interrupted();
    print_error(fmt::format("no profile: {}", error.what()));
    return ExitCode::wrong_machine;
  } catch (const WorkloadError& error) {
    if (stop.stop_requested()) return interrupted();
    print_error(fmt::format("no profile: the workload failed: {}", error.what()));
    return ExitCode::measured_program_failed;
  } catch (const fs::filesystem_error& error) {
    throw UsageError(fmt::format(
        "no room for temporary files at '{}': {}; set TMPDIR to a folder that can be written",
        error.path1().string(), error.code().message()));
  }
  const auto samples = recording.profile.samples();
  if (samples == 0) {
    print_error(
        "no profile: perf took no sample; sample for longer (--duration) or more often "
        "(--frequency)");
    return ExitCode::wrong_machine;
  }
  const std::string event = recording.event + (recording.user_only ? " (user only)" : "");
  const std::string title = fmt::format("{}: {} at {} Hz", spec.name(), event, plan.frequency);
  for (const auto& [path, content] :
       {std::pair{plan.folded, render::folded(recording.profile)},
        std::pair{plan.svg, render::flame_graph(recording.profile, title)}}) {
    if (!write_output(path, content, true)) return ExitCode::usage;
  }
  if (recording.user_only) {
    print_note(
        "user only: what the kernel did for the workload is not in it; `sudo sysctl "
        "kernel.perf_event_paranoid=1` permits that");
  }
  const std::size_t stacks = recording.profile.stacks.size();
  const bool printed = print_result(fmt::format("{}: {} sample{} by {}, {} different stack{}\n",
                                                spec.name(), samples, samples == 1 ? "" : "s",
                                                event, stacks, stacks == 1 ? "" : "s"));
  return printed ? ExitCode::pass : ExitCode::usage;
}

}  // namespace

std::unique_ptr<Command> profile_command() { return std::make_unique<ProfileCommand>(); }

}  // namespace taskbench::cli
