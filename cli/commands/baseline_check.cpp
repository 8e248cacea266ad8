#include "cli/commands/baseline_check.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "cli/output/measurement.hpp"
#include "cli/output/output.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/signals.hpp"
#include "harness/machine/machine.hpp"
#include "harness/trials/baseline_store.hpp"
#include "harness/trials/series.hpp"
#include "harness/trials/stored.hpp"
#include "reports/json/answers.hpp"
#include "reports/json/baseline.hpp"
#include "reports/json/reader.hpp"
#include "reports/render/baseline.hpp"
#include "reports/verdict/baseline.hpp"

namespace taskbench::cli {
namespace {

using Stage = verdict::BaselineFailure::Stage;
using Entries = std::vector<const StoreEntry*>;

/// The baseline is of another machine or build; what() says in what they differ.
class WrongMachine : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws WrongMachine, with every field that differs, of every baseline called `name`, the nearest
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
  const model::MachineKey here = harness::probe_machine();
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
  setup.iterations.clear();  // those of the benchmarks that are chosen follow
  ++setup.seed;
}

/// Keeps the benchmarks that the program and the baseline share, with the baseline's iterations.
void choose_common(const model::SeriesSetup& stored, model::SeriesSetup& setup) {
  setup.iterations.clear();
  for (const std::string& name : std::exchange(setup.benchmarks, {})) {
    const bool known = std::ranges::find(stored.benchmarks, name) != stored.benchmarks.end();
    (known ? setup.benchmarks : setup.unmeasured).push_back(name);
    const auto count = stored.iterations.find(name);
    if (known && count != stored.iterations.end()) setup.iterations.insert(*count);
  }
  if (setup.benchmarks.empty()) {
    refuse("the program and the baseline '{}' have no benchmark in common; nothing can be compared",
           stored.name);
  }
}

std::string digest_of(const std::optional<model::Series>& series) {
  return series ? harness::digest_of(json::baseline_file(*series)) : std::string();
}

/// Waits as long as the processes took, at most half a minute: enough for a burst of other work to
/// end.
void wait_before_confirming(const model::Series& series, const std::stop_token& stop) {
  constexpr double kMost_s = 30;
  double seconds = 0;
  for (const auto& process : series.processes) {
    if (process.use) seconds += process.use->seconds;
  }
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(std::min(seconds, kMost_s));
  while (!stop.stop_requested() && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

/// One comparison: what is measured, and what it is compared with.
class BaselineTrial {
 public:
  BaselineTrial(const BaselineCheck& check, const Invocation& invocation,
                const std::stop_token& stop)
      : check_(check), invocation_(invocation), stop_(stop) {}

  ExitCode run() {
    return run_measurement(
        stop_, [&] { return judge(); }, [&] { return interrupted(); },
        [&](const harness::ProgramError& error) {
          const auto* mistake = dynamic_cast<const harness::NotMeasurable*>(&error);
          if (mistake != nullptr && !check_.is_gate) throw UsageError(error.what());
          fail(Stage::measure, error.what());
          return mistake != nullptr && !mistake->has_failed() ? ExitCode::usage
                                                              : ExitCode::measured_program_failed;
        });
  }

 private:
  ExitCode judge() {
    try {
      const StoreContent content = BaselineStore(check_.store).read();
      const Entries ours = of_this_machine(content, check_.name);
      if (!resume(ours)) begin(ours);
    } catch (const WrongMachine& error) {
      fail(Stage::machine, error.what());
      return ExitCode::wrong_machine;
    }
    if (!confirm()) return interrupted();
    const Verdicts verdicts{.table = render::table(comparison_, table_style()),
                            .markdown = render::markdown(comparison_, check_.comment),
                            .csv = render::csv(comparison_.report),
                            .json = json::to_json(comparison_)};
    if (!check_.output.conclude(verdicts)) return ExitCode::usage;
    if (comparison_.report.environment_moved) return ExitCode::wrong_machine;
    return check_.verdict.exit_code(
        comparison_.report.overall,
        {.blind = verdict::blind_rows(comparison_.report, comparison_.policy.delta)});
  }

  void choose_baseline(const Entries& ours) {
    const model::MachineKey& key = comparison_.now.setup.key;
    const auto same_build = std::ranges::find_if(ours, [&](const StoreEntry* entry) {
      return differences(entry->rolling.setup.key, key).empty();
    });
    if (same_build == ours.end()) refuse_machine(check_.name, ours, key, true);
    comparison_.rolling = (*same_build)->rolling;
    comparison_.anchor = (*same_build)->anchor;
  }

  void begin(const Entries& ours) {
    const std::string command =
        check_.program.empty() ? ours.front()->rolling.setup.command : check_.program;
    const SeriesProgram program(command, check_.timeout_s, stop_);
    model::SeriesSetup& setup = comparison_.now.setup;
    setup.name = check_.name;
    setup.processes = check_.processes.value_or(kDefaultFreshProcesses);
    // Measured like the nearest baseline first: only the exploration finds out the build.
    measure_as(ours.front()->rolling.setup, setup);
    ProgressLine line(check_.output.quiet);
    program.explore(listener_on(line), setup);
    choose_baseline(ours);
    measure_as(comparison_.rolling.setup, setup);
    choose_common(comparison_.rolling.setup, setup);
    setup.compared_with = model::ComparedWith{
        .rolling = digest_of(comparison_.rolling),
        .anchor = digest_of(comparison_.anchor),
        .alpha = check_.alpha,
        .delta = check_.delta,
        .allow_busy = check_.allow_busy,
        .noise_floors = noise_floors(check_.store, setup.key, setup.benchmarks, setup.date)};
    measure(program, harness::LineFile::create(check_.output.journal, json::journal_line(setup)));
  }

  /// Continues the series in the journal, if there is one; otherwise makes room for a new one.
  bool resume(const Entries& ours) {
    const fs::path& journal = check_.output.journal;
    if (!check_.output.resume || (check_.is_gate && !fs::exists(journal))) {
      make_room_for_journal(journal, invocation_.given("--journal"), check_.is_gate, "comparison",
                            [&] { return harness::read_series_journal(journal).complete(); });
      return false;
    }
    comparison_.now = harness::read_series_journal(journal);
    if (comparison_.now.setup.name != check_.name) {
      refuse_journal(fmt::format("was started against the baseline '{}', not '{}'",
                                 comparison_.now.setup.name, check_.name));
    }
    refuse_other_program();
    choose_baseline(ours);
    refuse_contradictions();
    if (!comparison_.now.complete()) go_on();
    return true;
  }

  [[noreturn]] void refuse_journal(std::string_view what) const {
    refuse("{} {}", check_.output.journal.string(), what);
  }

  /// Refuses a program that is not the journal's. A program that no longer exists is not needed if
  /// the series is complete.
  void refuse_other_program() const {
    if (check_.program.empty()) return;
    const model::SeriesSetup& setup = comparison_.now.setup;
    if (check_.program != setup.command) {
      refuse_journal(
          fmt::format("was started with {}, not '{}'; start again",
                      setup.command.empty() ? "this taskbench" : fmt::format("'{}'", setup.command),
                      check_.program));
    }
    const std::string file = harness::split_command(setup.command).front();
    if (file.find('/') != std::string::npos && !fs::exists(file)) return;
    SeriesProgram(setup.command, check_.timeout_s, stop_)
        .refuse_changed(check_.output.journal, setup);
  }

  /// Refuses options, and a baseline, that are not those that the journal was started with.
  void refuse_contradictions() const {
    const model::SeriesSetup& setup = comparison_.now.setup;
    if (check_.processes && *check_.processes != setup.processes) {
      refuse_journal(fmt::format("was started with --processes {}; name as many, or start again",
                                 setup.processes));
    }
    const auto& then = setup.compared_with;
    if (!then) {
      refuse_journal("does not say which baseline it was started against; start again");
    }
    if (then->rolling != digest_of(comparison_.rolling)) {
      refuse_journal("was started against another baseline of that name; start again");
    }
    if (then->anchor != digest_of(comparison_.anchor)) {
      refuse_journal("was started against another anchor of that baseline; start again");
    }
    if ((invocation_.given("--delta") && then->delta != check_.delta) ||
        (invocation_.given("--alpha") && then->alpha != check_.alpha)) {
      refuse_journal(
          fmt::format("was started with --delta {:g}% --alpha {:g}%; give the same, or start again",
                      100 * then->delta, 100 * then->alpha));
    }
  }

  void go_on() {
    const model::SeriesSetup& setup = comparison_.now.setup;
    const SeriesProgram program(setup.command, check_.timeout_s, stop_);
    program.refuse_changed(check_.output.journal, setup);
    auto journal = harness::LineFile::resume(check_.output.journal);
    if (comparison_.now.complete()) {
      comparison_.now.confirming = true;
      journal.append(json::confirming_line());
    }
    measure(program, std::move(journal));
  }

  /// Measures while the CPUs are where they were when the baseline was saved.
  void measure(const SeriesProgram& program, harness::LineFile journal) {
    ProgressLine line(check_.output.quiet);
    program.run({.keeps_all = comparison_.now.setup.compared_with->allow_busy,
                 .place_ns = verdict::place_of(comparison_.rolling)},
                listener_on(line), journal, comparison_.now);
  }

  /// Measures a failure a second time, some time later: most disturbances pass. An undecided result
  /// gets a second chance, too. False if it was interrupted.
  bool confirm() {
    if (!comparison_.now.complete()) return false;
    make_report();
    const auto& report = comparison_.report;
    // If other processes took more when the baseline was saved, measuring again cannot help.
    const bool hopeless =
        report.others_moved && report.others_then &&
        (!report.others_now || report.others_now->taken < report.others_then->taken);
    if (comparison_.now.confirming || hopeless || report.overall == verdict::Verdict::pass) {
      return true;
    }
    if (!check_.output.quiet) {
      print_note(report.overall == verdict::Verdict::fail
                     ? "slower; measuring once more, to confirm it"
                     : "undecided; measuring as many processes again");
    }
    wait_before_confirming(comparison_.now, stop_);
    if (stop_.stop_requested()) return false;
    go_on();
    if (!comparison_.now.complete()) return false;
    make_report();
    return true;
  }

  void make_report() {
    const model::ComparedWith& by = *comparison_.now.setup.compared_with;
    comparison_.policy.alpha = by.alpha;
    comparison_.policy.delta = by.delta;
    comparison_.policy.allow_busy = by.allow_busy || check_.allow_busy;
    comparison_.policy.noise_floors = by.noise_floors;
    comparison_.report = verdict::compare_with_baseline(
        comparison_.now, comparison_.rolling, comparison_.anchor ? &*comparison_.anchor : nullptr,
        comparison_.policy);
  }

  void fail(Stage stage, const std::string& message) const {
    print_error(message);
    if (!check_.is_gate) return;
    const verdict::BaselineFailure failure{stage, check_.name, check_.program, message};
    // The reason why the gate failed is already printed; so is it if a file could not be written.
    (void)check_.output.write(json::to_json(failure),
                              render::failure_markdown(failure, check_.comment));
  }

  [[nodiscard]] ExitCode interrupted() const {
    std::error_code failed;
    print_note(fs::exists(check_.output.journal, failed)
                   ? fmt::format("interrupted; continue with the same command and --resume; what "
                                 "was measured is in {}",
                                 check_.output.journal.string())
                   : "interrupted before the first process");
    return ExitCode::interrupted;
  }

  const BaselineCheck& check_;
  const Invocation& invocation_;
  std::stop_token stop_;
  verdict::BaselineComparison comparison_;
};

}  // namespace

ExitCode check_baseline(const BaselineCheck& check, const Invocation& invocation) {
  if (check.is_gate) check.output.remove_stale();
  check.output.refuse_unwritable();
  return BaselineTrial(check, invocation, stop_on_signals()).run();
}

}  // namespace taskbench::cli
