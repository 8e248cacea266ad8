#include "cli/commands/baseline_measured.hpp"
#include "cli/measured_process.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <utility>

#include "cli/baseline_check.hpp"
#include "cli/baseline_store.hpp"
#include "cli/paired_trial.hpp"
#include "cli/progress_line.hpp"
#include "cli/series.hpp"
#include "cli/signals.hpp"
#include "cli/streams.hpp"
#include "cli/usage_error.hpp"
#include "cli/values.hpp"
#include "reports/json/baseline.hpp"
#include "reports/json/reader.hpp"
#include "reports/render/baseline.hpp"
#include "reports/render/verdict_table.hpp"
#include "reports/verdict/baseline.hpp"
#include "workloads/measure/canary.hpp"
#include "workloads/measure/machine.hpp"

namespace taskbench::cli {
namespace {

namespace fs = std::filesystem;
namespace json = reports::json;
namespace model = reports::model;
using Clock = std::chrono::steady_clock;
using Kind = OptionValues::Kind;
using workloads::measure::ProgramError;

constexpr int kDefaultProcesses = 9;
constexpr std::string_view kDefaultSaveJournal = "taskbench-baseline.journal";
constexpr std::string_view kDefaultCompareJournal = "taskbench-baseline-compare.journal";

/// An empty command would be that of this taskbench.
std::string parse_command(const std::vector<std::string>& given) {
  const auto text = parse_single("--program", given);
  if (text && text->empty()) throw UsageError("--program: the command is empty");
  return text.value_or(std::string{});
}

int parse_processes(const std::vector<std::string>& given, int otherwise, int least) {
  const auto text = parse_single("--processes", given);
  if (!text) return otherwise;
  return static_cast<int>(
      parse_whole_number("--processes", *text, static_cast<std::uint64_t>(least), kMaxProcesses));
}

void declare_common(CLI::App& app, OptionValueTable& values, BaselineArguments& arguments,
                    int processes) {
  app.add_option("NAME", arguments.name,
                 fmt::format("Name of the baseline. [default: {}]", kDefaultBaseline))
      ->expected(0, 1);
  auto* program = add_valued(app, "--program", arguments.program, "CMD",
                             "What is measured: taskbench with options of `taskbench run`, or any "
                             "program that uses Google Benchmark.");
  auto* store = add_valued(app, "--store", arguments.store, "DIR", "Where baselines are kept.");
  store->default_str(std::string(kDefaultStore));
  values.set(store, {Kind::file, {}});
  for (auto* option : {program, store}) option->group("What to measure");
  auto* count = add_valued(app, "--processes", arguments.processes, "N", "Fresh processes.");
  count->default_str(std::to_string(processes))->group("How to measure");
}

}  // namespace

void declare_allow_busy(CLI::App& app, bool& given, std::string_view what) {
  app.add_flag(
         "--allow-busy", given,
         fmt::format("{} although other processes use the CPUs, or the host moves the CPUs.", what))
      ->group("How to measure");
}

namespace {

struct SavePlan {
  model::SeriesSetup setup;  ///< without what explore() finds out
  BaselineStore store{fs::path(kDefaultStore)};
  std::string command;
  std::vector<std::string> workloads;
  double timeout_s = 0;
  fs::path journal;
  bool own_journal = false;  ///< named by the user
  bool own_name = false;
  bool resume = false;
  bool quiet = false;
  bool allow_busy = false;
};

SavePlan plan_save(const BaselineSaveArguments& arguments) {
  SavePlan plan;
  model::SeriesSetup& setup = plan.setup;
  setup.name = parse_baseline_name(arguments.name);
  setup.processes =
      parse_processes(arguments.processes, kDefaultProcesses, model::kMinBaselineProcesses);
  arguments.process.apply_to(setup);
  if (const auto folder = parse_path("--store", arguments.store)) {
    plan.store = BaselineStore(*folder);
  }
  plan.command = parse_command(arguments.program);
  plan.workloads = parse_list("--workload", arguments.workloads);
  plan.timeout_s = arguments.process.timeout_s();
  const auto journal = parse_journal(arguments.journal);
  plan.own_journal = journal.has_value();
  plan.journal = journal.value_or(kDefaultSaveJournal);
  plan.own_name = !arguments.name.empty();
  plan.resume = arguments.resume;
  plan.quiet = arguments.quiet;
  plan.allow_busy = arguments.allow_busy;
  return plan;
}

void refuse_journal(const SavePlan& plan) {
  std::error_code failed;
  if (!fs::exists(plan.journal, failed)) return;
  throw UsageError(
      fmt::format("{} exists: an earlier save has not ended; go on with it by --resume, remove it, "
                  "or name another by --journal",
                  plan.journal.string()));
}

void refuse_other_name(const SavePlan& plan, const model::SeriesSetup& setup) {
  if (!plan.own_name || plan.setup.name == setup.name) return;
  throw UsageError(fmt::format("{} is of the baseline '{}', not '{}'", plan.journal.string(),
                               setup.name, plan.setup.name));
}

model::Series begun_series(const SavePlan& plan, const SeriesProgram& program,
                           const fs::path& scratch, const std::stop_token& stop) {
  model::Series series;
  series.setup = plan.setup;
  explore(program, scratch, stop, series.setup);
  series.setup.benchmarks = chosen_benchmarks(plan.workloads, series.setup.benchmarks);
  std::erase_if(series.setup.iterations, [&](const auto& entry) {
    return std::ranges::find(series.setup.benchmarks, entry.first) == series.setup.benchmarks.end();
  });
  plan.store.refuse_foreign(series.setup);
  return series;
}

/// As complete as it could be made.
model::Series measured_series(const SavePlan& plan, const std::stop_token& stop) {
  model::Series series;
  if (plan.resume) {
    series = json::read_series_journal(plan.journal);
    if (series.setup.compared_with) {
      throw UsageError(fmt::format(
          "{} is of a comparison; go on with it by: taskbench baseline compare --resume",
          plan.journal.string()));
    }
  }
  if (plan.resume && series.complete()) return series;  // its program may be gone
  const SeriesProgram program =
      series_program(plan.resume ? series.setup.command : plan.command, plan.timeout_s, stop);
  const ScratchFolder scratch;
  if (plan.resume) {
    refuse_other_name(plan, series.setup);
    refuse_changed(plan.journal, series.setup, program);
  } else {
    series = begun_series(plan, program, scratch.path(), stop);
  }
  json::LineFile journal =
      plan.resume ? json::LineFile::resume(plan.journal)
                  : json::LineFile::create(plan.journal, json::journal_line(series.setup));
  run_series(program, scratch.path(), stop, {.quiet = plan.quiet, .keeps_all = plan.allow_busy},
             journal, series);
  return series;
}

std::string resume_command(const SavePlan& plan) {
  std::string how = "taskbench baseline save --resume";
  if (plan.own_journal) how += fmt::format(" --journal {}", plan.journal.string());
  if (plan.store.folder() != kDefaultStore) {
    how += fmt::format(" --store {}", plan.store.folder().string());
  }
  return how;
}

ExitCode interrupted(const SavePlan& plan) {
  std::error_code failed;
  print_note(fs::exists(plan.journal, failed) ? "interrupted; go on with: " + resume_command(plan)
                                              : "interrupted before the first process");
  return ExitCode::interrupted;
}

/// A baseline of a busy machine is slow, and hides what becomes slower.
ExitCode busy(const SavePlan& plan, const reports::verdict::Others& others) {
  print_error(fmt::format(
      "not saved: {} while this was measured, and a baseline of a busy machine hides what becomes "
      "slower. Stop them, remove {} and save again; or store it as it is: {} --allow-busy",
      reports::render::others_text(others), plan.journal.string(), resume_command(plan)));
  return ExitCode::wrong_machine;
}

/// A baseline of CPUs in two places is so wide that it finds nothing.
ExitCode moved_meanwhile(const SavePlan& plan, const reports::verdict::MovedCpus& moved) {
  print_error(fmt::format(
      "not saved: the host moved the CPUs while this was measured ({}), and a baseline of both "
      "places "
      "finds nothing. Remove {} and save again; or store it as it is: {} --allow-busy",
      reports::render::moved_cpus_text(moved), plan.journal.string(), resume_command(plan)));
  return ExitCode::wrong_machine;
}

/// From which slowdown on each benchmark can fail against it, as far as that is known by now.
std::string what_it_finds(const model::Series& series) {
  const auto report = reports::verdict::compare_with_baseline(series, series, nullptr, {});
  std::string text;
  for (const auto& row : report.rows) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", row.name,
                        reports::render::percent(row.rolling.limit));
  }
  return text;
}

/// Puts it into the store. Its journal is not needed any more then.
ExitCode store(const SavePlan& plan, const model::Series& series) {
  const bool first = plan.store.save(series);
  std::error_code ignored;
  fs::remove(plan.journal, ignored);
  if (plan.quiet) return ExitCode::pass;
  const auto& setup = series.setup;
  const std::string text =
      fmt::format("saved '{}' of {}, {} processes, in {}{}\n", setup.name,
                  reports::render::counted(setup.benchmarks.size(), "benchmark"), setup.processes,
                  (plan.store.folder() / model::baseline_key(setup.key)).string(),
                  first ? ", and as its anchor" : "; its anchor stays");
  print_note(
      fmt::format("a smaller slowdown than this cannot fail: {}; a quieter machine or more "
                  "--processes find more",
                  what_it_finds(series)));
  return print_result(text) ? ExitCode::pass : ExitCode::usage;
}

}  // namespace

void BaselineSaveCommand::declare(CLI::App& app, OptionValueTable& values) {
  app.description(
      "Measure a program, and keep what it takes as a baseline.\n\n"
      "The first baseline of a name is its anchor, too; later ones leave the anchor alone. Those "
      "of other\n"
      "machines and builds are kept beside it.");
  app.footer(
      "Examples:\n"
      "  taskbench baseline save\n"
      "  taskbench baseline save nightly --program build/my_benchmark --processes 15\n"
      "  taskbench baseline save --resume\n"
      "\n"
      "Exit status: 0 saved, 2 usage or input error, 4 other processes used the CPUs or the "
      "host\n"
      "moved them meanwhile, 5 the program failed, 130 interrupted.");
  declare_common(app, values, arguments_, kDefaultProcesses);
  app.get_option("--program")->default_str("this taskbench");
  auto* workload = add_valued(app, "--workload", arguments_.workloads, "NAME[,NAME...]",
                              "Benchmarks to keep, by their names or what these begin with.");
  workload->default_str("all")->group("What to measure");
  arguments_.process.declare(app);
  declare_allow_busy(app, arguments_.allow_busy, "Store it");
  auto* journal = add_valued(app, "--journal", arguments_.journal, "FILE",
                             "Where each process's result is kept until all is stored.");
  journal->default_str(std::string(kDefaultSaveJournal));
  values.set(journal, {Kind::file, {}});
  auto* resume = app.add_flag("--resume", arguments_.resume, "Go on with that of the journal.");
  auto* quiet = app.add_flag("--quiet", arguments_.quiet, "Print no progress and no result.");
  for (auto* option : {journal, resume, quiet}) option->group("Output");
}

ExitCode BaselineSaveCommand::execute(const Invocation&) {
  const SavePlan plan = plan_save(arguments_);
  if (!plan.resume) refuse_journal(plan);
  plan.store.refuse_unwritable();
  const std::stop_token stop = stop_on_signals();
  try {
    const model::Series series = measured_series(plan, stop);
    if (!series.complete()) return interrupted(plan);
    const auto others = reports::verdict::others_of(series);
    if (others && others->are_many() && !plan.allow_busy) return busy(plan, *others);
    const auto places = reports::verdict::moved_cpus(series);
    if (places && !plan.allow_busy) return moved_meanwhile(plan, *places);
    return store(plan, series);
  } catch (const UsageError&) {
    if (!stop.stop_requested()) throw;
    return interrupted(plan);
  } catch (const json::JournalError& error) {
    throw UsageError(error.what());
  } catch (const fs::filesystem_error& error) {
    throw UsageError(error.what());
  } catch (const workloads::measure::NotMeasurable& error) {
    if (!stop.stop_requested()) throw UsageError(error.what());
    return interrupted(plan);
  } catch (const ProgramError& error) {
    if (stop.stop_requested()) return interrupted(plan);
    print_error(error.what());
  } catch (const json::ReadError& error) {
    print_error(fmt::format("the measured program wrote an unusable result: {}", error.what()));
  }
  return ExitCode::measured_program_failed;
}

BaselineCompareCommand::BaselineCompareCommand() : output_(kDefaultCompareJournal) {}

void BaselineCompareCommand::declare(CLI::App& app, OptionValueTable& values) {
  app.description(
      "Say whether a program has become slower than its baseline.\n\n"
      "It is measured as the baseline was. A benchmark passes, fails, or stays inconclusive, "
      "against the\n"
      "baseline and against its anchor. When the canary, which is always the same work, or what "
      "other\n"
      "processes use of the CPUs has changed, nothing fails: the machine has. What would fail is "
      "measured\n"
      "a second time, and fails only when it is slower again.");
  app.footer(
      "Examples:\n"
      "  taskbench baseline compare\n"
      "  taskbench baseline compare nightly --json comparison.json --markdown comment.md\n"
      "  taskbench baseline compare --program build-pr/my_benchmark --delta 5%\n"
      "  taskbench baseline compare --resume\n"
      "\n"
      "Exit status: 0 pass, 1 slower, 2 usage or input error, 3 inconclusive, 4 another machine or "
      "build,\n"
      "or the machine is not as it was, 5 the program failed, 130 interrupted.");
  declare_common(app, values, arguments_, kDefaultFreshProcesses);
  arguments_.process.declare_timeout(app);
  declare_allow_busy(app, arguments_.allow_busy, "Judge");
  app.get_option("--program")->default_str("that of the baseline");
  verdict_.declare(app, values);
  output_.declare(
      app, values,
      "Go on with the comparison of the journal; of a complete one, print the verdict again.",
      "Write the verdicts and their figures.");
}

ExitCode BaselineCompareCommand::execute(const Invocation&) {
  verdict_.parse();
  BaselineCheck check;
  check.name = parse_baseline_name(arguments_.name);
  check.store = parse_path("--store", arguments_.store).value_or(kDefaultStore);
  check.program = parse_command(arguments_.program);
  if (!arguments_.processes.empty()) {
    check.processes = parse_processes(arguments_.processes, kDefaultFreshProcesses, 1);
  }
  check.timeout_s = arguments_.process.timeout_s();
  check.allow_busy = arguments_.allow_busy;
  check.output = output_.plan();
  return check_baseline(check, verdict_, stop_on_signals());
}

}  // namespace taskbench::cli
