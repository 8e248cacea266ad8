// `taskbench calibrate`: measures the noise floor of this machine.

#include "cli/commands/command.hpp"
#include "cli/options/trial_options.hpp"
#include "cli/output/output.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/signals.hpp"
#include "harness/machine/environment.hpp"
#include "harness/machine/machine.hpp"
#include "harness/trials/calibration.hpp"
#include "reports/json/writer.hpp"
#include "reports/model/date.hpp"
#include "reports/render/baseline.hpp"
#include "reports/render/render.hpp"
#include "reports/render/verdict_table.hpp"
#include "reports/verdict/drift.hpp"
#include "reports/verdict/noise.hpp"

namespace taskbench::cli {
namespace {

constexpr int kMaxTrials = 1000;

void warn_of_large_floors(const model::NoiseCalibration& noise) {
  const double delta = model::PairedSetup{}.delta;
  for (const auto& [name, each] : noise.benchmarks) {
    if (each.epsilon <= delta) continue;
    print_note(
        "the noise floor of {} is {}, above the default --delta of {}: ab, gate and baseline will "
        "pass any smaller slowdown of it; calibrate on a quieter machine, or for longer "
        "(--min-time)",
        name, render::percent(each.epsilon), render::percent(delta));
  }
}

/// Declares the options that a resumed calibration takes from its trials, and those that may
/// change.
void declare_measuring(Options& options, CalibrationPlan& plan) {
  options.group("What to measure");
  options
      .value("--workload", plan.workloads, "NAME[,NAME...]", BenchmarkNames{},
             "Benchmarks to calibrate: names, or beginnings of names.")
      ->default_str("all");
  options.flag("--trust-me", plan.trusted,
               "Do not check that they are copies of one build. The store records that.");

  options.group("How to measure");
  options.value("--budget", plan.setup.budget_s, "TIME", Duration{1, kMaxBudget_s},
                "Stop after this time; only trials that are complete by then count.");
  options.value("--trials", plan.trials, "N", Number{1, kMaxTrials}, "Maximum number of trials.")
      ->default_str(
          fmt::format("{} for each copy, {} at least", kTrialsOfCopy, kLeastDefaultTrials));
  options.value("--blocks", plan.setup.max_blocks, "N", Number{2, 64}, "Blocks of each trial.");
  declare_sampling(options, plan.setup, plan.timeout_s);
  declare_kind(options, plan.setup.kind);
}

/// Refuses an option that differs from its value when the trials began. The budget, the timeout and
/// the number of trials may change.
void refuse_other_options(const CalibrationPlan& plan, const Invocation& invocation,
                          const model::PairedSetup& then) {
  CalibrationPlan now = plan;
  CalibrationPlan begun = plan;
  begun.setup = then;
  begun.setup.budget_s = plan.setup.budget_s;
  const Strings named = benchmark_names(plan.workloads, then.benchmarks);
  if (chosen_benchmarks(named, then.benchmarks) != then.benchmarks) begun.workloads.clear();
  refuse_given(
      differing_options([&](Options& options) { declare_measuring(options, now); },
                        [&](Options& options) { declare_measuring(options, begun); }),
      invocation,
      fmt::format(
          "the trials in {} were started with another; leave the option out, or start again",
          plan.journals.string()));
}

class CalibrateCommand final : public Command {
  void declare(Options& options) override {
    options.describe(
        "Measure how small a difference is noise on this machine.\n\n"
        "Copies of one build, each with its code laid out in a different order, are compared with "
        "each other: any difference is noise. `taskbench ab`, `taskbench gate` and `taskbench "
        "baseline` then do not treat a smaller change as a regression. The result is kept in the "
        "store, under this machine's key.\n\n"
        "scripts/relink makes copies, of taskbench or of your own program from its object files, "
        "and next to them a manifest that identifies them as copies.",
        "Examples:\n"
        "  scripts/relink build/copies && taskbench calibrate build/copies/*\n"
        "  scripts/relink build/copies -- c++ -o bench main.o sort.o -lbenchmark -lpthread\n"
        "  taskbench calibrate 'build/copies/1 --workers 2' 'build/copies/2 --workers 2' \\\n"
        "      --budget 30m\n"
        "  taskbench calibrate --resume build/copies/*\n\n"
        "Exit status: 0 stored, 2 usage or input error, 3 too few trials, 4 other processes used "
        "the CPUs meanwhile, 5 a program failed, 130 interrupted.");
    plan_.setup.max_blocks = 8;
    plan_.setup.budget_s = 600;
    options.value("CMD", plan_.copies, "CMD", AsGiven{Path::offered()},
                  "Two copies or more, as `taskbench ab` takes programs.");

    declare_measuring(options, plan_);
    declare_allow_busy(options, allow_busy_, "Store it");

    options.group("Output");
    options.value("--store", plan_.store, "FOLDER", Path{},
                  "Where baselines and calibrations are kept.");
    options.value("--journal", plan_.journals, "FOLDER", Journal{{}, true},
                  "Where each process's result is kept as soon as it is known.");
    options.flag("--resume", plan_.resume, "Continue the trials there.");
    auto* format = declare_format(options, format_);
    options.flag("--quiet", quiet_, "Print no progress and no result.")->excludes(format);
  }

  ExitCode execute(const Invocation& invocation) override {
    refuse_contradictions();
    plan_.budget_is_given = invocation.given("--budget");
    plan_.blocks_are_given = invocation.given("--blocks");
    plan_.refuse_other_options = [&](const model::PairedSetup& then) {
      refuse_other_options(plan_, invocation, then);
    };
    keeps_journals_ = invocation.given("--journal");
    const model::MachineKey key = probe_machine();
    const std::stop_token stop = stop_on_signals();
    Calibrated calibration;
    try {
      const Ending ending = calibrate(plan_, listener_on_a_line(quiet_), stop, calibration);
      const auto stopped = interruption(
          ending, "continue with: taskbench calibrate --resume, and the same copies", "trial");
      return stopped ? *stopped : conclude(key, calibration);
    } catch (const ProgramError& error) {
      return fail_measurement(error);
    }
  }

  /// Stores and prints the result of the complete trials.
  [[nodiscard]] ExitCode conclude(const model::MachineKey& key,
                                  const Calibrated& calibration) const {
    const auto complete = complete_trials(calibration.trials);
    const std::size_t least = verdict::least_noise_trials(plan_.copies.size());
    if (complete.size() < least) {
      print_error(
          "only {} fitted into {}, and a noise floor takes {}; {}",
          render::counted(complete.size(), "trial"),
          model::duration_text(calibration.setup.budget_s), least,
          calibration.trials.empty()
              ? "give it more by --budget"
              : "continue with: taskbench calibrate --resume --budget TIME, and the same copies");
      return ExitCode::inconclusive;
    }
    if (const auto others = verdict::others_of(complete);
        others && others->are_many() && !allow_busy_) {
      print_error(
          "not stored: {} while this was measured, and a noise floor of a busy machine hides what "
          "becomes slower. Remove {} and calibrate again on a quiet machine; or store it as it is: "
          "taskbench calibrate --resume --allow-busy, and the same copies",
          render::others_text(*others), plan_.journals.string());
      return ExitCode::wrong_machine;
    }
    model::NoiseCalibration noise = verdict::noise_of(plan_.copies, complete);
    noise.date = local_date();
    noise.machine = key.machine;
    noise.checked = !plan_.trusted;
    warn_of_large_floors(noise);
    const fs::path file = noise_file(plan_.store, key);
    if (save_noise(file, noise)) {
      print_note("{} was no calibration of this version; it is replaced", file.string());
    }
    std::error_code ignored;
    if (!keeps_journals_) fs::remove_all(plan_.journals, ignored);
    if (quiet_) return ExitCode::pass;
    print_note("wrote {}", file.string());
    const render::Answer answer{.document = render::document(noise),
                                .json = [&] { return json::to_json(noise); }};
    return print_answer(answer, *format_) ? ExitCode::pass : ExitCode::usage;
  }

  void refuse_contradictions() const {
    if (plan_.copies.size() < 2) {
      throw UsageError(
          "calibrate needs at least two copies of one build, laid out differently; scripts/relink "
          "makes them");
    }
    for (auto copy = plan_.copies.begin(); copy != plan_.copies.end(); ++copy) {
      if (std::find(plan_.copies.begin(), copy, *copy) != copy) {
        refuse("'{}' is named twice", *copy);
      }
    }
    const auto least = static_cast<int>(verdict::least_noise_trials(plan_.copies.size()));
    if (plan_.trials && *plan_.trials < least) {
      refuse("--trials: '{}' is out of range; it must be from {} to {}", *plan_.trials, least,
             kMaxTrials);
    }
    if (plan_.resume || !fs::exists(plan_.journals)) return;
    throw UsageError(fs::exists(plan_.journals / "001.journal")
                         ? fmt::format("{} exists, from trials that have not ended; continue them "
                                       "with --resume, remove it, or name another by --journal",
                                       plan_.journals.string())
                         : fmt::format("--journal {}: exists, and holds no trials; name a folder "
                                       "that does not exist yet",
                                       plan_.journals.string()));
  }

  CalibrationPlan plan_;
  const render::Format* format_ = nullptr;
  bool allow_busy_ = false;
  bool keeps_journals_ = false;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> calibrate_command() { return std::make_unique<CalibrateCommand>(); }

}  // namespace taskbench::cli
