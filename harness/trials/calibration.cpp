#include "harness/trials/calibration.hpp"

#include <limits>

#include "harness/files/stored.hpp"
#include "harness/os/process.hpp"
#include "harness/os/system_file.hpp"
#include "harness/trials/paired_trial.hpp"
#include "reports/model/date.hpp"
#include "reports/verdict/noise.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::harness {
namespace {

/// The manifest that scripts/relink writes beside its copies: for each copy a line with its
/// SHA-256, the SHA-256 of the objects it was linked from, and its name.
constexpr const char* kRelinkManifest = ".relink";

struct LinkedCopy {
  std::string digest;
  std::string objects;
};

/// The manifest's entry for the copy called `name`.
std::optional<LinkedCopy> line_of(std::string_view manifest, std::string_view name) {
  for (const std::string_view line : lines_of(manifest)) {
    const auto first = line.find(' ');
    const auto second = line.find(' ', first + 1);
    if (second == std::string_view::npos || line.substr(second + 1) != name) continue;
    return LinkedCopy{std::string(line.substr(0, first)),
                      std::string(line.substr(first + 1, second - first - 1))};
  }
  return std::nullopt;
}

std::string sha256_of(const fs::path& file, const std::stop_token& stop) {
  const auto answer =
      run_process({.command = {"sha256sum", "--", file.string()}, .timeout_s = 60}, stop);
  // sha256sum begins the line with a backslash if the name has a backslash or a newline.
  const auto begin = answer.output.find_first_not_of('\\');
  return answer.ok() && begin != std::string::npos
             ? answer.output.substr(begin, answer.output.find(' ') - begin)
             : std::string();
}

/// Why the programs are not known to be copies of one build, linked from the same objects in
/// different orders; empty if they are known to be.
std::string why_not_copies(const std::vector<Program>& programs, const std::stop_token& stop) {
  const Program& first = programs.front();
  std::string objects;
  for (const Program& program : programs) {
    const fs::path file = program.executable();
    if (program.own_arguments() != first.own_arguments()) {
      return fmt::format("'{}' and '{}' are run with different arguments", first.command().front(),
                         program.command().front());
    }
    const fs::path manifest = file.parent_path() / kRelinkManifest;
    const auto content = content_of(manifest);
    if (!content) return fmt::format("there is no {}", manifest.string());
    const auto copy = line_of(*content, file.filename().string());
    if (!copy) return fmt::format("{} does not name '{}'", manifest.string(), file.string());
    if (sha256_of(file, stop) != copy->digest) {
      return fmt::format("'{}' is not what {} says was linked", file.string(), manifest.string());
    }
    if (!objects.empty() && objects != copy->objects) {
      return fmt::format("'{}' was linked from other objects than '{}'", file.string(),
                         first.command().front());
    }
    objects = copy->objects;
  }
  return {};
}

/// The two copies that trial number `trial` compares: every pair comes once before any is repeated.
std::pair<std::size_t, std::size_t> pair_of(int trial, std::size_t copies) {
  const auto number = static_cast<std::size_t>(trial);
  const std::size_t base = number % copies;
  const std::size_t distance = 1 + number / copies % (copies - 1);
  return {base, (base + distance) % copies};
}

/// One trial of a calibration, comparing two of the copies.
class CalibrationTrial final : public KeptTrial<model::PairedTrial> {
 public:
  CalibrationTrial(JournalPlan journal, const TrialPrograms& programs, const Bench& bench,
                   std::function<void()> show, model::PairedTrial& trial)
      : KeptTrial(std::move(journal), bench.stop, read_journal, trial),
        programs_(programs),
        bench_(bench),
        show_(std::move(show)) {}

 private:
  bool prepare(bool) override { return true; }

  void measure(LineFile& journal) override {
    constexpr double kNoLimit = std::numeric_limits<double>::infinity();
    run_trial(programs_, bench_, kNoLimit, false, show_, journal, trial_);
  }

  const TrialPrograms& programs_;
  const Bench& bench_;
  std::function<void()> show_;
};

/// All trials of one calibration, finished and still to come. Each has a journal; the calibration
/// itself has none.
class Calibration final : public JournaledTrial {
 public:
  Calibration(const CalibrationPlan& plan, const Listener& listener, const std::stop_token& stop,
              Calibrated& state)
      : JournaledTrial({}, stop),
        plan_(plan),
        listener_(listener),
        setup_(state.setup),
        trials_(state.trials),
        bench_{stop, plan.timeout_s},
        least_(static_cast<int>(verdict::least_noise_trials(plan.copies.size()))) {
    setup_ = plan.setup;
    setup_.trials = plan.trials.value_or(
        std::max(kLeastDefaultTrials, kTrialsOfCopy * static_cast<int>(plan.copies.size())));
  }

 private:
  Ending run_steps() override {
    try {
      return JournaledTrial::run_steps();
    } catch (const ProgramError&) {  // killed at the end of the budget
      if (stop().stop_requested() || !bench_.is_over()) throw;
      return Ending::complete;
    }
  }

  void look_up() override {
    if (!plan_.resume || plan_.budget_is_given) limit_time();
    for (const std::string& command : plan_.copies) {
      try {
        programs_.push_back(Program::find_out(split_command(command), stop(),
                                              {.timeout_s = plan_.timeout_s,
                                               .deadline = bench_.deadline,
                                               .kind = named_kind(setup_.kind)}));
      } catch (const std::invalid_argument& error) {
        refuse("'{}': {}", command, error.what());
      }
    }
    // Programs of two builds differ by more than noise; a floor from them would hide that much.
    const std::string why = plan_.trusted ? "" : why_not_copies(programs_, stop());
    if (!why.empty()) {
      refuse(
          "these are not known to be copies of one build: {}; scripts/relink makes copies, also of "
          "your own programs; --trust-me accepts these as they are",
          why);
    }
    BaselineStore(plan_.store).refuse_unwritable();
    if (plan_.resume) read_journals();
    limit_time();
  }

  /// Ends processes at the end of the budget, as far as it is known.
  void limit_time() {
    const std::chrono::duration<double> left(std::max(0.0, setup_.budget_s - earlier_s_));
    bench_.deadline = begun_ + std::chrono::duration_cast<Clock::duration>(left);
  }

  [[nodiscard]] bool is_complete() const override { return is_done_; }

  [[nodiscard]] bool prepare(bool) override {
    if (!plan_.resume) explore_copies();
    return true;
  }

  void measure(LineFile&) override {
    for (int number = next_trial(); number < setup_.trials; number = next_trial()) {
      if (block_s() > 0 && number < least_) fit_blocks(block_s(), least_ - number);
      if (is_out_of_time()) break;
      run_trial_number(number);
    }
    is_done_ = !stop().stop_requested();
  }

  /// Reads the trials of an earlier process.
  void read_journals() {
    for (int i = 0; fs::exists(file_of(i)); ++i) {
      const model::PairedTrial& trial = trials_.emplace_back(read_journal(file_of(i)));
      const auto [base, head] = pair_of(i, programs_.size());
      if (trial.setup.base.digest != programs_[base].digest() ||
          trial.setup.head.digest != programs_[head].digest()) {
        refuse("{} was started with other copies; start again", plan_.journals.string());
      }
      for (const auto& sample : trial.samples) earlier_s_ += sample.took_s;
      // Only the last trial may have been cut short.
      const bool is_cut_short = !trial.end && !fs::exists(file_of(i + 1));
      if (is_cut_short || (trial.end && verdict::complete_blocks(trial) >= 2)) continue;
      refuse("{}: blocks of this trial are missing; delete {} and start again", file_of(i).string(),
             plan_.journals.string());
    }
    if (trials_.empty()) refuse("{} holds no trial to continue", plan_.journals.string());
    plan_.refuse_other_options(trials_.front().setup);
    const model::PairedSetup asked = std::exchange(setup_, trials_.front().setup);
    if (plan_.budget_is_given || setup_.budget_s <= 0) setup_.budget_s = asked.budget_s;
    if (plan_.trials || setup_.trials <= 0) setup_.trials = asked.trials;
  }

  void explore_copies() {
    const Strings chosen = benchmark_names(plan_.workloads, programs_[0].listed());
    explore({programs_[0], programs_[1]}, chosen, bench_, setup_);
    keep_chosen(chosen, setup_);
    for (const std::string& name : setup_.benchmarks) {
      setup_.noise_floors[name] = {0, "not known yet"};
    }
    fit_blocks(elapsed_s() * model::kBlockSize / 2, least_);  // explore() ran two processes
  }

  /// Sets the number of blocks of a trial. Few blocks in enough trials give a floor; many blocks in
  /// too few trials do not.
  void fit_blocks(double block_s, int trials) {
    if (plan_.blocks_are_given) return;
    constexpr double kShare = 0.85;  // some blocks take longer than earlier ones
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
    return plan_.journals / fmt::format("{:03}.journal", number + 1);
  }

  /// The number of the trial to run next. The last one is continued if it was cut short.
  [[nodiscard]] int next_trial() const { return static_cast<int>(complete_trials(trials_).size()); }

  /// Part of the budget spent by this process and by those whose journals it continues.
  [[nodiscard]] double elapsed_s() const { return earlier_s_ + seconds_since(begun_); }

  /// Whether there is no time for another trial.
  [[nodiscard]] bool is_out_of_time() const {
    if (bench_.is_over()) return true;
    if (trials_.empty() || !trials_.back().end) return false;
    return elapsed_s() + block_s() * setup_.max_blocks > setup_.budget_s;
  }

  void run_trial_number(int number) {
    constexpr std::uint64_t kSeedStep = 1'000'003;
    const auto [base, head] = pair_of(number, programs_.size());
    const bool is_new = static_cast<std::size_t>(number) == trials_.size();
    if (is_new) {
      model::PairedSetup& setup = trials_.emplace_back().setup;
      setup = setup_;
      setup.seed += static_cast<std::uint64_t>(number) * kSeedStep;
      setup.base = {plan_.copies[base], programs_[base].digest()};
      setup.head = {plan_.copies[head], programs_[head].digest()};
    }
    fs::create_directories(plan_.journals);
    const auto show = [&] {
      listener_.progress(fmt::format("trial {} of at most {}, block {} of {}, {} of {}", number + 1,
                                     setup_.trials, verdict::complete_blocks(trials_.back()) + 1,
                                     setup_.max_blocks, model::duration_text(elapsed_s()),
                                     model::duration_text(setup_.budget_s)));
    };
    const TrialPrograms programs{programs_[base], programs_[head]};
    CalibrationTrial({.path = file_of(number), .resume = !is_new}, programs, bench_, show,
                     trials_.back())
        .run();
  }

  const CalibrationPlan& plan_;
  const Listener& listener_;
  const Clock::time_point begun_ = Clock::now();
  double earlier_s_ = 0;
  model::PairedSetup& setup_;
  std::vector<model::PairedTrial>& trials_;
  Bench bench_;
  std::vector<Program> programs_;
  int least_;  ///< trials that a noise floor needs
  bool is_done_ = false;
};

}  // namespace

std::span<const model::PairedTrial> complete_trials(const std::vector<model::PairedTrial>& trials) {
  const bool is_cut_short = !trials.empty() && !trials.back().complete();
  return std::span(trials).first(trials.size() - (is_cut_short ? 1 : 0));
}

Ending calibrate(const CalibrationPlan& plan, const Listener& listener, const std::stop_token& stop,
                 Calibrated& calibration) {
  return Calibration(plan, listener, stop, calibration).run();
}

}  // namespace taskbench::harness
