// `taskbench profile`: shows where a workload spends its time, by sampling with perf.

#include "cli/commands/command.hpp"
#include "cli/options/run_plan.hpp"
#include "cli/output/output.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/signals.hpp"
#include "harness/counting/counter_pass.hpp"
#include "harness/counting/perf.hpp"
#include "harness/files/scratch_folder.hpp"
#include "harness/os/cpu_affinity.hpp"
#include "reports/model/date.hpp"
#include "reports/render/flame_graph.hpp"
#include "reports/render/numbers.hpp"

namespace taskbench::cli {
namespace {

constexpr unsigned kMaxFrequency = 20'000;
constexpr std::size_t kProfileBytes = std::size_t{1} << 20;

class ProfileCommand final : public Command {
  void declare(Options& options) override {
    options.describe(
        "Show where the time of a workload goes, by sampling it with perf.\n\n"
        "Runs it once under `perf record`, sampling its timed part only, and writes the stacks "
        "that were found: profile.folded for other tools, and profile.svg, a flame graph.",
        "Examples:\n"
        "  taskbench profile ping_pong\n"
        "  taskbench profile spawn_many --workers 4 --duration 10s --out profiles/spawn_many\n\n"
        "Exit status: 0 done, 2 usage or input error, 4 perf cannot sample here, 5 the workload "
        "failed, 130 interrupted.");
    declare_one_case(options, arguments_, "sample");
    options.group("How to sample");
    options.value("--frequency", frequency_, "HZ", Number{1, kMaxFrequency},
                  fmt::format("Samples per second and CPU, up to {}.", kMaxFrequency));
    options.value("--duration", duration_s_, "TIME", Duration{0.01, 600},
                  "The shortest time to sample: 500ms, 10s.");
    options.group("Output");
    options.value("--out", folder_, "DIR", Path{}, "Folder for the files, created if missing.");
  }

  ExitCode execute(const Invocation&) override {
    const unsigned cpus = usable_cpu_count();
    const RunPlan plan = plan_one_case(arguments_, cpus, "profile");
    const auto& spec = plan.cases.front();
    const fs::path folded = folder_ / "profile.folded";
    const fs::path svg = folder_ / "profile.svg";
    prepare_folder();
    for (const auto& file : {folded, svg}) refuse_unwritable(file, kProfileBytes);
    const std::stop_token stop = stop_on_signals();
    const auto failed = [&](const std::string& why, ExitCode code) {
      if (stop.stop_requested()) {
        print_note(
            "interrupted; a profile of part of the time is not written, and nothing was kept");
        return ExitCode::interrupted;
      }
      print_error("no profile: " + why);
      return code;
    };
    Recording recording;
    try {
      const ScratchFolder scratch;
      // The busy threads are the workers and the thread that waits for them.
      refuse_too_much(std::min(cpus, spec.workers + 1), scratch.path());
      ProgressLine progress(false);
      const auto waiting = [&](double elapsed_s) {
        progress.show("sampling {}, {} elapsed", spec.name(), model::duration_text(elapsed_s));
      };
      recording = record(case_command(plan, spec, duration_s_, scratch.path() / "result.json"),
                         frequency_, 120 + 20 * duration_s_, scratch.path(), stop, waiting);
    } catch (const PerfError& error) {
      return failed(error.what(), ExitCode::wrong_machine);
    } catch (const WorkloadError& error) {
      return failed(fmt::format("the workload failed: {}", error.what()),
                    ExitCode::measured_program_failed);
    }
    const auto samples = recording.profile.samples();
    if (samples == 0) {
      return failed(
          "perf took no sample; sample for longer (--duration) or more often (--frequency)",
          ExitCode::wrong_machine);
    }
    const std::string event = recording.event + (recording.user_only ? " (user only)" : "");
    const std::string title = fmt::format("{}: {} at {} Hz", spec.name(), event, frequency_);
    if (!write_output(folded, render::folded(recording.profile), true) ||
        !write_output(svg, render::flame_graph(recording.profile, title), true)) {
      return ExitCode::usage;
    }
    if (recording.user_only) {
      print_note(
          "user only: what the kernel did for the workload is not included; `sudo sysctl "
          "kernel.perf_event_paranoid=1` permits that");
    }
    return printed(
        fmt::format("{}: {} by {}, {}\n", spec.name(),
                    render::counted(static_cast<std::size_t>(samples), "sample"), event,
                    render::counted(recording.profile.stacks.size(), "different stack")));
  }

  void prepare_folder() const {
    std::error_code failed;
    fs::create_directories(folder_, failed);
    if (failed) {
      refuse("--out: '{}' cannot be made: {}; name another folder, or change its permissions",
             folder_.string(), failed.message());
    }
  }

  /// Refuses a profile that needs too much room, before minutes of sampling have filled the disk.
  void refuse_too_much(unsigned busy_cpus, const fs::path& folder) const {
    constexpr double kGiB = 1 << 30;
    std::error_code failed;
    const auto space = fs::space(folder, failed);
    const double most = recording_bytes(frequency_, busy_cpus, duration_s_);
    if (failed || most <= static_cast<double>(space.available)) return;
    refuse(
        "{} of sampling at {} Hz on {} may take {:.1f} GiB, and '{}' has {:.1f} GiB left: shorten "
        "it (--duration), sample less often (--frequency), or name a folder on a larger "
        "disk by TMPDIR",
        duration_limit_text(duration_s_), frequency_, render::counted(busy_cpus, "CPU"),
        most / kGiB, folder.parent_path().string(), static_cast<double>(space.available) / kGiB);
  }

  RunArguments arguments_;
  fs::path folder_ = "taskbench-profile";
  unsigned frequency_ = 997;  ///< prime, to avoid resonance with periodic work
  double duration_s_ = 2;
};

}  // namespace

std::unique_ptr<Command> profile_command() { return std::make_unique<ProfileCommand>(); }

}  // namespace taskbench::cli
