#include "harness/trials/baseline_trial.hpp"

#include <thread>

#include "harness/files/stored.hpp"
#include "harness/machine/canary.hpp"
#include "harness/machine/environment.hpp"
#include "harness/machine/machine.hpp"
#include "harness/os/process.hpp"
#include "reports/json/baseline.hpp"
#include "reports/verdict/digits.hpp"

namespace taskbench::harness {
namespace {

using Entries = std::vector<const StoreEntry*>;

/// Throws WrongMachine with every field that differs, for every baseline called `name`, the nearest
/// first.
[[noreturn]] void refuse_machine(const std::string& name, Entries others,
                                 const model::MachineKey& here, bool with_build) {
  const auto differing = [&](const StoreEntry* entry) {
    const model::MachineKey& key = entry->rolling.setup.key;
    return with_build ? differences(key, here) : differences(key.machine, here.machine);
  };
  const auto shown = [](const std::string& value) {
    return value.empty() ? std::string("unknown") : fmt::format("'{}'", value);
  };
  std::ranges::stable_sort(others, {}, [&](const StoreEntry* e) { return differing(e).size(); });
  std::string text = fmt::format("no baseline '{}' of this {}", name,
                                 with_build ? "build on this machine" : "machine");
  for (const StoreEntry* entry : others) {
    Strings fields;
    for (const auto& each : differing(entry)) {
      fields.push_back(
          fmt::format("{}: {} there, {} here", each.name, shown(each.first), shown(each.second)));
    }
    text += fmt::format("\n  {} differs in {}", model::baseline_key(entry->rolling.setup.key),
                        fmt::join(fields, "; "));
  }
  throw WrongMachine(text);
}

/// The baselines of this machine that are called `name`. Throws UsageError if there are none
/// anywhere, WrongMachine if other machines have some.
Entries of_this_machine(const StoreContent& content, const std::string& name) {
  const model::MachineKey here = probe_machine();
  Entries others;
  Entries ours;
  for (const StoreEntry& entry : content.entries) {
    if (entry.rolling.setup.name != name) continue;
    const bool same = differences(entry.rolling.setup.key.machine, here.machine).empty();
    (same ? ours : others).push_back(&entry);
  }
  if (!ours.empty()) return ours;
  content.refuse_bad(name);
  if (others.empty()) throw UsageError(unknown_baseline(name, content));
  refuse_machine(name, others, here, false);
}

/// Makes `setup` measure in the same way as the baseline, except for the seed.
void measure_as(const model::SeriesSetup& stored, model::SeriesSetup& setup) {
  static_cast<model::Sampling&>(setup) = stored;
  setup.iterations.clear();  // replaced by those of the chosen benchmarks
  ++setup.seed;
}

/// Keeps the benchmarks that the program and the baseline share, with the baseline's iterations.
void choose_common(const model::SeriesSetup& stored, model::SeriesSetup& setup) {
  setup.iterations.clear();
  for (const std::string& name : std::exchange(setup.benchmarks, {})) {
    const bool known = contains(stored.benchmarks, name);
    (known ? setup.benchmarks : setup.unmeasured).push_back(name);
    const auto count = stored.iterations.find(name);
    if (known && count != stored.iterations.end()) setup.iterations.insert(*count);
  }
  if (setup.benchmarks.empty()) {
    refuse("the program and the baseline '{}' have no benchmark in common; nothing can be compared",
           stored.name);
  }
}

std::string baseline_digest(const std::optional<model::Series>& series) {
  return series ? digest_of(json::baseline_file(*series)) : std::string();
}

/// Waits as long as a round took, at most half a minute: enough for a burst of other work to end.
void wait_before_next_round(const model::Series& series, const std::stop_token& stop) {
  constexpr double kMost_s = 30;
  double seconds = 0;
  for (const auto& process : series.processes) {
    if (process.use) seconds += process.use->seconds / series.rounds;
  }
  const auto start = Clock::now();
  while (!stop.stop_requested() && seconds_since(start) < std::min(seconds, kMost_s)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

/// The commit of the sources: the one that taskbench reports, or else the one checked out here.
std::string commit_of(const model::Run& result, const std::stop_token& stop) {
  if (!result.environment.git_commit.empty()) return result.environment.git_commit;
  const auto answer = run_process({.command = {"git", "rev-parse", "HEAD"}, .timeout_s = 10}, stop);
  return answer.ok() ? answer.output.substr(0, answer.output.find('\n')) : std::string{};
}

/// Fresh processes of one program, one after the other, with the canary between them.
class SeriesTrial : public KeptTrial<model::Series> {
 protected:
  SeriesTrial(const BaselinePlan& plan, const Listener& listener, const std::stop_token& stop,
              model::Series& series)
      : KeptTrial(plan.journal, stop, read_series_journal, series),
        listener_(listener),
        bench_{stop, plan.timeout_s} {}

  /// Finds the program of `command`, or this taskbench if `command` is empty.
  void find_program(const std::string& command) {
    trial_.setup.command = command;
    program_ = named_program(command, trial_.setup.kind, bench_);
  }

  /// Finds the program of the journal. Throws UsageError unless machine, canary and program are the
  /// ones that it was started with.
  void find_program_again() {
    const model::SeriesSetup& setup = trial_.setup;
    const fs::path& file = journal();
    find_program(setup.command);
    const auto differing = differences(setup.key.machine, probe_machine().machine);
    if (!differing.empty()) {
      refuse("{} was started on another machine: {} was '{}', and is '{}'", file.string(),
             differing.front().name, differing.front().first, differing.front().second);
    }
    for (const auto& field : canary_fields()) {
      if (model::value_of(setup.key.build, field.name) != field.value) {
        refuse("{} was started with the canary of another taskbench; start again", file.string());
      }
    }
    if (setup.digest != program_->digest()) refuse_rebuilt(program_->command().front(), file);
  }

  /// Refuses a given program that is not the journal's. If the series is complete, the program may
  /// be missing.
  void refuse_other_program(const std::string& given) {
    if (given.empty()) return;
    const model::SeriesSetup& setup = trial_.setup;
    if (given != setup.command) {
      refuse("{} was started with {}, not '{}'; start again", journal().string(),
             setup.command.empty() ? "this taskbench" : fmt::format("'{}'", setup.command), given);
    }
    const std::string file = split_command(setup.command).front();
    if (!is_looked_up(file) && !fs::exists(file)) return;
    find_program_again();
  }

  /// Fills in the program, date and key of a series. Runs the program once, without counting the
  /// run, to learn its benchmarks, their iterations, and how it was built. Returns its result.
  model::Run explore() {
    model::SeriesSetup& setup = trial_.setup;
    model::Run result =
        first_run(*program_, request_of(setup, bench_.timeout_s), bench_, listener_);
    require_sound(*program_, result);
    setup.digest = program_->digest();
    setup.date = local_date();
    setup.commit = commit_of(result, stop());
    setup.key = probe_machine();
    setup.key.build = build_fields(result);
    for (auto& field : canary_fields()) setup.key.build.push_back(std::move(field));
    setup.benchmarks.clear();
    setup.iterations.clear();
    for (const auto& benchmark : result.cases) {
      setup.benchmarks.push_back(benchmark.name);
      if (program_->kind().takes_iterations()) {
        setup.iterations[benchmark.name] = benchmark.repetitions.front().iterations;
      }
    }
    return result;
  }

  /// Continues the series until it is complete or a stop is requested; each process is in the
  /// journal before the next begins. A process during which the host had moved the CPUs is set
  /// aside and repeated, unless `keeps_all`, but at most as often as the series has processes;
  /// after that all count, and the verdict says that the CPUs were moved. `place_ns`: the required
  /// placement of the CPUs; empty: the initial one.
  void run_processes(LineFile& journal, bool keeps_all, std::optional<double> place_ns = {}) {
    SampleRequest request = request_of(trial_.setup, bench_.timeout_s);
    if (!program_->kind().takes_iterations()) request.iterations.clear();
    std::optional<model::CanaryTimes> canary;  // only a recent one, not from before a kill
    std::optional<double> place = place_ns ? place_ns : verdict::place_of(trial_);
    const int most_aside = keeps_all ? 0 : trial_.setup.processes;
    int begun = static_cast<int>(trial_.processes.size());
    int aside = 0;
    while (!trial_.complete() && !stop().stop_requested()) {
      const std::size_t number = trial_.processes.size();
      listener_.progress(fmt::format("process {} of {}{}", number + 1, trial_.wanted(),
                                     aside == 0 ? "" : fmt::format(", {} set aside", aside)));
      model::SeriesProcess process;
      process.before = canary ? *canary : time_canary();
      // Each process has its own order of benchmarks and its own stack offset, as in ab.
      const auto measured =
          measure_next(*program_, request, block_plan(trial_.setup.seed, begun++), bench_);
      if (!measured) return;
      process.use = measured->machine.cpu;
      process.real_ns = measured->real_ns;
      canary = time_canary();
      process.after = *canary;
      if (aside < most_aside && !verdict::was_at(place, process)) {
        ++aside;
        continue;
      }
      journal.append(json::journal_line(process, number));
      trial_.processes.push_back(std::move(process));
      if (!place) place = verdict::place_of(trial_);
    }
    if (aside > 0) {
      listener_.note(
          fmt::format("{} set aside: the host had moved the CPUs",
                      aside == 1 ? "a process was" : fmt::format("{} processes were", aside)));
    }
  }

  const Listener& listener_;
  Bench bench_;
  std::optional<Program> program_;
};

class SavedSeries final : public SeriesTrial {
 public:
  SavedSeries(const SavePlan& plan, const Listener& listener, const std::stop_token& stop,
              model::Series& series)
      : SeriesTrial(plan, listener, stop, series), plan_(plan) {
    trial_.setup = plan.setup;
  }

 private:
  [[nodiscard]] std::string_view noun() const override { return "save"; }

  void refuse_other() override {
    const model::SeriesSetup& setup = trial_.setup;
    if (setup.compared_with) {
      refuse("{} is of a comparison; continue it with: taskbench baseline compare --resume",
             journal().string());
    }
    if (plan_.name_is_given && plan_.name != setup.name) {
      refuse("{} is of the baseline '{}', not '{}'", journal().string(), setup.name, plan_.name);
    }
    plan_.refuse_other_options(setup);
    refuse_other_program(plan_.program);
  }

  bool prepare(bool goes_on) override {
    if (goes_on) return find_program_again(), true;
    find_program(plan_.program);
    model::SeriesSetup& setup = trial_.setup;
    setup.name = plan_.name;
    (void)explore();
    setup.benchmarks =
        chosen_benchmarks(benchmark_names(plan_.workloads, setup.benchmarks), setup.benchmarks);
    std::erase_if(setup.iterations,
                  [&](const auto& entry) { return !contains(setup.benchmarks, entry.first); });
    BaselineStore(plan_.store).refuse_foreign(setup);
    return true;
  }

  void measure(LineFile& journal) override { run_processes(journal, plan_.allow_busy); }

  const SavePlan& plan_;
};

class ComparedSeries final : public SeriesTrial {
 public:
  ComparedSeries(const ComparePlan& plan, const Listener& listener, const std::stop_token& stop,
                 verdict::BaselineComparison& comparison)
      : SeriesTrial(plan, listener, stop, comparison.now), plan_(plan), comparison_(comparison) {
    trial_.setup.processes = plan.processes.value_or(kDefaultFreshProcesses);
  }

 private:
  [[nodiscard]] std::string_view noun() const override { return "comparison"; }

  void look_up() override {
    content_ = BaselineStore(plan_.store).read();
    ours_ = of_this_machine(content_, plan_.name);
  }

  void choose_baseline() {
    const model::MachineKey& key = trial_.setup.key;
    const auto same_build = std::ranges::find_if(ours_, [&](const StoreEntry* entry) {
      return differences(entry->rolling.setup.key, key).empty();
    });
    if (same_build == ours_.end()) refuse_machine(plan_.name, ours_, key, true);
    comparison_.rolling = (*same_build)->rolling;
    comparison_.anchor = (*same_build)->anchor;
  }

  void refuse_other() override {
    if (trial_.setup.name != plan_.name) {
      refuse("{} was started against the baseline '{}', not '{}'", journal().string(),
             trial_.setup.name, plan_.name);
    }
    refuse_other_program(plan_.program);
    choose_baseline();
    refuse_contradictions();
  }

  /// Refuses options, and a baseline, that differ from those that the journal was started with.
  void refuse_contradictions() const {
    const std::string file = journal().string();
    const model::SeriesSetup& setup = trial_.setup;
    if (plan_.processes && *plan_.processes != setup.processes) {
      refuse("{} was started with --processes {}; name as many, or start again", file,
             setup.processes);
    }
    const auto& then = setup.compared_with;
    if (!then) refuse("{} does not say which baseline it was started against; start again", file);
    if (then->rolling != baseline_digest(comparison_.rolling)) {
      refuse("{} was started against another baseline of that name; start again", file);
    }
    if (then->anchor != baseline_digest(comparison_.anchor)) {
      refuse("{} was started against another anchor of that baseline; start again", file);
    }
    if ((plan_.delta_is_given && then->delta != plan_.delta) ||
        (plan_.alpha_is_given && then->alpha != plan_.alpha)) {
      refuse("{} was started with --delta {:g}% --alpha {:g}%; give the same, or start again", file,
             100 * then->delta, 100 * then->alpha);
    }
  }

  bool prepare(bool goes_on) override {
    const model::SeriesSetup& nearest = ours_.front()->rolling.setup;
    if (goes_on) return find_program_again(), true;
    trial_.setup.kind = nearest.kind;
    find_program(plan_.program.empty() ? nearest.command : plan_.program);
    model::SeriesSetup& setup = trial_.setup;
    setup.name = plan_.name;
    measure_as(nearest, setup);  // only exploring shows how it was built
    const model::Run found = explore();
    choose_baseline();
    measure_as(comparison_.rolling.setup, setup);
    choose_common(comparison_.rolling.setup, setup);
    setup.compared_with = model::ComparedWith{
        .rolling = baseline_digest(comparison_.rolling),
        .anchor = baseline_digest(comparison_.anchor),
        .alpha = plan_.alpha,
        .delta = plan_.delta,
        .allow_busy = plan_.allow_busy,
        .noise_floors = noise_floors(plan_.store, setup.key, setup.benchmarks, setup.date)};
    raise_to_digits(found, setup.compared_with->noise_floors);
    return true;
  }

  /// Raises noise floors to what the last digit of printed times means, in `found` or in the
  /// baseline.
  void raise_to_digits(const model::Run& found,
                       std::map<std::string, model::NoiseFloor>& floors) const {
    for (const model::Case& benchmark : found.cases) {
      const auto floor = floors.find(benchmark.name);
      if (floor == floors.end()) continue;
      std::vector<double> times = each_of(benchmark.repetitions, &model::Repetition::real_ns);
      for (const model::SeriesProcess& process : comparison_.rolling.processes) {
        times.push_back(process.real_ns.at(benchmark.name));
      }
      const auto of_digits = verdict::floor_of_digits(benchmark.step_ns, std::ranges::min(times));
      if (of_digits) verdict::raise_to_digits(*of_digits, floor->second);
    }
  }

  /// Measures while the CPUs are placed as they were when the baseline was saved.
  void measure(LineFile& journal) override {
    if (trial_.complete()) journal.append(json::round_line(++trial_.rounds));
    run_processes(journal, trial_.setup.compared_with->allow_busy,
                  verdict::place_of(comparison_.rolling));
  }

  /// Judges. A failure is measured a second time after a while, since most disturbances pass.
  /// Undecided metrics are measured up to kMostRounds times: the levels of rounds differ, so
  /// several rounds say more than as many processes in one.
  bool wants_more() override {
    const model::ComparedWith& by = *trial_.setup.compared_with;
    comparison_.policy.alpha = by.alpha;
    comparison_.policy.delta = by.delta;
    comparison_.policy.allow_busy = by.allow_busy || plan_.allow_busy;
    comparison_.policy.noise_floors = by.noise_floors;
    comparison_.report = verdict::compare_with_baseline(
        comparison_.now, comparison_.rolling, comparison_.anchor ? &*comparison_.anchor : nullptr,
        comparison_.policy);
    const verdict::BaselineReport& report = comparison_.report;
    // If other processes used more CPU when the baseline was saved, measuring again cannot help.
    const bool hopeless =
        report.others_moved && report.others_then &&
        (!report.others_now || report.others_now->taken < report.others_then->taken);
    const bool failed = report.overall == verdict::Verdict::fail;
    const bool decided = report.overall == verdict::Verdict::pass || (failed && trial_.rounds > 1);
    // A machine that was different for two rounds stays so for the next.
    const bool in_vain = hopeless || (report.environment_moved && trial_.rounds > 1);
    if (decided || in_vain || trial_.rounds == kMostRounds) return false;
    listener_.note(failed ? "slower; measuring once more, to confirm it"
                          : fmt::format("undecided; measuring as many processes again, round {} of "
                                        "at most {}",
                                        trial_.rounds + 1, kMostRounds));
    wait_before_next_round(trial_, stop());
    return true;
  }

  const ComparePlan& plan_;
  verdict::BaselineComparison& comparison_;
  StoreContent content_;
  Entries ours_;  ///< of this machine, from any build
};

}  // namespace

Ending measure_baseline(const SavePlan& plan, const Listener& listener, const std::stop_token& stop,
                        model::Series& series) {
  return SavedSeries(plan, listener, stop, series).run();
}

Ending compare_with_stored(const ComparePlan& plan, const Listener& listener,
                           const std::stop_token& stop, verdict::BaselineComparison& comparison) {
  return ComparedSeries(plan, listener, stop, comparison).run();
}

}  // namespace taskbench::harness
