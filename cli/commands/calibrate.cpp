// `taskbench calibrate`: how small a difference is noise on this machine.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "cli/commands/command.hpp"
#include "cli/options/trial_options.hpp"
#include "cli/output/measurement.hpp"
#include "cli/output/output.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/signals.hpp"
#include "harness/machine/environment.hpp"
#include "harness/machine/machine.hpp"
#include "harness/os/process.hpp"
#include "harness/os/system_file.hpp"
#include "harness/trials/baseline_store.hpp"
#include "harness/trials/line_file.hpp"
#include "harness/trials/paired_trial.hpp"
#include "harness/trials/stored.hpp"
#include "reports/json/noise.hpp"
#include "reports/json/paired.hpp"
#include "reports/json/reader.hpp"
#include "reports/model/date.hpp"
#include "reports/render/baseline.hpp"
#include "reports/render/render.hpp"
#include "reports/render/verdict_table.hpp"
#include "reports/verdict/noise.hpp"
#include "reports/verdict/others.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::cli {
namespace {

using Clock = std::chrono::steady_clock;
using harness::Program;

/// The manifest that scripts/relink leaves beside its copies: for each copy a line with its
/// SHA-256, the SHA-256 of the objects it was linked from, and its name.
constexpr const char* kRelinkManifest = ".relink";

constexpr int kLeastDefaultTrials = 12;
constexpr int kTrialsOfCopy = 8;
constexpr int kMaxTrials = 1000;

struct LinkedCopy {
  std::string digest;
  std::string objects;
};

/// The manifest's entry for the copy called `name`.
std::optional<LinkedCopy> line_of(std::string_view manifest, std::string_view name) {
  for (const std::string_view line : harness::lines_of(manifest)) {
    const auto first = line.find(' ');
    const auto second = line.find(' ', first + 1);
    if (second == std::string_view::npos || line.substr(second + 1) != name) continue;
    return LinkedCopy{std::string(line.substr(0, first)),
                      std::string(line.substr(first + 1, second - first - 1))};
  }
  return std::nullopt;
}

std::string sha256_of(const fs::path& file, const std::stop_token& stop) {
  const auto answer = harness::run_process(
      {.command = {"sha256sum", "--", file.string()}, .environment = {}, .timeout_s = 60}, stop);
  // sha256sum begins the line with a backslash if the name has a backslash or a newline.
  const auto begin = answer.output.find_first_not_of('\\');
  return answer.ok() && begin != std::string::npos
             ? answer.output.substr(begin, answer.output.find(' ') - begin)
             : std::string();
}

/// Why the programs are not known to be copies of one build, linked from the same objects in
/// different orders; empty if they are.
std::string why_not_copies(const std::vector<Program>& programs, const std::stop_token& stop) {
  const Strings& first = programs.front().command();
  std::string objects;
  for (const Program& program : programs) {
    const fs::path file = program.executable();
    const Strings& command = program.command();
    if (!std::equal(command.begin() + 1, command.end(), first.begin() + 1, first.end())) {
      return fmt::format("'{}' and '{}' are run with different arguments", first.front(),
                         command.front());
    }
    const fs::path manifest = file.parent_path() / kRelinkManifest;
    const auto content = harness::content_of(manifest);
    if (!content) return fmt::format("there is no {}", manifest.string());
    const auto copy = line_of(*content, file.filename().string());
    if (!copy) return fmt::format("{} does not name '{}'", manifest.string(), file.string());
    if (sha256_of(file, stop) != copy->digest) {
      return fmt::format("'{}' is not what {} says was linked", file.string(), manifest.string());
    }
    if (!objects.empty() && objects != copy->objects) {
      return fmt::format("'{}' was linked from other objects than '{}'", file.string(),
                         first.front());
    }
    objects = copy->objects;
  }
  return {};
}

/// The arguments of `taskbench calibrate`.
struct CalibratePlan {
  Strings copies;
  Strings workloads;
  model::PairedSetup setup;  ///< what all trials have in common
  double timeout_s = kDefaultProcessTimeout_s;
  std::optional<int> trials;
  fs::path store{kDefaultStore};
  fs::path journal{"taskbench-calibrate.journal"};  ///< a folder: a file for each trial
  bool resume = false;
  bool trusted = false;  ///< the user says that they are copies
  bool allow_busy = false;
  bool quiet = false;
};

/// The two copies that trial number `trial` compares: every pair comes once before any comes again.
std::pair<std::size_t, std::size_t> pair_of(int trial, std::size_t copies) {
  const auto number = static_cast<std::size_t>(trial);
  const std::size_t base = number % copies;
  const std::size_t distance = 1 + number / copies % (copies - 1);
  return {base, (base + distance) % copies};
}

/// Requests a stop when the user does, and when the time is over. The running process is then
/// killed, which loses no more than its own sample.
class Deadline {
 public:
  Deadline(std::stop_token user, double seconds)
      : on_user_(user, [this] { both_.request_stop(); }), timer_([this, seconds](auto ended) {
          std::unique_lock lock(mutex_);
          const bool was_ended = wake_.wait_for(lock, ended, std::chrono::duration<double>(seconds),
                                                [&] { return ended.stop_requested(); });
          if (!was_ended) both_.request_stop();
        }) {}

  [[nodiscard]] std::stop_token token() const { return both_.get_token(); }

 private:
  std::stop_source both_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::stop_callback<std::function<void()>> on_user_;
  std::jthread timer_;
};

/// All trials of one calibration: those in the journal, and those to come.
class Calibration {
 public:
  Calibration(const CalibratePlan& plan, const Invocation& invocation, const std::stop_token& stop)
      : plan_(plan),
        invocation_(invocation),
        user_stop_(stop),
        setup_(plan.setup),
        bench_{stop, plan.timeout_s},
        line_(plan.quiet) {
    for (const std::string& command : plan.copies) {
      try {
        programs_.push_back(Program::find_out(harness::split_command(command), stop,
                                              {.timeout_s = plan.timeout_s}));
      } catch (const std::invalid_argument& error) {
        refuse("'{}': {}", command, error.what());
      }
    }
    setup_.trials = plan.trials.value_or(
        std::max(kLeastDefaultTrials, kTrialsOfCopy * static_cast<int>(programs_.size())));
  }

  ExitCode run(const model::MachineKey& key, const fs::path& file) {
    // Programs of two builds differ by more than noise; a floor from them would hide that much.
    const std::string why = plan_.trusted ? "" : why_not_copies(programs_, bench_.stop);
    if (!why.empty()) {
      refuse(
          "these are not known to be copies of one build: {}; scripts/relink makes copies, also of "
          "your own programs; --trust-me accepts these as they are",
          why);
    }
    refuse_store(file);
    if (plan_.resume) read_journal();
    deadline_.emplace(user_stop_, std::max(0.0, setup_.budget_s - elapsed_s()));
    bench_.stop = deadline_->token();
    try {
      measure();
    } catch (const harness::ProgramError&) {  // killed when the time was over
      if (user_stop_.stop_requested() || !bench_.stop.stop_requested()) throw;
    }
    if (!user_stop_.stop_requested()) return conclude(key, file);
    print_note("interrupted; continue with: taskbench calibrate --resume, and the same copies");
    return ExitCode::interrupted;
  }

 private:
  static void refuse_store(const fs::path& file) {
    std::error_code failed;
    fs::create_directories(file.parent_path(), failed);
    if (failed) {
      refuse("{}: cannot be made: {}", file.parent_path().string(), failed.message());
    }
    refuse_unwritable(file, 1 << 16);
  }

  void measure() {
    if (!plan_.resume) explore_copies();
    for (int number = next_trial(); number < setup_.trials; number = next_trial()) {
      const auto least = static_cast<int>(verdict::least_noise_trials(programs_.size()));
      if (block_s() > 0 && number < least) fit_blocks(block_s(), least - number);
      if (is_out_of_time()) return;
      run_trial_number(number);
    }
  }

  /// Reads the trials that an earlier process has left.
  void read_journal() {
    for (int i = 0; fs::exists(file_of(i)); ++i) {
      trials_.push_back(harness::read_journal(file_of(i)));
      const model::PairedTrial& trial = trials_.back();
      const auto [base, head] = pair_of(i, programs_.size());
      if (trial.setup.base.digest != programs_[base].digest() ||
          trial.setup.head.digest != programs_[head].digest()) {
        refuse("{} was started with other copies; start again", plan_.journal.string());
      }
      // Only the last trial may have been cut short.
      const bool is_cut_short = !trial.end && !fs::exists(file_of(i + 1));
      if (is_cut_short || (trial.end && verdict::complete_blocks(trial) >= 2)) continue;
      refuse("{}: blocks of this trial are missing; delete {} and start again", file_of(i).string(),
             plan_.journal.string());
    }
    if (trials_.empty()) {
      refuse("{} holds no trial to continue", plan_.journal.string());
    }
    const model::PairedSetup asked = std::exchange(setup_, trials_.front().setup);
    if (invocation_.given("--budget") || setup_.budget_s <= 0) setup_.budget_s = asked.budget_s;
    if (plan_.trials || setup_.trials <= 0) setup_.trials = asked.trials;
    for (const auto& trial : trials_) {
      for (const auto& sample : trial.samples) earlier_s_ += sample.took_s;
    }
  }

  void explore_copies() {
    const Strings chosen = benchmark_names(plan_.workloads, programs_[0].listed());
    explore({programs_[0], programs_[1]}, chosen, bench_, setup_);
    keep_chosen(chosen, setup_);
    for (const std::string& name : setup_.benchmarks) {
      setup_.noise_floors[name] = {0, "not known yet"};
    }
    const auto least = static_cast<int>(verdict::least_noise_trials(programs_.size()));
    fit_blocks(elapsed_s() * model::kBlockSize / 2, least);  // each of the two programs ran once
  }

  /// Sets how many blocks a trial has. Few blocks in enough trials give a floor; many in too few do
  /// not.
  void fit_blocks(double block_s, int trials) {
    if (invocation_.given("--blocks")) return;
    constexpr double kShare = 0.85;  // some blocks take longer than those before
    const double trial_s = kShare * (setup_.budget_s - elapsed_s()) / trials;
    const double most = plan_.setup.max_blocks;
    setup_.max_blocks = static_cast<int>(std::clamp(trial_s / block_s, 2.0, most));
  }

  /// Mean time of a block in the trials so far; 0 if there are none.
  [[nodiscard]] double block_s() const {
    double spent = 0;
    double processes = 0;
    for (const auto& trial : trials_) {
      for (const auto& sample : trial.samples) spent += sample.took_s;
      processes += static_cast<double>(trial.samples.size());
    }
    return processes > 0 ? spent / processes * model::kBlockSize : 0;
  }

  [[nodiscard]] fs::path file_of(int number) const {
    return plan_.journal / fmt::format("{:03}.journal", number + 1);
  }

  /// The number of the trial to run next. The last one in the journal is continued if it was cut
  /// short.
  [[nodiscard]] int next_trial() const {
    const bool is_cut_short = !trials_.empty() && !trials_.back().end;
    return static_cast<int>(trials_.size()) - (is_cut_short ? 1 : 0);
  }

  /// Time spent of the budget, by this process and by those whose journal it continues.
  [[nodiscard]] double elapsed_s() const {
    return earlier_s_ + std::chrono::duration<double>(Clock::now() - begun_).count();
  }

  /// Whether there is no time for another trial.
  [[nodiscard]] bool is_out_of_time() const {
    if (bench_.stop.stop_requested()) return true;
    if (trials_.empty() || !trials_.back().end) return false;
    return elapsed_s() + block_s() * setup_.max_blocks > setup_.budget_s;
  }

  void run_trial_number(int number) {
    constexpr std::uint64_t kSeedStep = 1'000'003;
    const auto [base, head] = pair_of(number, programs_.size());
    const bool is_new = static_cast<std::size_t>(number) == trials_.size();
    if (is_new) {
      model::PairedSetup setup = setup_;
      setup.seed += static_cast<std::uint64_t>(number) * kSeedStep;
      setup.base = {plan_.copies[base], programs_[base].digest()};
      setup.head = {plan_.copies[head], programs_[head].digest()};
      trials_.push_back({.setup = std::move(setup), .instructions = {}, .samples = {}, .end = {}});
    }
    fs::create_directories(plan_.journal);
    harness::LineFile journal =
        is_new
            ? harness::LineFile::create(file_of(number), json::journal_line(trials_.back().setup))
            : harness::LineFile::resume(file_of(number));
    const auto show = [&](const TrialProgress& now) {
      line_.show("trial {} of at most {}, block {} of {}, {} of {}", number + 1, setup_.trials,
                 now.blocks + 1, setup_.max_blocks, model::duration_text(elapsed_s()),
                 model::duration_text(setup_.budget_s));
    };
    run_trial({programs_[base], programs_[head]}, bench_, std::numeric_limits<double>::infinity(),
              false, show, journal, trials_.back());
  }

  /// Stores and prints what the complete trials say.
  ExitCode conclude(const model::MachineKey& key, const fs::path& file) {
    line_.clear();
    // A trial that the end of the budget cut short can be continued, but does not count.
    const auto complete = std::span(trials_).first(static_cast<std::size_t>(next_trial()));
    const std::size_t least = verdict::least_noise_trials(plan_.copies.size());
    if (complete.size() < least) {
      print_error(
          "only {} fitted into {}, and a noise floor takes {}; {}",
          render::counted(complete.size(), "trial"), model::duration_text(setup_.budget_s), least,
          trials_.empty()
              ? "give it more by --budget"
              : "continue with: taskbench calibrate --resume --budget TIME, and the same copies");
      return ExitCode::inconclusive;
    }
    if (const auto others = others_of(complete);
        others && others->are_many() && !plan_.allow_busy) {
      print_error(
          "not stored: {} while this was measured, and a noise floor of a busy machine hides what "
          "becomes slower. Remove {} and calibrate again on a quiet machine; or store it as it is: "
          "taskbench calibrate --resume --allow-busy, and the same copies",
          render::others_text(*others), plan_.journal.string());
      return ExitCode::wrong_machine;
    }
    model::NoiseCalibration noise = verdict::noise_of(plan_.copies, complete);
    noise.date = harness::probe_environment("").date;
    noise.machine = key.machine;
    noise.checked = !plan_.trusted;
    warn_of_large_floors(noise);
    if (!write_output(file, json::to_json(with_earlier(noise, file)))) return ExitCode::usage;
    std::error_code ignored;
    if (!invocation_.given("--journal")) fs::remove_all(plan_.journal, ignored);
    if (plan_.quiet) return ExitCode::pass;
    print_note("wrote {}", file.string());
    return printed(render::table(noise, table_style()));
  }

  static model::Fact<verdict::Others> others_of(std::span<const model::PairedTrial> trials) {
    std::vector<model::Fact<model::CpuUse>> uses;
    for (const auto& trial : trials) {
      for (const auto& sample : trial.samples) {
        uses.push_back(sample.machine ? sample.machine->cpu : model::Fact<model::CpuUse>{});
      }
    }
    return verdict::others_of(uses);
  }

  static void warn_of_large_floors(const model::NoiseCalibration& noise) {
    const double delta = model::PairedSetup{}.delta;
    for (const auto& [name, each] : noise.benchmarks) {
      if (each.epsilon <= delta) continue;
      print_note(
          "the noise floor of {} is {}, more than the {} that matter by default: ab, gate and "
          "baseline will let a smaller slowdown of it pass; measure on a quieter machine, or for "
          "longer (--min-time)",
          name, render::percent(each.epsilon), render::percent(delta));
    }
  }

  /// Adds what the file knows of other benchmarks. A file that is no calibration is replaced.
  static model::NoiseCalibration with_earlier(const model::NoiseCalibration& noise,
                                              const fs::path& file) {
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return noise;
    try {
      return json::merged(noise, harness::read_noise(file));
    } catch (const json::ReadError&) {
      print_note("{} was no calibration of this version; it is replaced", file.string());
      return noise;
    }
  }

  const CalibratePlan& plan_;
  const Invocation& invocation_;
  const Clock::time_point begun_ = Clock::now();
  double earlier_s_ = 0;
  std::stop_token user_stop_;
  model::PairedSetup setup_;
  Bench bench_;
  ProgressLine line_;
  std::vector<Program> programs_;
  std::vector<model::PairedTrial> trials_;
  std::optional<Deadline> deadline_;
};

class CalibrateCommand final : public Command {
  void declare(Options& options) override {
    options.describe(
        "Measure how small a difference is noise on this machine.\n\n"
        "Copies of one build, each with its code laid out in a different order, are compared with "
        "each other: any difference is noise. `taskbench ab`, `taskbench gate` and `taskbench "
        "baseline` then take no smaller change for a regression. Kept in the store, under this "
        "machine's key.\n\n"
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

    options.group("What to measure");
    options
        .value("--workload", plan_.workloads, "NAME[,NAME...]", BenchmarkNames{},
               "Benchmarks to calibrate, by their names or what these begin with.")
        ->default_str("all");
    options.flag("--trust-me", plan_.trusted,
                 "Do not check that they are copies of one build. The store records that.");

    options.group("How to measure");
    options.value("--budget", plan_.setup.budget_s, "TIME", Duration{1, kMaxBudget_s},
                  "It ends after this time, and the trials that are complete by then count.");
    options.value("--trials", plan_.trials, "N", Number{1, kMaxTrials}, "Most trials.")
        ->default_str(
            fmt::format("{} for each copy, {} at least", kTrialsOfCopy, kLeastDefaultTrials));
    options.value("--blocks", plan_.setup.max_blocks, "N", Number{2, 64}, "Blocks of each trial.");
    declare_sampling(options, plan_.setup, plan_.timeout_s);
    options.flag("--allow-busy", plan_.allow_busy,
                 "Store it even if other processes use the CPUs.");

    options.group("Output");
    options.value("--store", plan_.store, "FOLDER", Path{},
                  "Where baselines and calibrations are kept.");
    options.value("--journal", plan_.journal, "FOLDER", Journal{{}, true},
                  "Where each process's result is kept as soon as it is known.");
    options.flag("--resume", plan_.resume, "Continue the trials there.");
    options.flag("--quiet", plan_.quiet, "Print no progress and no result.");
  }

  ExitCode execute(const Invocation& invocation) override {
    refuse_contradictions();
    const model::MachineKey key = harness::probe_machine();
    const std::stop_token stop = stop_on_signals();
    const auto interrupted = [] {
      print_note("interrupted before the first trial");
      return ExitCode::interrupted;
    };
    return run_measurement(
        stop,
        [&] { return Calibration(plan_, invocation, stop).run(key, noise_file(plan_.store, key)); },
        interrupted, fail_measurement);
  }

  void refuse_contradictions() const {
    if (plan_.copies.size() < 2) {
      throw UsageError(
          "calibrate needs at least two copies of one build, laid out differently; "
          "scripts/relink makes them");
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
    if (plan_.resume || !fs::exists(plan_.journal)) return;
    throw UsageError(
        fs::exists(plan_.journal / "001.journal")
            ? fmt::format("{} exists, from trials that have not ended; continue them with "
                          "--resume, remove it, or name another by --journal",
                          plan_.journal.string())
            : fmt::format("--journal {}: exists, and holds no trials; name a folder that does not "
                          "exist yet",
                          plan_.journal.string()));
  }

  CalibratePlan plan_;
};

}  // namespace

std::unique_ptr<Command> calibrate_command() { return std::make_unique<CalibrateCommand>(); }

}  // namespace taskbench::cli
