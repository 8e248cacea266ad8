// `taskbench calibrate`: how small a difference is noise on this machine.

#include <unistd.h>

#include <algorithm>
#include <limits>

#include "cli/commands/command.hpp"
#include "cli/options/process_options.hpp"
#include "cli/output/output_file.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/signals.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/terminal.hpp"
#include "cli/tools/scratch_folder.hpp"
#include "cli/trials/baseline_store.hpp"
#include "cli/trials/copies.hpp"
#include "cli/trials/measured_process.hpp"
#include "cli/trials/noise_floors.hpp"
#include "cli/trials/paired_trial.hpp"
#include "reports/files/line_file.hpp"
#include "reports/json/noise.hpp"
#include "reports/json/paired.hpp"
#include "reports/json/reader.hpp"
#include "reports/render/noise.hpp"
#include "reports/render/verdict_table.hpp"
#include "reports/verdict/noise.hpp"
#include "reports/verdict/paired.hpp"
#include "workloads/machine/environment.hpp"
#include "workloads/machine/machine.hpp"

namespace taskbench::cli {
namespace {

using measure::Program;

constexpr int kLeastDefaultTrials = 12;
constexpr int kTrialsOfCopy = 8;
constexpr int kMaxTrials = 1000;
constexpr int kMaxTrialBlocks = 64;

struct CalibratePlan {
  CalibratePlan() { setup.max_blocks = 8; }

  Strings copies;
  Strings workloads;
  model::PairedSetup setup;  ///< what all trials have in common
  double budget_s = 600;
  bool own_budget = false;  ///< named by the user, and so not that of the journal
  double timeout_s = kDefaultProcessTimeout_s;
  std::optional<int> trials;
  bool own_trials = false;  ///< named by the user, likewise
  fs::path store{kDefaultStore};
  fs::path journal{"taskbench-calibrate.journal"};  ///< a folder: a file for each trial
  bool own_journal = false;                         ///< named by the user, and so kept
  bool trusted = false;                             ///< the user says that they are copies
  bool quiet = false;
};

/// Completes and checks what was given.
CalibratePlan complete(CalibratePlan plan, const ProcessOptions& process) {
  if (plan.copies.size() < 2) {
    throw UsageError(
        "calibrate needs at least two copies of one build, laid out differently; "
        "scripts/relink makes them");
  }
  for (auto copy = plan.copies.begin(); copy != plan.copies.end(); ++copy) {
    if (std::find(plan.copies.begin(), copy, *copy) != copy) {
      throw UsageError(fmt::format("'{}' is named twice", *copy));
    }
  }
  process.apply_to(plan.setup);
  plan.timeout_s = process.timeout_s();
  const auto copies = static_cast<int>(plan.copies.size());
  const auto least = static_cast<int>(verdict::least_noise_trials(plan.copies.size()));
  plan.own_trials = plan.trials.has_value();
  if (!plan.trials) plan.trials = std::max(kLeastDefaultTrials, kTrialsOfCopy * copies);
  if (*plan.trials < least) {
    throw UsageError(fmt::format("--trials: '{}' is out of range; it must be from {} to {}",
                                 *plan.trials, least, kMaxTrials));
  }
  return plan;
}

/// Programs of two builds differ by more than noise, and a floor of that would hide as much.
void refuse_no_copies(const std::vector<Program>& programs, const std::stop_token& stop) {
  const std::string why = why_not_copies(programs, stop);
  if (why.empty()) return;
  throw UsageError(fmt::format(
      "these are not known to be copies of one build: {}; scripts/relink makes copies, of a "
      "program of your own too; --trust-me takes these all the same",
      why));
}

std::vector<Program> programs_of(const CalibratePlan& plan, const std::stop_token& stop) {
  std::vector<Program> programs;
  for (const std::string& command : plan.copies) {
    try {
      programs.push_back(
          Program::find_out(measure::split_command(command), stop, {.timeout_s = plan.timeout_s}));
    } catch (const std::invalid_argument& error) {
      throw UsageError(fmt::format("'{}': {}", command, error.what()));
    }
  }
  return programs;
}

/// The copies of trial number `trial`: each pair comes before any comes again.
std::pair<std::size_t, std::size_t> pair_of(int trial, std::size_t copies) {
  const auto number = static_cast<std::size_t>(trial);
  const std::size_t base = number % copies;
  const std::size_t distance = 1 + number / copies % (copies - 1);
  return {base, (base + distance) % copies};
}

/// All trials of one calibration: those of the journal, and those to come.
class Calibration {
 public:
  Calibration(CalibratePlan plan, const std::stop_token& stop)
      : plan_(std::move(plan)),
        stop_(stop),
        programs_(programs_of(plan_, stop)),
        line_(progress_style(plan_.quiet)) {}

  /// Reads what an earlier process has left. Throws JournalError and UsageError.
  void read_journal() {
    for (int i = 0; fs::exists(file_of(i)); ++i) {
      trials_.push_back(json::read_journal(file_of(i)));
      const auto& setup = trials_.back().setup;
      const auto [base, head] = pair_of(i, programs_.size());
      if (setup.base.digest != programs_[base].digest() ||
          setup.head.digest != programs_[head].digest()) {
        throw UsageError(
            fmt::format("{} was started with other copies; start again", plan_.journal.string()));
      }
      refuse_incomplete(i);
    }
    if (trials_.empty()) {
      throw UsageError(fmt::format("{} holds no trial to continue", plan_.journal.string()));
    }
    plan_.setup = trials_.front().setup;
    if (!plan_.own_budget && plan_.setup.budget_s > 0) plan_.budget_s = plan_.setup.budget_s;
    if (!plan_.own_trials && plan_.setup.trials > 0) plan_.trials = plan_.setup.trials;
  }

  void run() {
    if (trials_.empty()) explore_copies();
    for (auto number = static_cast<int>(trials_.size()); !stop_.stop_requested(); ++number) {
      // The last one of the journal may have been cut short.
      if (!trials_.empty() && !trials_.back().end) --number;
      if (number >= *plan_.trials || is_out_of_time()) return;
      run_trial_number(number);
    }
  }

  [[nodiscard]] const std::vector<model::PairedTrial>& trials() const { return trials_; }
  [[nodiscard]] double budget_s() const { return plan_.budget_s; }
  [[nodiscard]] const std::vector<Program>& programs() const { return programs_; }

 private:
  /// Only the last trial may have been cut short.
  void refuse_incomplete(int number) const {
    const model::PairedTrial& trial = trials_.back();
    const bool is_last = !fs::exists(file_of(number + 1));
    if (is_last && !trial.end) return;
    if (trial.end && verdict::complete_blocks(trial) >= 2) return;
    throw UsageError(fmt::format("{}: blocks of this trial are missing; delete {} and start again",
                                 file_of(number).string(), plan_.journal.string()));
  }

  [[nodiscard]] fs::path file_of(int number) const {
    return plan_.journal / fmt::format("{:03}.journal", number + 1);
  }

  [[nodiscard]] double spent_s() const {
    double spent = 0;
    for (const auto& trial : trials_) {
      for (const auto& sample : trial.samples) spent += sample.took_s;
    }
    return spent;
  }

  /// Whether another trial would not fit.
  [[nodiscard]] bool is_out_of_time() const {
    if (trials_.empty() || !trials_.back().end) return false;
    const double spent = spent_s();
    return spent + spent / static_cast<double>(trials_.size()) > plan_.budget_s;
  }

  void explore_copies() {
    explore({programs_[0], programs_[1]}, plan_.workloads, scratch_.path(), plan_.timeout_s, stop_,
            plan_.setup);
    keep_chosen(plan_.workloads, plan_.setup);
    plan_.setup.budget_s = plan_.budget_s;
    plan_.setup.trials = *plan_.trials;
    for (const std::string& name : plan_.setup.benchmarks) {
      plan_.setup.noise_floors[name] = {0, "not known yet"};
    }
  }

  void run_trial_number(int number) {
    const auto [base, head] = pair_of(number, programs_.size());
    const bool is_new = static_cast<std::size_t>(number) == trials_.size();
    if (is_new) {
      model::PairedTrial trial;
      trial.setup = plan_.setup;
      trial.setup.seed = plan_.setup.seed + static_cast<std::uint64_t>(number) * kSeedStep;
      trial.setup.base = {plan_.copies[base], programs_[base].digest()};
      trial.setup.head = {plan_.copies[head], programs_[head].digest()};
      trials_.push_back(std::move(trial));
    }
    fs::create_directories(plan_.journal);
    files::LineFile journal =
        is_new ? files::LineFile::create(file_of(number), json::journal_line(trials_.back().setup))
               : files::LineFile::resume(file_of(number));
    const double before_s = spent_s();
    run_trial(
        {programs_[base], programs_[head]}, scratch_.path(),
        {.budget_s = std::numeric_limits<double>::infinity(),
         .timeout_s = plan_.timeout_s,
         .ends_when_decided = false},
        stop_, [&](const TrialProgress& now) { show(number, before_s + now.spent_s, now); },
        journal, trials_.back());
  }

  void show(int number, double spent, const TrialProgress& now) {
    line_.show(fmt::format("trial {} of at most {}, block {} of {}, {} of {}", number + 1,
                           *plan_.trials, now.blocks + 1, now.max_blocks, duration_text(spent),
                           duration_text(plan_.budget_s)));
  }

  static constexpr std::uint64_t kSeedStep = 1'000'003;

  CalibratePlan plan_;
  std::stop_token stop_;
  std::vector<Program> programs_;
  ScratchFolder scratch_;
  ProgressLine line_;
  std::vector<model::PairedTrial> trials_;
};

void refuse_store(const fs::path& file) {
  constexpr std::size_t kFileBytes = 1 << 16;
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  if (failed) {
    throw UsageError(
        fmt::format("{}: cannot be made: {}", file.parent_path().string(), failed.message()));
  }
  refuse_unwritable(file, kFileBytes);
}

/// With what the file knows of other benchmarks. What is no calibration is replaced.
model::NoiseCalibration with_earlier(model::NoiseCalibration noise, const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return noise;
  try {
    return json::merged(noise, json::read_noise(file));
  } catch (const json::ReadError&) {
    print_note(fmt::format("{} was no calibration of this version; it is replaced", file.string()));
    return noise;
  }
}

void warn_of_large_floors(const model::NoiseCalibration& noise) {
  const double delta = model::PairedSetup{}.delta;
  for (const auto& [name, each] : noise.benchmarks) {
    if (each.epsilon <= delta) continue;
    print_note(fmt::format(
        "the noise floor of {} is {}, more than the {} that matter by default: ab, gate and "
        "baseline will let a smaller slowdown of it pass; measure on a quieter machine, or for "
        "longer (--min-time)",
        name, render::percent(each.epsilon), render::percent(delta)));
  }
}

/// Stores and prints what the complete trials say.
ExitCode conclude(const CalibratePlan& plan, const Calibration& calibration,
                  const model::MachineKey& key, const fs::path& file) {
  const std::size_t least = verdict::least_noise_trials(plan.copies.size());
  if (calibration.trials().size() < least) {
    print_error(
        fmt::format("only {} fitted into {}, and a noise floor takes {}; continue with: taskbench "
                    "calibrate --resume --budget TIME, and the same copies",
                    render::counted(calibration.trials().size(), "trial"),
                    duration_text(calibration.budget_s()), least));
    return ExitCode::inconclusive;
  }
  model::NoiseCalibration noise = verdict::noise_of(plan.copies, calibration.trials());
  noise.date = measure::probe_environment("").date;
  noise.machine = key.machine;
  noise.checked = !plan.trusted;
  warn_of_large_floors(noise);
  if (!write_output(file, json::to_json(with_earlier(noise, file)))) return ExitCode::usage;
  if (!plan.own_journal) {
    std::error_code ignored;
    fs::remove_all(plan.journal, ignored);
  }
  if (plan.quiet) return ExitCode::pass;
  print_note(fmt::format("wrote {}", file.string()));
  const auto style = table_style(STDOUT_FILENO);
  return print_result(render::table(noise, style)) ? ExitCode::pass : ExitCode::usage;
}

class CalibrateCommand final : public Command {
 public:
  void declare(Options& options) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  CalibratePlan plan_;
  ProcessOptions process_;
  const CLI::Option* budget_option_ = nullptr;
  const CLI::Option* journal_option_ = nullptr;
  bool resume_ = false;
};

void CalibrateCommand::declare(Options& options) {
  options.app().description(
      "Measure how small a difference is noise on this machine.\n\n"
      "Copies of one build, each with its code laid out in another order, are compared with each "
      "other: what differs is noise. `taskbench ab`, `taskbench gate` and `taskbench baseline` "
      "then take no smaller change for a regression. Kept in the store, under this machine's "
      "key.\n\n"
      "scripts/relink makes copies, and a manifest beside them by which they are known to be "
      "copies:\n"
      "of taskbench, or of a program of your own, out of its object files.");
  options.app().footer(
      "Examples:\n"
      "  scripts/relink build/copies && taskbench calibrate build/copies/*\n"
      "  scripts/relink build/copies -- c++ -o bench main.o sort.o -lbenchmark -lpthread\n"
      "  taskbench calibrate 'build/copies/1 --workers 2' 'build/copies/2 --workers 2' \\\n"
      "      --budget 30m\n"
      "  taskbench calibrate --resume build/copies/*\n\n"
      "Exit status: 0 stored, 2 usage or input error, 3 too few trials, 5 a program failed, 130 "
      "interrupted.");
  options.value("CMD", plan_.copies, "CMD", AsGiven{Path::offered()},
                "Two copies or more, as `taskbench ab` takes programs.");
  options.group("What to measure");
  options
      .value("--workload", plan_.workloads, "NAME[,NAME...]", List{},
             "Benchmarks to calibrate, by their names or what these begin with.")
      ->default_str("all");
  options.flag("--trust-me", plan_.trusted,
               "Do not check that they are copies of one build. The store keeps that.");
  options.group("How to measure");
  budget_option_ = options.value("--budget", plan_.budget_s, "TIME", Duration{1, kMaxBudget_s},
                                 "No further trial is begun when this time would be exceeded.");
  options.value("--trials", plan_.trials, "N", Number{1, kMaxTrials}, "Most trials.")
      ->default_str(
          fmt::format("{} for each copy, {} at least", kTrialsOfCopy, kLeastDefaultTrials));
  options.value("--blocks", plan_.setup.max_blocks, "N", Number{2, kMaxTrialBlocks},
                "Blocks of each trial.");
  process_.declare(options);
  options.group("Output");
  options.value("--store", plan_.store, "FOLDER", Path{},
                "Where baselines and calibrations are kept.");
  journal_option_ = options.value("--journal", plan_.journal, "FOLDER", Journal{{}, true},
                                  "Where each process's result is kept as soon as it is known.");
  options.flag("--resume", resume_, "Go on with the trials there.");
  options.flag("--quiet", plan_.quiet, "Print no progress and no result.");
}

ExitCode CalibrateCommand::execute(const Invocation&) {
  CalibratePlan plan = complete(plan_, process_);
  plan.own_budget = budget_option_->count() > 0;
  plan.own_journal = journal_option_->count() > 0;
  const model::MachineKey key = measure::probe_machine();
  const fs::path file = noise_file(plan.store, key);
  if (!resume_ && fs::exists(plan.journal)) {
    throw UsageError(
        fs::exists(plan.journal / "001.journal")
            ? fmt::format("{} exists, from trials that have not ended; continue them with "
                          "--resume, remove it, or name another by --journal",
                          plan.journal.string())
            : fmt::format("--journal {}: exists, and holds no trials; name a folder that does not "
                          "exist yet",
                          plan.journal.string()));
  }
  const std::stop_token stop = stop_on_signals();
  const auto calibrate = [&] {
    Calibration calibration(plan, stop);
    if (!plan.trusted) refuse_no_copies(calibration.programs(), stop);
    refuse_store(file);
    if (resume_) calibration.read_journal();
    calibration.run();
    if (!stop.stop_requested()) return conclude(plan, calibration, key, file);
    print_note("interrupted; continue with: taskbench calibrate --resume, and the same copies");
    return ExitCode::interrupted;
  };
  const auto interrupted = [] {
    print_note("interrupted before the first trial");
    return ExitCode::interrupted;
  };
  return run_measurement(stop, calibrate, interrupted, fail_measurement);
}

}  // namespace

std::unique_ptr<Command> calibrate_command() { return std::make_unique<CalibrateCommand>(); }

}  // namespace taskbench::cli
