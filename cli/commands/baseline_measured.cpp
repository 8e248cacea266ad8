// `taskbench baseline save` and `compare`: those that run a program.

#include "cli/commands/command.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/signals.hpp"
#include "cli/output/streams.hpp"
#include "cli/tools/scratch_folder.hpp"
#include "cli/trials/baseline_check.hpp"
#include "cli/trials/baseline_store.hpp"
#include "cli/trials/measured_process.hpp"
#include "cli/trials/series.hpp"
#include "reports/json/baseline.hpp"
#include "reports/json/reader.hpp"
#include "reports/render/baseline.hpp"
#include "reports/render/verdict_table.hpp"
#include "reports/verdict/baseline.hpp"
#include "workloads/machine/canary.hpp"
#include "workloads/machine/machine.hpp"

namespace taskbench::cli {
namespace {

void declare_common(Options& options, std::string& name, std::string& program, fs::path& store) {
  options.group("What to measure");
  options.value("NAME", name, "NAME", By{baseline_name}, "Name of the baseline.")
      ->default_str(std::string(kDefaultBaseline))
      ->expected(0, 1);
  options.value("--program", program, "CMD", Text{},
                "What is measured: taskbench with options of `taskbench run`, or any program that "
                "uses Google Benchmark.");
  options.value("--store", store, "DIR", Path{}, "Where baselines are kept.");
  options.group("How to measure");
}

struct SavePlan {
  model::SeriesSetup setup;  ///< without what explore() finds out
  fs::path folder{kDefaultStore};
  std::string command;
  Strings workloads;
  double timeout_s = 0;
  fs::path journal{"taskbench-baseline.journal"};
  bool own_journal = false;  ///< named by the user
  bool own_name = false;
  bool resume = false;
  bool quiet = false;
  bool allow_busy = false;

  [[nodiscard]] BaselineStore store() const { return BaselineStore(folder); }
};

void refuse_journal(const SavePlan& plan) {
  std::error_code failed;
  if (!fs::exists(plan.journal, failed)) return;
  throw UsageError(
      fmt::format("{} exists: an earlier save has not ended; continue it with --resume, remove it, "
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
  plan.store().refuse_foreign(series.setup);
  return series;
}

/// As complete as it could be made.
model::Series measured_series(const SavePlan& plan, const std::stop_token& stop) {
  model::Series series;
  if (plan.resume) {
    series = json::read_series_journal(plan.journal);
    if (series.setup.compared_with) {
      throw UsageError(fmt::format(
          "{} is of a comparison; continue it with: taskbench baseline compare --resume",
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
  files::LineFile journal =
      plan.resume ? files::LineFile::resume(plan.journal)
                  : files::LineFile::create(plan.journal, json::journal_line(series.setup));
  run_series(program, scratch.path(), stop, {.quiet = plan.quiet, .keeps_all = plan.allow_busy},
             journal, series);
  return series;
}

std::string resume_command(const SavePlan& plan) {
  std::string how = "taskbench baseline save --resume";
  if (plan.own_journal) how += fmt::format(" --journal {}", plan.journal.string());
  if (plan.folder != kDefaultStore) {
    how += fmt::format(" --store {}", plan.folder.string());
  }
  return how;
}

ExitCode interrupted(const SavePlan& plan) {
  std::error_code failed;
  print_note(fs::exists(plan.journal, failed)
                 ? "interrupted; continue with: " + resume_command(plan)
                 : "interrupted before the first process");
  return ExitCode::interrupted;
}

/// A baseline of a busy machine is slow, and hides what becomes slower.
ExitCode busy(const SavePlan& plan, const verdict::Others& others) {
  print_error(fmt::format(
      "not saved: {} while this was measured, and a baseline of a busy machine hides what becomes "
      "slower. Stop them, remove {} and save again; or store it as it is: {} --allow-busy",
      render::others_text(others), plan.journal.string(), resume_command(plan)));
  return ExitCode::wrong_machine;
}

/// A baseline of CPUs in two places is so wide that it finds nothing.
ExitCode moved_meanwhile(const SavePlan& plan, const verdict::MovedCpus& moved) {
  print_error(fmt::format(
      "not saved: the host moved the CPUs while this was measured ({}), and a baseline of both "
      "places "
      "finds nothing. Remove {} and save again; or store it as it is: {} --allow-busy",
      render::moved_cpus_text(moved), plan.journal.string(), resume_command(plan)));
  return ExitCode::wrong_machine;
}

/// From which slowdown on each benchmark can fail against it, as far as that is known by now.
std::string what_it_finds(const model::Series& series) {
  const auto report = verdict::compare_with_baseline(series, series, nullptr, {});
  std::string text;
  for (const auto& row : report.rows) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", row.name,
                        render::percent(row.rolling.limit));
  }
  return text;
}

/// Puts it into the store. Its journal is not needed any more then.
ExitCode store(const SavePlan& plan, const model::Series& series) {
  const bool first = plan.store().save(series);
  std::error_code ignored;
  fs::remove(plan.journal, ignored);
  if (plan.quiet) return ExitCode::pass;
  const auto& setup = series.setup;
  const std::string text =
      fmt::format("saved '{}' of {}, {} processes, in {}{}\n", setup.name,
                  render::counted(setup.benchmarks.size(), "benchmark"), setup.processes,
                  (plan.folder / model::baseline_key(setup.key)).string(),
                  first ? ", and as its anchor" : "; its anchor stays");
  print_note(
      fmt::format("a smaller slowdown than this cannot fail: {}; a quieter machine or more "
                  "--processes find more",
                  what_it_finds(series)));
  return print_result(text) ? ExitCode::pass : ExitCode::usage;
}

class BaselineSaveCommand final : public Command {
 public:
  void declare(Options& options) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  SavePlan plan_;
  ProcessOptions process_;
  const CLI::Option* name_option_ = nullptr;
  const CLI::Option* journal_option_ = nullptr;
};

class BaselineCompareCommand final : public Command {
 public:
  void declare(Options& options) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  BaselineCheck check_;
  ProcessOptions process_;
  VerdictOptions verdict_;
  VerdictOutputOptions output_{"taskbench-baseline-compare.journal"};
};

void BaselineSaveCommand::declare(Options& options) {
  options.app().description(
      "Measure a program, and keep what it takes as a baseline.\n\n"
      "The first baseline of a name is its anchor, too; later ones leave the anchor alone. Those "
      "of other machines and builds are kept beside it.");
  options.app().footer(
      "Examples:\n"
      "  taskbench baseline save\n"
      "  taskbench baseline save nightly --program build/my_benchmark --processes 15\n"
      "  taskbench baseline save --resume\n\n"
      "Exit status: 0 saved, 2 usage or input error, 4 other processes used the CPUs or the host "
      "moved them meanwhile, 5 the program failed, 130 interrupted.");
  plan_.setup.processes = 9;
  declare_common(options, plan_.setup.name, plan_.command, plan_.folder);
  name_option_ = options.app().get_option("NAME");
  options.app().get_option("--program")->default_str("this taskbench");
  options.value("--processes", plan_.setup.processes, "N",
                Number{model::kMinBaselineProcesses, kMaxProcesses}, "Fresh processes.");
  options.group("What to measure");
  options
      .value("--workload", plan_.workloads, "NAME[,NAME...]", List{},
             "Benchmarks to keep, by their names or what these begin with.")
      ->default_str("all");
  process_.declare(options);
  declare_allow_busy(options, plan_.allow_busy, "Store it");
  options.group("Output");
  journal_option_ = options.value("--journal", plan_.journal, "FILE", Journal{},
                                  "Where each process's result is kept until all is stored.");
  options.flag("--resume", plan_.resume, "Go on with that of the journal.");
  options.flag("--quiet", plan_.quiet, "Print no progress and no result.");
}

ExitCode BaselineSaveCommand::execute(const Invocation&) {
  SavePlan plan = plan_;
  if (plan.setup.name.empty()) plan.setup.name = kDefaultBaseline;
  plan.own_name = name_option_->count() > 0;
  plan.own_journal = journal_option_->count() > 0;
  process_.apply_to(plan.setup);
  plan.timeout_s = process_.timeout_s();
  if (!plan.resume) refuse_journal(plan);
  plan.store().refuse_unwritable();
  const std::stop_token stop = stop_on_signals();
  const auto save = [&] {
    const model::Series series = measured_series(plan, stop);
    if (!series.complete()) return interrupted(plan);
    const auto others = verdict::others_of(series);
    if (others && others->are_many() && !plan.allow_busy) return busy(plan, *others);
    const auto places = verdict::moved_cpus(series);
    if (places && !plan.allow_busy) return moved_meanwhile(plan, *places);
    return store(plan, series);
  };
  return run_measurement(
      stop, save, [&] { return interrupted(plan); }, fail_measurement);
}

void BaselineCompareCommand::declare(Options& options) {
  options.app().description(
      "Say whether a program has become slower than its baseline.\n\n"
      "It is measured as the baseline was. A benchmark passes, fails, or stays inconclusive, "
      "against the baseline and against its anchor. When the canary, which is always the same "
      "work, or what other processes use of the CPUs has changed, nothing fails: the machine has. "
      "What would fail is measured a second time, and fails only when it is slower again.");
  options.app().footer(
      "Examples:\n"
      "  taskbench baseline compare\n"
      "  taskbench baseline compare nightly --json comparison.json --markdown comment.md\n"
      "  taskbench baseline compare --program build-pr/my_benchmark --delta 5%\n"
      "  taskbench baseline compare --resume\n\n"
      "Exit status: 0 pass, 1 slower, 2 usage or input error, 3 inconclusive, 4 another machine or "
      "build, or the machine is not as it was, 5 the program failed, 130 interrupted.");
  declare_common(options, check_.name, check_.program, check_.store);
  options.app().get_option("--program")->default_str("that of the baseline");
  options.value("--processes", check_.processes, "N", Number{1, kMaxProcesses}, "Fresh processes.")
      ->default_str(std::to_string(kDefaultFreshProcesses));
  process_.declare_timeout(options);
  declare_allow_busy(options, check_.allow_busy, "Judge");
  verdict_.declare(options);
  output_.declare(
      options,
      "Go on with the comparison of the journal; of a complete one, print the verdict again.",
      "Write the verdicts and their figures.");
}

ExitCode BaselineCompareCommand::execute(const Invocation&) {
  check_.timeout_s = process_.timeout_s();
  check_.output = output_.plan();
  return check_baseline(check_, verdict_, stop_on_signals());
}

}  // namespace

std::unique_ptr<Command> baseline_save_command() { return std::make_unique<BaselineSaveCommand>(); }
std::unique_ptr<Command> baseline_compare_command() {
  return std::make_unique<BaselineCompareCommand>();
}

}  // namespace taskbench::cli
