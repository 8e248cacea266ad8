#include "cli/commands/ab.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/noise_floors.hpp"
#include "cli/paired_trial.hpp"
#include "cli/progress_line.hpp"
#include "cli/run_plan.hpp"
#include "cli/signals.hpp"
#include "cli/streams.hpp"
#include "cli/terminal.hpp"
#include "cli/usage_error.hpp"
#include "cli/values.hpp"
#include "reports/json/atomic_file.hpp"
#include "reports/json/paired_writer.hpp"
#include "reports/json/reader.hpp"
#include "reports/render/paired.hpp"
#include "workloads/measure/environment.hpp"
#include "workloads/measure/machine.hpp"

namespace taskbench::cli {
namespace {

namespace json = reports::json;
namespace model = reports::model;
namespace render = reports::render;
namespace verdict = reports::verdict;
using Kind = OptionValues::Kind;
using workloads::measure::Program;
using workloads::measure::ProgramError;

constexpr double kDefaultBudget_s = 600;
constexpr double kMinBudget_s = 1;
constexpr double kMaxBudget_s = 24 * 3600;
constexpr int kDefaultMaxBlocks = 64;
constexpr int kMaxBlocks = 1000;
constexpr double kDefaultMinTime_s = 0.02;
constexpr std::int64_t kDefaultRepetitions = 5;
constexpr double kDefaultTimeout_s = 300;
constexpr std::string_view kDefaultJournal = "taskbench-ab.journal";

struct AbPlan {
  std::string base;
  std::string head;
  model::PairedSetup setup;  ///< without what explore() finds out
  std::vector<std::string> workloads;
  double budget_s = kDefaultBudget_s;
  double timeout_s = kDefaultTimeout_s;
  std::filesystem::path store;
  std::filesystem::path journal;
  bool own_journal = false;  ///< named by the user
  std::optional<std::filesystem::path> json;
  std::optional<std::filesystem::path> markdown;
};

std::optional<std::filesystem::path> parse_path(std::string_view name,
                                                const std::vector<std::string>& given) {
  const auto text = parse_single(name, given);
  if (!text) return std::nullopt;
  if (text->empty()) throw UsageError(fmt::format("{}: the file name is empty", name));
  return std::filesystem::path(*text);
}

AbPlan plan_ab(const AbArguments& arguments, const VerdictOptions& options) {
  AbPlan plan;
  const auto command = [](std::string_view name, const std::vector<std::string>& given) {
    const auto text = parse_single(name, given);
    return text ? *text : std::string{};
  };
  plan.base = command("--base", arguments.base);
  plan.head = command("--head", arguments.head);
  if (!arguments.resume && (plan.base.empty() || plan.head.empty())) {
    throw UsageError("ab needs two programs: --base CMD --head CMD");
  }
  model::PairedSetup& setup = plan.setup;
  setup.alpha = options.alpha();
  setup.delta = options.delta();
  setup.seed = 1;
  setup.repetitions = kDefaultRepetitions;
  setup.min_time_s = kDefaultMinTime_s;
  setup.max_blocks = kDefaultMaxBlocks;
  if (const auto text = parse_single("--seed", arguments.seed)) {
    setup.seed = parse_whole_number("--seed", *text, 0, std::numeric_limits<std::uint64_t>::max());
  }
  if (const auto text = parse_single("--repetitions", arguments.repetitions)) {
    setup.repetitions =
        static_cast<std::int64_t>(parse_whole_number("--repetitions", *text, 1, kMaxRepetitions));
  }
  if (const auto text = parse_single("--min-time", arguments.min_time)) {
    setup.min_time_s = parse_duration_s("--min-time", *text, kMinMinTimeS, kMaxMinTimeS);
  }
  if (const auto text = parse_single("--max-blocks", arguments.max_blocks)) {
    setup.max_blocks = static_cast<int>(parse_whole_number("--max-blocks", *text, 1, kMaxBlocks));
  }
  if (const auto text = parse_single("--budget", arguments.budget)) {
    plan.budget_s = parse_duration_s("--budget", *text, kMinBudget_s, kMaxBudget_s);
  }
  if (const auto text = parse_single("--timeout", arguments.timeout)) {
    plan.timeout_s = parse_duration_s("--timeout", *text, 0.1, kMaxBudget_s);
  }
  plan.workloads = parse_list("--workload", arguments.workloads);
  plan.store = parse_path("--store", arguments.store).value_or(kDefaultStore);
  const auto journal = parse_path("--journal", arguments.journal);
  plan.own_journal = journal.has_value();
  plan.journal = journal.value_or(kDefaultJournal);
  plan.json = parse_path("--json", arguments.json);
  plan.markdown = parse_path("--markdown", arguments.markdown);
  return plan;
}

Program program_of(std::string_view option, const std::string& command,
                   const std::atomic<bool>& stop) {
  try {
    return Program::find_out(workloads::measure::split_command(command), stop);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{} '{}': {}", option, command, error.what()));
  } catch (const ProgramError& error) {
    throw UsageError(fmt::format("{}: {}", option, error.what()));
  }
}

void refuse_unwritable(const AbPlan& plan) {
  constexpr std::size_t kReportBytes = 1 << 20;
  for (const auto& path : {plan.json, plan.markdown}) {
    if (!path) continue;
    const auto outcome = json::check_writable(*path, kReportBytes);
    if (!outcome.ok()) throw UsageError(outcome.error);
  }
}

/// A new trial needs a journal of its own. One at the default place whose trial has come to its end
/// is not needed any more.
void make_room_for_journal(const AbPlan& plan) {
  if (!std::filesystem::exists(plan.journal)) return;
  bool finished = false;
  try {
    finished = json::read_journal(plan.journal).end.has_value();
  } catch (const json::JournalError&) {  // not ours to remove
  }
  if (plan.own_journal || !finished) {
    throw UsageError(fmt::format(
        "{} exists{}; go on with it by --resume, remove it, or name another by --journal",
        plan.journal.string(), finished ? "" : ", and its trial has not ended"));
  }
  std::filesystem::remove(plan.journal);
}

std::string trial_text(const TrialProgress& now) {
  const double left = std::max(0.0, now.budget_s - now.spent_s);
  return fmt::format("block {} of at most {}, {} of {}, at most {} left", now.blocks + 1,
                     now.max_blocks, duration_text(now.spent_s), duration_text(now.budget_s),
                     duration_text(left));
}

/// What is compared and how, for a new trial.
model::PairedSetup new_setup(const AbPlan& plan, const TrialPrograms& programs,
                             const std::filesystem::path& scratch, const std::atomic<bool>& stop) {
  model::PairedSetup setup = plan.setup;
  setup.base = {plan.base, programs.base.digest()};
  setup.head = {plan.head, programs.head.digest()};
  explore(programs, scratch, plan.timeout_s, stop, setup);
  keep_chosen(plan.workloads, setup);
  setup.noise_floors =
      noise_floors(plan.store, workloads::measure::probe_machine(), setup.benchmarks,
                   workloads::measure::probe_environment("").date);
  return setup;
}

void refuse_changed(const model::PairedProgram& then, const Program& now,
                    const std::filesystem::path& journal) {
  if (then.digest == now.digest()) return;
  throw UsageError(
      fmt::format("'{}' is not the program that {} was begun with: it was built anew; begin a new "
                  "trial",
                  then.command, journal.string()));
}

bool write_files(const AbPlan& plan, const model::PairedTrial& trial,
                 const verdict::PairedReport& report, const std::string& reproduce) {
  bool all_written = true;
  const auto write = [&](const std::filesystem::path& path, const std::string& content) {
    const auto outcome = json::write_file_atomically(path, content);
    if (outcome.ok()) return;
    print_error(outcome.error);
    all_written = false;
  };
  if (plan.json) write(*plan.json, json::to_json(trial, report));
  if (plan.markdown) write(*plan.markdown, render::markdown(trial, report, reproduce));
  return all_written;
}

std::string quoted(const std::string& word) {
  if (word.find_first_of(" \t\n'\"\\$`*?&|;<>()") == std::string::npos && !word.empty())
    return word;
  std::string result = "'";
  for (const char each : word) result += each == '\'' ? std::string("'\\''") : std::string(1, each);
  return result + "'";
}

std::string reproduction(const model::PairedSetup& setup) {
  return fmt::format("taskbench ab --base {} --head {} --seed {} --delta {:g}%",
                     quoted(setup.base.command), quoted(setup.head.command), setup.seed,
                     100 * setup.delta);
}

}  // namespace

void AbCommand::declare(CLI::App& app, OptionValueTable& values) {
  app.description(
      "Compare two programs, and say whether the second is slower.\n\n"
      "Both are run in fresh processes, two of each in a block, in an order that is drawn. A\n"
      "benchmark passes, fails, or stays inconclusive; the table says which change could have "
      "been\n"
      "seen. A program is taskbench, with options of `taskbench run`, or any program that uses\n"
      "Google Benchmark.");
  app.footer(
      "Examples:\n"
      "  taskbench ab --base old/taskbench --head new/taskbench\n"
      "  taskbench ab --base 'old/taskbench --workers 2' --head 'new/taskbench --workers 2' \\\n"
      "      --workload ping_pong --budget 5m --json ab.json\n"
      "  taskbench ab --base build-main/my_benchmark --head build-pr/my_benchmark\n"
      "  taskbench ab --resume\n"
      "\n"
      "Exit status: 0 pass, 1 slower, 2 usage or input error, 3 inconclusive, 5 a program failed,\n"
      "130 interrupted.");
  auto* base = add_valued(app, "--base", arguments_.base, "CMD", "What is compared with.");
  auto* head = add_valued(app, "--head", arguments_.head, "CMD", "What may be slower.");
  auto* workload = add_valued(app, "--workload", arguments_.workloads, "NAME[,NAME...]",
                              "Benchmarks to compare, by their names or what these begin with.");
  workload->default_str("all that both have");
  for (auto* option : {base, head, workload}) option->group("What to compare");

  auto* budget = add_valued(app, "--budget", arguments_.budget, "TIME",
                            "No further block is begun when this time would be exceeded.");
  budget->default_str("10m");
  auto* blocks = add_valued(app, "--max-blocks", arguments_.max_blocks, "N", "Most blocks.");
  blocks->default_str(std::to_string(kDefaultMaxBlocks));
  auto* repetitions = add_valued(app, "--repetitions", arguments_.repetitions, "N",
                                 "Repetitions of each benchmark in each process.");
  repetitions->default_str(std::to_string(kDefaultRepetitions));
  auto* min_time = add_valued(app, "--min-time", arguments_.min_time, "TIME",
                              "Shortest duration of a repetition.");
  min_time->default_str(fmt::format("{:g}s", kDefaultMinTime_s));
  auto* timeout = add_valued(app, "--timeout", arguments_.timeout, "TIME",
                             "A process that takes longer is killed, and counts as failed.");
  timeout->default_str("5m");
  auto* seed = add_valued(app, "--seed", arguments_.seed, "N", "Seed of all that is drawn.");
  seed->default_str("1");
  auto* identical =
      app.add_flag("--run-identical", arguments_.run_identical,
                   "Measure identical binaries, too, which otherwise pass without a run.");
  for (auto* option : {budget, blocks, repetitions, min_time, timeout, seed, identical}) {
    option->group("How to measure");
  }

  verdict_.declare(app, values);
  auto* store = add_valued(app, "--store", arguments_.store, "FOLDER",
                           "Where `taskbench calibrate` has left the noise floors.");
  store->default_str(std::string(kDefaultStore));
  values.set(store, {Kind::file, {}});
  store->group("Verdict");

  auto* journal = add_valued(app, "--journal", arguments_.journal, "FILE",
                             "Where each process's result is kept as soon as it is known.");
  journal->default_str(std::string(kDefaultJournal));
  auto* resume = app.add_flag("--resume", arguments_.resume,
                              "Go on with the trial of the journal; of a complete one, print the "
                              "verdict again.");
  auto* json = add_valued(app, "--json", arguments_.json, "FILE", "Write verdicts and samples.");
  auto* markdown =
      add_valued(app, "--markdown", arguments_.markdown, "FILE", "Write a comment for reviewers.");
  auto* quiet = app.add_flag("--quiet", arguments_.quiet, "Print no progress and no result.");
  for (const auto* option : {journal, json, markdown}) values.set(option, {Kind::file, {}});
  for (auto* option : {journal, resume, json, markdown, quiet}) option->group("Output");
}

ExitCode AbCommand::execute(const Invocation&) {
  verdict_.parse();
  AbPlan plan = plan_ab(arguments_, verdict_);
  refuse_unwritable(plan);
  const std::atomic<bool>& stop = stop_on_signals();
  try {
    model::PairedTrial trial;
    if (!arguments_.resume) {
      make_room_for_journal(plan);
    } else {
      trial = json::read_journal(plan.journal);
      plan.base = trial.setup.base.command;
      plan.head = trial.setup.head.command;
    }
    // A trial that is complete is judged again without its programs, which may be gone.
    if (!trial.end) {
      const TrialPrograms programs{program_of("--base", plan.base, stop),
                                   program_of("--head", plan.head, stop)};
      if (!arguments_.resume && !arguments_.run_identical &&
          workloads::measure::are_identical(programs.base, programs.head, stop)) {
        if (!print_result("PASS: the two programs are the same, byte for byte\n")) {
          return ExitCode::usage;
        }
        return ExitCode::pass;
      }
      const ScratchFolder scratch;
      if (arguments_.resume) {
        refuse_changed(trial.setup.base, programs.base, plan.journal);
        refuse_changed(trial.setup.head, programs.head, plan.journal);
      } else {
        trial.setup = new_setup(plan, programs, scratch.path(), stop);
      }
      json::JournalWriter journal = arguments_.resume
                                        ? json::JournalWriter::resume(plan.journal)
                                        : json::JournalWriter::create(plan.journal, trial.setup);
      ProgressLine line(progress_style(arguments_.quiet));
      run_trial(
          programs, scratch.path(), {.budget_s = plan.budget_s, .timeout_s = plan.timeout_s}, stop,
          [&](const TrialProgress& now) { line.show(trial_text(now), now.spent_s); }, journal,
          trial);
    }
    if (!trial.end) {
      print_note(fmt::format("interrupted; go on with: taskbench ab --resume --journal {}",
                             plan.journal.string()));
      return ExitCode::interrupted;
    }
    const verdict::PairedReport report = verdict::judge(trial);
    const bool written = write_files(plan, trial, report, reproduction(trial.setup));
    render::TableStyle style;
    style.colour = takes_colour(STDOUT_FILENO);
    style.width = columns(STDOUT_FILENO, style.width);
    const bool printed = arguments_.quiet || print_result(render::table(trial, report, style));
    if (!written || !printed) return ExitCode::usage;
    return verdict_.exit_code(report.overall);
  } catch (const UsageError&) {
    if (!stop) throw;
    print_note("interrupted before the first block");
    return ExitCode::interrupted;
  } catch (const json::JournalError& error) {
    throw UsageError(error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    throw UsageError(error.what());
  } catch (const ProgramError& error) {
    if (stop) {
      print_note("interrupted before the first block");
      return ExitCode::interrupted;
    }
    print_error(error.what());
  } catch (const json::ReadError& error) {
    print_error(fmt::format("a measured program wrote an unusable result: {}", error.what()));
  }
  return ExitCode::measured_program_failed;
}

}  // namespace taskbench::cli
