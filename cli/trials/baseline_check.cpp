#include "cli/trials/baseline_check.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "cli/output/streams.hpp"
#include "cli/output/terminal.hpp"
#include "cli/tools/scratch_folder.hpp"
#include "cli/trials/journal_room.hpp"
#include "cli/trials/measured_process.hpp"
#include "cli/trials/noise_floors.hpp"
#include "cli/trials/series.hpp"
#include "reports/json/answers.hpp"
#include "reports/json/baseline.hpp"
#include "reports/json/reader.hpp"
#include "reports/render/baseline.hpp"
#include "reports/verdict/baseline.hpp"
#include "workloads/machine/machine.hpp"
#include "workloads/measure/program.hpp"

namespace taskbench::cli {
namespace {

using measure::ProgramError;
using Stage = verdict::BaselineFailure::Stage;

/// The baseline is of another machine or build; what() says wherein.
class WrongMachine : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string shown(const std::string& value) {
  return value.empty() ? std::string("unknown") : fmt::format("'{}'", value);
}

/// Every field that differs, of every baseline of that name, the nearest first.
std::string refusal(const std::string& name, std::vector<const StoreEntry*> others,
                    const model::MachineKey& here, bool with_build) {
  const auto differing = [&](const StoreEntry* entry) {
    const model::MachineKey& key = entry->rolling.setup.key;
    return with_build ? differences(key, here) : differences(key.machine, here.machine);
  };
  std::ranges::stable_sort(others, {}, [&](const StoreEntry* e) { return differing(e).size(); });
  std::string text = fmt::format("no baseline '{}' of this {}", name,
                                 with_build ? "build on this machine" : "machine");
  for (const StoreEntry* entry : others) {
    std::string fields;
    for (const auto& each : differing(entry)) {
      fields += fmt::format("{}{}: {} there, {} here", fields.empty() ? "" : "; ", each.name,
                            shown(each.first), shown(each.second));
    }
    text +=
        fmt::format("\n  {} differs in {}", model::baseline_key(entry->rolling.setup.key), fields);
  }
  return text;
}

/// Those of this machine. Throws UsageError when none has the name, WrongMachine when others have.
std::vector<const StoreEntry*> of_this_machine(const StoreContent& content, const std::string& name,
                                               const model::MachineKey& here) {
  std::vector<const StoreEntry*> others;
  std::vector<const StoreEntry*> ours;
  for (const StoreEntry& entry : content.entries) {
    if (entry.rolling.setup.name != name) continue;
    const bool same = differences(entry.rolling.setup.key.machine, here.machine).empty();
    (same ? ours : others).push_back(&entry);
  }
  if (!ours.empty()) return ours;
  for (const BadEntry& bad : content.bad) {
    if (bad.name == name) throw UsageError(bad.what);
  }
  if (others.empty()) throw UsageError(unknown_baseline(name, content));
  throw WrongMachine(refusal(name, others, here, false));
}

/// The same way of measuring as the baseline's, but for what is drawn.
void measure_as(const model::SeriesSetup& stored, model::SeriesSetup& setup) {
  setup.seed = stored.seed + 1;
  setup.repetitions = stored.repetitions;
  setup.min_time_s = stored.min_time_s;
}

/// The benchmarks that both have, with the baseline's iterations.
void choose_common(const model::SeriesSetup& stored, model::SeriesSetup& setup) {
  for (const std::string& name : std::exchange(setup.benchmarks, {})) {
    const bool known = std::ranges::find(stored.benchmarks, name) != stored.benchmarks.end();
    (known ? setup.benchmarks : setup.unmeasured).push_back(name);
  }
  if (setup.benchmarks.empty()) {
    throw UsageError(fmt::format(
        "the program and the baseline '{}' have no benchmark in common; nothing can be compared",
        stored.name));
  }
  setup.iterations.clear();
  for (const std::string& name : setup.benchmarks) {
    const auto count = stored.iterations.find(name);
    if (count != stored.iterations.end()) setup.iterations.insert(*count);
  }
}

/// The series of the journal, if there is one to go on with; otherwise makes room for a new one.
std::optional<model::Series> resumed_series(const BaselineCheck& check) {
  if (check.output.resume && (!check.replaces_journal || fs::exists(check.output.journal))) {
    model::Series series = json::read_series_journal(check.output.journal);
    if (series.setup.name == check.name) return series;
    throw UsageError(fmt::format("{} was started against the baseline '{}', not '{}'",
                                 check.output.journal.string(), series.setup.name, check.name));
  }
  make_room_for_journal(
      {.path = check.output.journal,
       .named_by_user = check.output.own_journal,
       .replaces = check.replaces_journal,
       .what = "comparison",
       .has_ended = [](const auto& path) { return json::read_series_journal(path).complete(); }});
  return std::nullopt;
}

std::string digest_of(const model::Series& series) {
  return measure::digest_of(json::baseline_file(series));
}

/// The given program must be that of the journal. One that is gone is not needed any more, where
/// the series is complete.
void refuse_other_program(const BaselineCheck& check, const model::SeriesSetup& setup,
                          const std::stop_token& stop) {
  if (check.program.empty()) return;
  if (check.program != setup.command) {
    throw UsageError(
        fmt::format("{} was started with {}, not '{}'; start again", check.output.journal.string(),
                    setup.command.empty() ? "this taskbench" : fmt::format("'{}'", setup.command),
                    check.program));
  }
  const std::string file = measure::split_command(setup.command).front();
  if (file.find('/') != std::string::npos && !fs::exists(file)) return;
  refuse_changed(check.output.journal, setup, series_program(setup.command, check.timeout_s, stop));
}

/// What else was asked for must be what the journal was started with, and the baseline, too.
void refuse_contradictions(const BaselineCheck& check, const VerdictOptions& verdict,
                           const verdict::BaselineComparison& comparison) {
  const model::SeriesSetup& setup = comparison.now.setup;
  const auto refuse = [&](std::string_view what) {
    throw UsageError(fmt::format("{} {}", check.output.journal.string(), what));
  };
  if (check.processes && *check.processes != setup.processes) {
    refuse(fmt::format("was started with --processes {}; name as many, or start again",
                       setup.processes));
  }
  const auto& then = setup.compared_with;
  if (!then) refuse("does not say which baseline it was started against; start again");
  if (then->rolling != digest_of(comparison.rolling)) {
    refuse("was started against another baseline of that name; start again");
  }
  if (then->anchor != (comparison.anchor ? digest_of(*comparison.anchor) : std::string())) {
    refuse("was started against another anchor of that baseline; start again");
  }
  const bool other_delta = verdict.is_delta_given() && then->delta != verdict.delta();
  const bool other_alpha = verdict.is_alpha_given() && then->alpha != verdict.alpha();
  if (other_delta || other_alpha) {
    refuse(
        fmt::format("was started with --delta {:g}% --alpha {:g}%; give the same, or start again",
                    100 * then->delta, 100 * then->alpha));
  }
}

/// For as long as the processes took, which is enough for a burst of other work to end, and at most
/// half a minute.
void wait_before_confirming(const model::Series& series, const std::stop_token& stop) {
  constexpr double kMost_s = 30;
  double seconds = 0;
  for (const auto& process : series.processes) {
    if (process.use) seconds += process.use->seconds;
  }
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(std::min(seconds, kMost_s));
  while (!stop.stop_requested() && Clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

/// One call of check_baseline(): what is measured, and what it is compared with.
class Measurement {
 public:
  Measurement(const BaselineCheck& check, const VerdictOptions& verdict,
              const std::stop_token& stop)
      : check_(check), verdict_(verdict), stop_(stop) {}

  /// None when it was interrupted.
  std::optional<verdict::BaselineComparison> run() {
    const StoreContent content = BaselineStore(check_.store).read();
    const auto ours = of_this_machine(content, check_.name, measure::probe_machine());
    auto resumed = resumed_series(check_);
    if (resumed) {
      comparison_.now = std::move(*resumed);
      refuse_other_program(check_, comparison_.now.setup, stop_);
      choose_baseline(ours);
      refuse_contradictions(check_, verdict_, comparison_);
      if (!comparison_.now.complete()) go_on();
    } else {
      begin(ours);
    }
    if (!is_judged()) return std::nullopt;
    return std::move(comparison_);
  }

 private:
  void choose_baseline(const std::vector<const StoreEntry*>& ours) {
    const model::MachineKey& key = comparison_.now.setup.key;
    const auto same_build = std::ranges::find_if(ours, [&](const StoreEntry* entry) {
      return differences(entry->rolling.setup.key, key).empty();
    });
    if (same_build == ours.end()) throw WrongMachine(refusal(check_.name, ours, key, true));
    comparison_.rolling = (*same_build)->rolling;
    comparison_.anchor = (*same_build)->anchor;
  }

  void begin(const std::vector<const StoreEntry*>& ours) {
    const std::string command =
        check_.program.empty() ? ours.front()->rolling.setup.command : check_.program;
    const SeriesProgram program = series_program(command, check_.timeout_s, stop_);
    const ScratchFolder scratch;
    model::SeriesSetup& setup = comparison_.now.setup;
    setup.name = check_.name;
    setup.processes = check_.processes.value_or(kDefaultFreshProcesses);
    // The nearest there is: only the exploration tells the build.
    measure_as(ours.front()->rolling.setup, setup);
    explore(program, scratch.path(), stop_, setup);
    choose_baseline(ours);
    measure_as(comparison_.rolling.setup, setup);
    choose_common(comparison_.rolling.setup, setup);
    setup.compared_with = model::ComparedWith{
        .rolling = digest_of(comparison_.rolling),
        .anchor = comparison_.anchor ? digest_of(*comparison_.anchor) : std::string(),
        .alpha = verdict_.alpha(),
        .delta = verdict_.delta(),
        .allow_busy = check_.allow_busy,
        .noise_floors = noise_floors(check_.store, setup.key, setup.benchmarks, setup.date)};
    auto journal = files::LineFile::create(check_.output.journal, json::journal_line(setup));
    measure(program, scratch, journal);
  }

  void go_on() {
    const model::SeriesSetup& setup = comparison_.now.setup;
    const SeriesProgram program = series_program(setup.command, check_.timeout_s, stop_);
    refuse_changed(check_.output.journal, setup, program);
    const ScratchFolder scratch;
    auto journal = files::LineFile::resume(check_.output.journal);
    if (comparison_.now.complete()) {
      comparison_.now.confirming = true;
      journal.append(json::confirming_line());
    }
    measure(program, scratch, journal);
  }

  /// Where the CPUs were when the baseline was saved.
  void measure(const SeriesProgram& program, const ScratchFolder& scratch,
               files::LineFile& journal) {
    const SeriesRun run{.quiet = check_.output.quiet,
                        .keeps_all = comparison_.now.setup.compared_with->allow_busy,
                        .place_ns = verdict::place_of(comparison_.rolling)};
    run_series(program, scratch.path(), stop_, run, journal, comparison_.now);
  }

  /// A failure must be seen twice, some time apart: what disturbs mostly passes. False when it was
  /// interrupted.
  bool is_judged() {
    if (!comparison_.now.complete()) return false;
    make_report();
    const auto& report = comparison_.report;
    if (comparison_.now.confirming || report.environment_moved ||
        report.overall != verdict::Verdict::fail) {
      return true;
    }
    if (!check_.output.quiet) print_note("slower; measuring once more, to confirm it");
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

  const BaselineCheck& check_;
  const VerdictOptions& verdict_;
  std::stop_token stop_;
  verdict::BaselineComparison comparison_;
};

ExitCode report_failure(const BaselineCheck& check, Stage stage, const std::string& message) {
  print_error(message);
  if (check.reports_failures) {
    const verdict::BaselineFailure failure{stage, check.name, check.program, message};
    // Why the gate failed is known and said; that a file was not written is said, too.
    (void)check.output.write(json::to_json(failure),
                             render::failure_markdown(failure, check.comment));
  }
  return stage == Stage::machine ? ExitCode::wrong_machine : ExitCode::measured_program_failed;
}

ExitCode interrupted(const BaselineCheck& check) {
  std::error_code failed;
  print_note(fs::exists(check.output.journal, failed)
                 ? fmt::format("interrupted; continue with the same command and --resume; what was "
                               "measured is in {}",
                               check.output.journal.string())
                 : "interrupted before the first process");
  return ExitCode::interrupted;
}

}  // namespace

ExitCode check_baseline(const BaselineCheck& check, const VerdictOptions& verdict,
                        const std::stop_token& stop) {
  check.output.refuse_unwritable();
  const auto judge = [&] {
    std::optional<verdict::BaselineComparison> comparison;
    try {
      comparison = Measurement(check, verdict, stop).run();
    } catch (const WrongMachine& error) {
      return report_failure(check, Stage::machine, error.what());
    }
    if (!comparison) return interrupted(check);
    const bool written = check.output.write(json::to_json(*comparison),
                                            render::markdown(*comparison, check.comment));
    const bool printed =
        check.output.quiet || print_result(render::table(*comparison, table_style(STDOUT_FILENO)));
    if (!written || !printed) return ExitCode::usage;
    if (comparison->report.environment_moved) return ExitCode::wrong_machine;
    return verdict.exit_code(comparison->report.overall);
  };
  const auto failed = [&](const ProgramError& error) {
    const auto* mistake = dynamic_cast<const measure::NotMeasurable*>(&error);
    if (mistake != nullptr && !check.reports_failures) throw UsageError(error.what());
    const ExitCode code = report_failure(check, Stage::measure, error.what());
    return mistake != nullptr && !mistake->has_failed() ? ExitCode::usage : code;
  };
  return run_measurement(
      stop, judge, [&] { return interrupted(check); }, failed);
}

void declare_allow_busy(Options& options, bool& given, std::string_view what) {
  options.group("How to measure");
  options.flag(
      "--allow-busy", given,
      fmt::format("{} although other processes use the CPUs, or the host moves the CPUs.", what));
}

}  // namespace taskbench::cli
