// `taskbench baseline save` and `compare`: the subcommands that run a program.
#include "cli/commands/baseline_check.hpp"
#include "cli/commands/command.hpp"
#include "cli/output/output.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/signals.hpp"
#include "reports/render/baseline.hpp"

namespace taskbench::cli {
namespace {

void declare_common(Options& options, BaselinePlan& plan) {
  options.group("What to measure");
  options.value("NAME", plan.name, "NAME", By{baseline_name}, "Name of the baseline.")
      ->default_str(std::string(kDefaultBaseline))
      ->expected(0, 1);
  options.value("--program", plan.program, "CMD", Text{},
                "What is measured: taskbench with options of `taskbench run`, or another program "
                "of a kind that can be measured (docs/programs.md).");
  options.value("--store", plan.store, "DIR", Path{}, "Where baselines are kept.");
}

/// Declares the options of `save` that a resumed series takes from its journal, and the timeout,
/// which may change.
void declare_saved(Options& options, SavePlan& plan) {
  options.group("What to measure");
  options
      .value("--workload", plan.workloads, "NAME[,NAME...]", BenchmarkNames{},
             "Benchmarks to keep: names, or beginnings of names.")
      ->default_str("all");
  options.group("How to measure");
  options.value("--processes", plan.setup.processes, "N",
                Number{model::kMinBaselineProcesses, kMaxProcesses}, "Fresh processes.");
  declare_sampling(options, plan.setup, plan.timeout_s);
  declare_kind(options, plan.setup.kind);
}

/// Refuses an option that differs from its value when the series began.
void refuse_other_saved(const SavePlan& plan, const Invocation& invocation,
                        const model::SeriesSetup& then) {
  SavePlan now = plan;
  SavePlan begun = plan;
  begun.setup = then;
  const Strings named = benchmark_names(plan.workloads, then.benchmarks);
  if (chosen_benchmarks(named, then.benchmarks) != then.benchmarks) begun.workloads.clear();
  refuse_given(differing_options([&](Options& options) { declare_saved(options, now); },
                                 [&](Options& options) { declare_saved(options, begun); }),
               invocation,
               plan.journal.path.string() +
                   " was started with another; leave the option out, or start again");
}

/// The slowdown that can FAIL against this baseline, for each benchmark, as far as is known now.
std::string what_it_finds(const model::Series& series) {
  const auto report = verdict::compare_with_baseline(series, series, nullptr, {});
  return joined(each_of(report.rows, [](const auto& row) {
    return fmt::format("{} {}", row.name, render::percent(row.rolling.limit));
  }));
}

class BaselineSaveCommand final : public Command {
  void declare(Options& options) override {
    options.describe(
        "Measure a program, and keep what it takes as a baseline.\n\n"
        "The first baseline of a name is its anchor, too; later ones leave the anchor alone. Those "
        "of other machines and builds are kept beside it.",
        "Examples:\n"
        "  taskbench baseline save\n"
        "  taskbench baseline save nightly --program build/my_benchmark --processes 40\n"
        "  taskbench baseline save --resume\n\n"
        "Exit status: 0 saved, 2 usage or input error, 4 other processes used the CPUs meanwhile, "
        "5 the program failed, 130 interrupted.");
    plan_.setup.processes = 25;
    plan_.journal.path = "taskbench-baseline.journal";
    declare_common(options, plan_);
    options["--program"]->default_str("this taskbench");
    declare_saved(options, plan_);
    declare_allow_busy(options, plan_.allow_busy, "Store it");
    options.group("Output");
    options.value("--journal", plan_.journal.path, "FILE", Journal{},
                  "Where each process's result is kept until all is stored.");
    options.flag("--resume", plan_.journal.resume, "Continue the one in the journal.");
    options.flag("--quiet", quiet_, "Print no progress and no result.");
  }

  ExitCode execute(const Invocation& invocation) override {
    JournalPlan& journal = plan_.journal;
    std::string resume_command = "taskbench baseline save --resume";
    if (invocation.given("--journal")) resume_command += " --journal " + journal.path.string();
    if (plan_.store != kDefaultStore) resume_command += " --store " + plan_.store.string();
    journal.is_named = true;  // if it cannot be stored, it is complete and kept
    plan_.name_is_given = invocation.given("NAME");
    plan_.refuse_other_options = [&](const model::SeriesSetup& then) {
      refuse_other_saved(plan_, invocation, then);
    };
    BaselineStore(plan_.store).refuse_unwritable();
    if (!journal.resume && !fs::exists(journal.path)) refuse_unwritable(journal.path, 1 << 16);
    const std::stop_token stop = stop_on_signals();
    model::Series series;
    try {
      const Ending ending = measure_baseline(plan_, listener_on_a_line(quiet_), stop, series);
      const auto stopped = interruption(ending, "continue with: " + resume_command, "process");
      if (stopped) return *stopped;
    } catch (const ProgramError& error) {
      return fail_measurement(error);
    }
    const std::string disturbed = plan_.allow_busy ? "" : disturbance(series);
    if (disturbed.empty()) return keep(series);
    print_error("not saved: {}. Remove {} and save again; or store it as it is: {} --allow-busy",
                disturbed, journal.path.string(), resume_command);
    return ExitCode::wrong_machine;
  }

  /// Reports the CPU use of other processes; empty if it was low. A baseline from a busy machine is
  /// slow, and hides regressions.
  [[nodiscard]] static std::string disturbance(const model::Series& series) {
    const auto others = verdict::others_of(series);
    if (!others || !others->are_many()) return {};
    return fmt::format(
        "{} while this was measured, and a baseline of a busy machine hides what becomes slower",
        render::others_text(*others));
  }

  /// Puts the series into the store and removes its journal.
  [[nodiscard]] ExitCode keep(const model::Series& series) const {
    const bool first = BaselineStore(plan_.store).save(series);
    const auto moved = verdict::moved_cpus(series);
    std::error_code ignored;
    fs::remove(plan_.journal.path, ignored);
    if (quiet_) return ExitCode::pass;
    const auto& setup = series.setup;
    if (moved) {
      print_note("the host moved the CPUs while this was measured: {}; the times scatter as widely",
                 render::moved_cpus_text(*moved));
    }
    print_note(
        "slowdowns smaller than these cannot fail: {}; a quieter machine or more --processes can "
        "detect smaller ones",
        what_it_finds(series));
    return printed(fmt::format("saved '{}' of {}, {} processes, in {}{}\n", setup.name,
                               render::counted(setup.benchmarks.size(), "benchmark"),
                               setup.processes,
                               (plan_.store / model::baseline_key(setup.key)).string(),
                               first ? ", and as its anchor" : "; its anchor stays"));
  }

  SavePlan plan_;
  bool quiet_ = false;
};

class BaselineCompareCommand final : public Command {
  void declare(Options& options) override {
    options.describe(
        "Say whether a program has become slower than its baseline.\n\n"
        "It is measured as the baseline was. A benchmark passes, fails, or stays inconclusive, "
        "against the baseline and against its anchor. A change that the machine alone can explain, "
        "judging by the canary, which always does the same work, and by how much other processes "
        "use the CPUs, is not blamed on the program. A benchmark that is slower is measured a "
        "second time, and fails only if it is slower again; an undecided one is measured up to "
        "four times.",
        "Examples:\n"
        "  taskbench baseline compare\n"
        "  taskbench baseline compare nightly --json comparison.json --markdown comment.md\n"
        "  taskbench baseline compare --program build-pr/my_benchmark --delta 5%\n"
        "  taskbench baseline compare --resume\n\n"
        "Exit status: 0 pass, 1 slower, 2 usage or input error, 3 inconclusive, 4 another machine "
        "or build, or the machine has changed, 5 the program failed, 130 interrupted.");
    check_.journal.path = "taskbench-baseline-compare.journal";
    declare_common(options, check_);
    options["--program"]->default_str("that of the baseline");
    options.group("How to measure");
    options
        .value("--processes", check_.processes, "N", Number{1, kMaxProcesses}, "Fresh processes.")
        ->default_str(std::to_string(kDefaultFreshProcesses));
    declare_timeout(options, check_.timeout_s);
    declare_allow_busy(options, check_.allow_busy, "Judge");
    check_.verdict.declare(options, check_.delta, check_.alpha,
                           "Chance that anything fails although nothing is slower.");
    check_.output.declare(
        options, check_.journal,
        "Continue the comparison in the journal; of a complete one, print the verdict again.",
        "Write the verdicts and their figures.");
  }

  ExitCode execute(const Invocation& invocation) override {
    return check_baseline(check_, invocation);
  }

  BaselineCheck check_;
};

}  // namespace

std::unique_ptr<Command> baseline_save_command() { return std::make_unique<BaselineSaveCommand>(); }

std::unique_ptr<Command> baseline_compare_command() {
  return std::make_unique<BaselineCompareCommand>();
}

}  // namespace taskbench::cli
