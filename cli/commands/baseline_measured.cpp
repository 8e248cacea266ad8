// `taskbench baseline save` and `compare`: the subcommands that run a program.
#include <algorithm>

#include "cli/commands/baseline_check.hpp"
#include "cli/commands/command.hpp"
#include "cli/options/trial_options.hpp"
#include "cli/output/measurement.hpp"
#include "cli/output/output.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/signals.hpp"
#include "harness/trials/baseline_store.hpp"
#include "harness/trials/series.hpp"
#include "harness/trials/stored.hpp"
#include "reports/json/baseline.hpp"
#include "reports/render/baseline.hpp"
#include "reports/verdict/baseline.hpp"

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
}

/// The slowdown from which each benchmark can fail against this baseline, as far as is known now.
std::string what_it_finds(const model::Series& series) {
  const auto report = verdict::compare_with_baseline(series, series, nullptr, {});
  Strings texts;
  for (const auto& row : report.rows) {
    texts.push_back(fmt::format("{} {}", row.name, render::percent(row.rolling.limit)));
  }
  return joined(texts);
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
    setup_.name = kDefaultBaseline;
    setup_.processes = 25;
    declare_common(options, setup_.name, command_, folder_);
    options["--program"]->default_str("this taskbench");
    options
        .value("--workload", workloads_, "NAME[,NAME...]", BenchmarkNames{},
               "Benchmarks to keep, by their names or what these begin with.")
        ->default_str("all");
    options.group("How to measure");
    options.value("--processes", setup_.processes, "N",
                  Number{model::kMinBaselineProcesses, kMaxProcesses}, "Fresh processes.");
    declare_sampling(options, setup_, timeout_s_);
    declare_allow_busy(options, allow_busy_, "Store it");
    options.group("Output");
    options.value("--journal", journal_, "FILE", Journal{},
                  "Where each process's result is kept until all is stored.");
    options.flag("--resume", resume_, "Continue the one in the journal.");
    options.flag("--quiet", quiet_, "Print no progress and no result.");
  }

  ExitCode execute(const Invocation& invocation) override {
    if (!resume_ && fs::exists(journal_)) {
      refuse(
          "{} exists: an earlier save has not ended; continue it with --resume, remove "
          "it, or name another by --journal",
          journal_.string());
    }
    const BaselineStore store(folder_);
    store.refuse_unwritable();
    if (!resume_) refuse_unwritable(journal_, 1 << 16);
    resume_command_ = "taskbench baseline save --resume";
    if (invocation.given("--journal")) resume_command_ += " --journal " + journal_.string();
    if (folder_ != kDefaultStore) resume_command_ += " --store " + folder_.string();
    const std::stop_token stop = stop_on_signals();
    const auto save = [&] {
      measure_series(store, invocation.given("NAME"), stop);
      if (!series_.complete()) return interrupted();
      const std::string disturbed = allow_busy_ ? "" : disturbance();
      if (disturbed.empty()) return keep(store);
      print_error("not saved: {}. Remove {} and save again; or store it as it is: {} --allow-busy",
                  disturbed, journal_.string(), resume_command_);
      return ExitCode::wrong_machine;
    };
    return run_measurement(
        stop, save, [&] { return interrupted(); }, fail_measurement);
  }

  /// Measures the series, or what the journal lacks of it. An interruption leaves it incomplete.
  void measure_series(const BaselineStore& store, bool is_named, const std::stop_token& stop) {
    if (resume_) {
      series_ = harness::read_series_journal(journal_);
      if (series_.setup.compared_with) {
        refuse("{} is of a comparison; continue it with: taskbench baseline compare --resume",
               journal_.string());
      }
      if (series_.complete()) return;  // its program may be gone
    } else {
      series_.setup = setup_;
    }
    model::SeriesSetup& setup = series_.setup;
    ProgressLine line(quiet_);
    const SeriesProgram program(resume_ ? setup.command : command_, timeout_s_, stop);
    if (resume_) {
      if (is_named && setup_.name != setup.name) {
        refuse("{} is of the baseline '{}', not '{}'", journal_.string(), setup.name, setup_.name);
      }
      program.refuse_changed(journal_, setup);
    } else {
      program.explore(listener_on(line), setup);
      setup.benchmarks =
          chosen_benchmarks(benchmark_names(workloads_, setup.benchmarks), setup.benchmarks);
      std::erase_if(setup.iterations, [&](const auto& entry) {
        return std::ranges::find(setup.benchmarks, entry.first) == setup.benchmarks.end();
      });
      store.refuse_foreign(setup);
    }
    harness::LineFile journal =
        resume_ ? harness::LineFile::resume(journal_)
                : harness::LineFile::create(journal_, json::journal_line(setup));
    program.run({.keeps_all = allow_busy_}, listener_on(line), journal, series_);
  }

  /// Says what other processes used; empty if that was little. A baseline saved on a busy machine
  /// is slow, and hides what becomes slower.
  [[nodiscard]] std::string disturbance() const {
    if (const auto others = verdict::others_of(series_); others && others->are_many()) {
      return fmt::format(
          "{} while this was measured, and a baseline of a busy machine hides what becomes slower",
          render::others_text(*others));
    }
    return {};
  }

  /// Puts the series into the store and removes its journal.
  [[nodiscard]] ExitCode keep(const BaselineStore& store) const {
    const bool first = store.save(series_);
    const auto moved = verdict::moved_cpus(series_);
    std::error_code ignored;
    fs::remove(journal_, ignored);
    if (quiet_) return ExitCode::pass;
    const auto& setup = series_.setup;
    if (moved) {
      print_note("the host moved the CPUs while this was measured: {}; the times scatter as widely",
                 render::moved_cpus_text(*moved));
    }
    print_note(
        "a smaller slowdown than this cannot fail: {}; a quieter machine or more "
        "--processes find more",
        what_it_finds(series_));
    return printed(fmt::format("saved '{}' of {}, {} processes, in {}{}\n", setup.name,
                               render::counted(setup.benchmarks.size(), "benchmark"),
                               setup.processes, (folder_ / model::baseline_key(setup.key)).string(),
                               first ? ", and as its anchor" : "; its anchor stays"));
  }

  [[nodiscard]] ExitCode interrupted() const {
    print_note(fs::exists(journal_) ? "interrupted; continue with: " + resume_command_
                                    : "interrupted before the first process");
    return ExitCode::interrupted;
  }

  model::SeriesSetup setup_;  ///< without what explore() fills in
  fs::path folder_{kDefaultStore};
  std::string command_;
  Strings workloads_;
  double timeout_s_ = kDefaultProcessTimeout_s;
  fs::path journal_{"taskbench-baseline.journal"};
  bool resume_ = false;
  bool quiet_ = false;
  bool allow_busy_ = false;
  std::string resume_command_;
  model::Series series_;
};

class BaselineCompareCommand final : public Command {
  void declare(Options& options) override {
    options.describe(
        "Say whether a program has become slower than its baseline.\n\n"
        "It is measured as the baseline was. A benchmark passes, fails, or stays inconclusive, "
        "against the baseline and against its anchor. A change that the machine alone can explain, "
        "by the canary, which is always the same work, and by what other processes use of the "
        "CPUs, is none of the program. What does not pass is measured a second time, and fails "
        "only if it is slower again.",
        "Examples:\n"
        "  taskbench baseline compare\n"
        "  taskbench baseline compare nightly --json comparison.json --markdown comment.md\n"
        "  taskbench baseline compare --program build-pr/my_benchmark --delta 5%\n"
        "  taskbench baseline compare --resume\n\n"
        "Exit status: 0 pass, 1 slower, 2 usage or input error, 3 inconclusive, 4 another machine "
        "or build, or the machine has changed, 5 the program failed, 130 interrupted.");
    check_.output.journal = "taskbench-baseline-compare.journal";
    declare_common(options, check_.name, check_.program, check_.store);
    options["--program"]->default_str("that of the baseline");
    options.group("How to measure");
    options
        .value("--processes", check_.processes, "N", Number{1, kMaxProcesses}, "Fresh processes.")
        ->default_str(std::to_string(kDefaultFreshProcesses));
    declare_timeout(options, check_.timeout_s);
    declare_allow_busy(options, check_.allow_busy, "Judge");
    check_.verdict.declare(options, check_.delta, check_.alpha);
    check_.output.declare(
        options,
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
