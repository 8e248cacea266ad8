// `taskbench run`: measures workloads, commands or a program's benchmarks, prints the result, and
// writes it to files.
#include <exception>

#include "cli/commands/command.hpp"
#include "cli/options/run_plan.hpp"
#include "cli/options/trial_options.hpp"
#include "cli/output/output.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/report_writer.hpp"
#include "cli/output/signals.hpp"
#include "harness/counting/counter_pass.hpp"
#include "harness/machine/drift.hpp"
#include "harness/machine/environment.hpp"
#include "harness/os/atomic_file.hpp"
#include "harness/os/cpu_affinity.hpp"
#include "reports/json/writer.hpp"
#include "reports/render/counters.hpp"
#include "reports/render/numbers.hpp"
#include "reports/render/render.hpp"
#include "reports/render/report.hpp"
#include "reports/stats/summary.hpp"
#include "reports/verdict/drift.hpp"
#include "workloads/base/workload.hpp"

namespace taskbench::cli {
namespace {

// Estimated size of the result file: a repetition takes about kRowBytes, counters included.
std::size_t expected_bytes(const RunPlan& plan) {
  constexpr std::size_t kContextBytes = 64 * 1024;
  constexpr std::size_t kRowBytes = 1500;
  constexpr std::size_t kAggregateRows = 5;
  const auto rows = static_cast<std::size_t>(plan.settings.repetitions) + kAggregateRows;
  return kContextBytes + (plan.cases.size() + plan.commands.size()) * rows * kRowBytes;
}

/// Measures another program. Of how it was built, it knows more than taskbench.
model::Run measure_other(const RunPlan& plan, const Strings& command_line,
                         const std::stop_token& stop) {
  using model::Environment;
  Environment environment = probe_environment(command_line.front());
  const auto before = read_machine();
  model::Run run = measure_program(*plan.program, listener_on_a_line(plan.quiet), stop);
  run.drift = drift_between(before, read_machine());
  run.settings.command_line = command_line;
  for (std::string Environment::*const text :
       {&Environment::executable, &Environment::compiler, &Environment::compiler_flags,
        &Environment::build_type, &Environment::git_commit, &Environment::workloads_version,
        &Environment::benchmark_library_version, &Environment::benchmark_library_build_type}) {
    environment.*text = std::move(run.environment.*text);
  }
  run.environment = std::move(environment);
  return run;
}

model::Run measure_plan(const RunPlan& plan, const Strings& command_line,
                        const std::stop_token& stop) {
  if (plan.program) return measure_other(plan, command_line, stop);
  model::Run run;
  run.environment = probe_environment(command_line.front(), workloads::kWorkloadsVersion);
  if (!plan.commands.empty()) {  // taskbench's build does not matter for them
    model::Environment& environment = run.environment;
    environment.compiler.clear();
    environment.compiler_flags.clear();
    environment.build_type.clear();
    environment.git_commit.clear();
  }
  ProgressLine line(plan.quiet);
  const auto before = read_machine();
  const auto show = [&](const Progress& now) { line.show(now); };
  auto result = plan.commands.empty() ? measure(plan.cases, plan.settings, show, stop)
                                      : measure_commands(plan.commands, plan.settings, show, stop);
  run.drift = drift_between(before, read_machine());
  run.settings = {.repetitions = plan.settings.repetitions,
                  .min_time_s = result.min_time_s,
                  .warmup_s = result.warmup_s,
                  .time_budget_s = plan.settings.time_budget_s,
                  .seed = plan.settings.seed,
                  .pinned = plan.settings.pin,
                  .command_line = command_line};
  if (!plan.quiet && !result.interrupted && result.repetitions_left > 0) {
    print_note("the machine was slower than expected: {} had no time in the --time-budget",
               render::counted(static_cast<std::size_t>(result.repetitions_left), "repetition"));
  }
  run.cases = std::move(result.cases);
  run.partial = result.interrupted;
  return run;
}

void print_notes_before(const RunPlan& plan, unsigned cpus) {
  if (plan.quiet) return;
  for (const std::string& each : plan.left_out) print_note("left out: {}", each);
  unsigned most = 0;
  for (const auto& each : plan.cases) most = std::max(most, each.workers);
  if (most > cpus) print_note("up to {} workers share {}", most, render::counted(cpus, "CPU"));
}

// The real destination of a write to `path`. Unlike weakly_canonical(), follows a link even if its
// target does not exist yet. A path that cannot be resolved stays as it is: writing it will fail.
fs::path resolved(const fs::path& path) {
  constexpr int kMostLinks = 40;  // Linux's own limit
  std::error_code failed;
  fs::path target = fs::absolute(path);
  for (int i = 0; i < kMostLinks && fs::is_symlink(target, failed); ++i) {
    target = target.parent_path() / fs::read_symlink(target, failed);
    if (failed) return path;
  }
  target = fs::weakly_canonical(target, failed);
  return failed ? path : target;
}

class RunCommand final : public Command {
  void declare(Options& options) override {
    options.describe(
        "Measure workloads on the schedulers.\n\n"
        "Every chosen workload is run on every chosen scheduler with every worker count; each such "
        "case is repeated, and the repetitions of all cases are interleaved at random. Prints the "
        "result. With --command, commands are measured instead; with --program, the benchmarks of "
        "another program.",
        "Examples:\n"
        "  taskbench run                                      every workload, a worker per CPU\n"
        "  taskbench run ping_pong yield_many --workers 1,2,4\n"
        "  taskbench run --scheduler work_stealing,current_thread --time-budget 1m\n"
        "  taskbench run spawn_many --param tasks=1000 --json result.json\n"
        "  taskbench run ping_pong --counters basic,software,sched:sched_switch\n"
        "  taskbench run --workers 1,2 --report out           plots, in out/index.html\n"
        "  taskbench run http_hello --load wrk --repetitions 3\n"
        "  taskbench run --command quick='sort -S 1G big.txt' --command slow='sort big.txt'\n"
        "  taskbench run --command sort='sort --parallel={n} big.txt' --param n=1,2,4\n"
        "  taskbench run --command sort='sort big.txt' --counters instructions-exact\n"
        "  taskbench run --program build/bench --workload BM_sort --processes 20\n"
        "  taskbench run --program 'python3 -m pytest bench' --kind pytest --json result.json\n"
        "\n"
        "Exit status: 0 done, 2 usage or input error, 4 a program that --load or --counters needs "
        "is missing or failed, 5 a workload, command or program failed, 130 interrupted.");
    declare_selection(options);
    declare_measuring(options);
    declare_program(options);
    for (const char* other :
         {"WORKLOAD", "--scheduler", "--workers", "--time-budget", "--pin", "--load"}) {
      options["--command"]->excludes(options[other]);
    }
    declare_commands(options);
    declare_output(options);
  }

  void declare_selection(Options& options) {
    options.group("What to measure");
    options
        .value("WORKLOAD", arguments_.words, "WORKLOAD",
               AsGiven{{OptionValues::Kind::one_of, row_names(workloads::all())}},
               "What to run; `taskbench list` shows them.")
        ->default_str("all");
    options.value("--scheduler", arguments_.schedulers, "NAME[,NAME...]",
                  Choices<Scheduler>{"scheduler", schedulers_and_rungs()},
                  fmt::format("Schedulers to run them on: {}; or rungs of `taskbench ladder`.",
                              fmt::join(row_names(schedulers()), ", ")));
    options
        .value("--workers", arguments_.workers, "N[,N...]", Numbers{1, rt::kMostWorkers},
               fmt::format("Worker counts, each up to {}, and up to {} in all cases together. A "
                           "scheduler that supports only one worker takes part with 1 only.",
                           rt::kMostWorkers, kMaxWorkersInAll))
        ->default_str("the CPUs that this process may use");
    options.value(
        "--param", arguments_.parameters, "NAME=VALUE", AsGiven{offered_parameters()},
        "Set a parameter of every chosen workload that has it, or, as WORKLOAD.NAME=VALUE, of one. "
        "May be repeated, and more NAME=VALUE may follow. `taskbench list parameters` shows them. "
        "With --command, NAME=VALUE[,VALUE...] puts each value in the place of {NAME}.");
    options.value("--filter", arguments_.filter, "REGEX", Text{.may_be_empty = true},
                  "Keep the cases whose name matches this regular expression (RE2 syntax) "
                  "anywhere. A name looks like chained_spawn/work_stealing/workers:2.");
    options.value("--command", arguments_.commands, "[NAME=]CMD", AsGiven{},
                  "Measure a command in place of workloads, from its start to its end: each "
                  "iteration runs it once, without a shell. May be repeated.");
    options.value("--program", arguments_.program.command, "CMD", Text{},
                  "Measure the benchmarks of another program in place of workloads, in fresh "
                  "processes. It may be of any kind that can be measured (docs/programs.md).");
    options
        .value("--workload", arguments_.benchmarks, "NAME[,NAME...]", BenchmarkNames{},
               "Benchmarks of the --program to measure: names, or beginnings of names.")
        ->default_str("all");
    options.flag("--list", list_, "Print the names of the cases that would run, and run none.");
  }

  /// The options that only a --program has, and those that it does not have.
  void declare_program(Options& options) {
    options.group("How to measure");
    options.value("--processes", arguments_.program.processes, "N", Number{1, kMaxProcesses},
                  "Fresh processes of a --program, each of which counts with the median of its "
                  "repetitions.");
    declare_kind(options, arguments_.program.kind);
    CLI::Option* program = options["--program"];
    for (const char* own : {"--workload", "--processes", "--kind"}) options[own]->needs(program);
    for (const char* other :
         {"--command", "WORKLOAD", "--scheduler", "--workers", "--param", "--list", "--time-budget",
          "--iterations", "--pin", "--counters", "--load"}) {
      program->excludes(options[other]);
    }
  }

  void declare_commands(Options& options) {
    options.group("Commands");
    const auto option = [&](const char* name, std::string& command, const char* help) {
      options.value(name, command, "CMD", Text{}, help)->needs(options["--command"]);
    };
    option("--setup", arguments_.setup,
           "Run this before the first run of each command. Not timed; nor are --prepare and "
           "--conclude.");
    option("--prepare", arguments_.prepare,
           "Run this before each run: sh -c 'sync; echo 3 >/proc/sys/vm/drop_caches'.");
    option("--conclude", arguments_.conclude, "Run this after each run.");
    options
        .value("--input", arguments_.input, "FILE", Path{.may_be_dash = false},
               "Standard input of each command; empty by default.")
        ->needs(options["--command"]);
    options
        .value("--output", arguments_.output, "FILE", Path{.may_be_dash = false},
               "Where the output of each run goes, replacing that of the run before; 'inherit': to "
               "taskbench's own output, such as a terminal.")
        ->needs(options["--command"])
        ->default_str("thrown away");
    options
        .value("--timeout", arguments_.timeout_s, "TIME", Duration{0.1, 24 * 3600},
               fmt::format("A command that takes longer is killed, and counts as failed; the same "
                           "applies to --setup, --prepare and --conclude. Needs Linux 5.3. Of a "
                           "--program: the limit of each process, {} by default.",
                           Duration::written(kDefaultProcessTimeout_s)))
        ->default_str("none");
    options
        .flag("--ignore-failure", arguments_.may_fail,
              "An exit status other than 0 does not count as a failure, but is in the JSON.")
        ->needs(options["--command"]);
  }

  void declare_measuring(Options& options) {
    options.group("How to measure");
    auto& settings = arguments_.plan.settings;
    options.value(
        "--repetitions", settings.repetitions, "N", Number{1, kMaxRepetitions},
        fmt::format("Repetitions of each case, up to {}, and up to {} in all. Of a "
                    "--program: of each benchmark in each process, {} by default.",
                    kMaxRepetitions, kMaxRepetitionsInAll, model::Sampling{}.repetitions));
    auto* min_time = options.value("--min-time", arguments_.min_time_s, "TIME",
                                   Duration{kMinMinTimeS, kMaxMinTimeS},
                                   fmt::format("Shortest duration of a repetition: 0.1, 500ms, "
                                               "10s, 2m. Of a --program, {} by default.",
                                               Duration::written(model::Sampling{}.min_time_s)));
    min_time->default_str(Duration::written(settings.min_time_s));
    auto* budget = options.value("--time-budget", settings.time_budget_s, "TIME",
                                 Duration{kMinTimeBudgetS, kMaxTimeBudgetS},
                                 "Duration of the whole run, which determines that of a "
                                 "repetition; --counters comes on top. Excludes --min-time.");
    options
        .value("--iterations", settings.iterations, "CASE=N", By{parse_iterations},
               "Iterations of each repetition of a case, instead of as many as take --min-time. "
               "May be repeated. For runs that will be compared.")
        ->excludes(budget);
    min_time->excludes(budget);
    options.value("--seed", settings.seed, "N", Number{0, kMaxSeed},
                  "Seed of the order of the repetitions and of the schedulers.");
    options.flag("--pin", settings.pin, "Bind every worker to a CPU of its own.");
    auto sets = row_names(counter_sets());
    const std::string help = fmt::format(
        "Count events with perf, in a separate pass after the timing, {} processes per case: sets "
        "({}) or events as `perf list` shows them; and {}, by callgrind, the only one for a "
        "--command.",
        kCountingProcesses, fmt::join(sets, ", "), model::kInstructionsExact);
    sets.emplace_back(model::kInstructionsExact);
    options.value("--counters", arguments_.plan.counters, "SET|EVENT[,...]",
                  By{parse_counters, OptionValues{OptionValues::Kind::list_of, sets}}, help);
    options
        .value("--load", arguments_.loader, "PROGRAM", Choice<Loader>{"program", kLoaders},
               "Load the server of http_hello with this program in place of its own clients: wrk. "
               "Each repetition is one run of it, as long as --min-time says, in whole seconds; "
               "10 s if nothing is said.")
        ->excludes(budget)
        ->excludes(options["--iterations"])
        ->excludes(options["--counters"]);
    if constexpr (rt::kPlantsDelays) {
      options.value("--plant", arguments_.plan.planted, "PLACE=NS", By{parse_plants},
                    fmt::format("Slow the scheduler down on purpose, at each event of a place: {}. "
                                "May be repeated.",
                                fmt::join(rt::kDelaySites, ", ")));
    }
  }

  void declare_output(Options& options) {
    options.group("Output");
    auto* format = declare_format(options, format_, "", render::formats_of_measures());
    const Path file{.may_be_dash = false};
    options.value("--json", json_, "FILE", file,
                  "Write every repetition, as JSON that readers of Google Benchmark's output "
                  "accept.");
    options.value("--json-flat", json_flat_, "FILE", file,
                  "Write the median of every case, one row each, in the same JSON: for trackers "
                  "that chart every row.");
    options.value("--report", report_, "DIR", Path{},
                  "Write the result as a page with plots, as Markdown and as JSON into this "
                  "folder; see `taskbench report`.");
    options
        .flag("--quiet", arguments_.plan.quiet,
              "Print no progress and no result; needs --json, --json-flat or --report.")
        ->excludes(format);
  }

  ExitCode execute(const Invocation& invocation) override {
    const unsigned cpus = usable_cpu_count();
    arguments_.repetitions_are_given = invocation.given("--repetitions");
    RunPlan plan = plan_run(arguments_, cpus);
    check_output(plan.quiet);
    if (list_) {
      std::string names;
      for (const auto& each : plan.cases) names += each.name() + '\n';
      for (const auto& each : plan.commands) names += each.name + '\n';
      return printed(names);
    }
    for (const auto& file : {json_, json_flat_}) refuse_unwritable(file, expected_bytes(plan));
    if (report_) refuse_unwritable_report(*report_);
    if (arguments_.loader != nullptr) {
      try {
        const std::string version = arguments_.loader->version();
        for (auto& each : plan.cases) each.load->version = version;
      } catch (const workloads::LoadError& error) {
        print_error(error.what());
        return ExitCode::wrong_machine;
      }
    }
    const std::stop_token stop = stop_on_signals();
    try {
      check_counters(plan.counters, stop);
    } catch (const ToolMissing& error) {
      print_error(error.what());
      return ExitCode::wrong_machine;
    }
    print_notes_before(plan, cpus);
    for (const PlantedDelay& each : plan.planted) rt::plant_delay(each.site, each.ns);
    model::Run run;
    try {
      run = measure_plan(plan, invocation.command_line, stop);
    } catch (const std::bad_alloc&) {
      throw;  // handled by run_command_line()
    } catch (const UsageError&) {
      throw;  // likewise
    } catch (const ProgramError& error) {
      return fail_measurement(error);
    } catch (const std::exception& error) {  // no thread: nothing to show
      print_error("the measurement failed: {}", error.what());
      return ExitCode::measured_program_failed;
    }
    bool interrupted = run.partial && run.failure.empty();
    if (interrupted) print_note("interrupted; the results are partial");
    if (plan.counters.any() && !interrupted) {
      keep_times(run);
      interrupted = !count(plan, stop, run);
    }
    const std::string moved = verdict::drift_warning(run.drift);
    if (!moved.empty() && !plan.quiet) print_note(moved);
    // Files come first: the measurement must survive a reader of standard output that goes away.
    bool written = !json_ || write_output(json_, json::to_json(run), !plan.quiet);
    written &= !json_flat_ || write_output(json_flat_, json::to_flat_json(run), !plan.quiet);
    written &= plan.quiet || print_formatted(run);
    const ExitCode reported = write_run_report(run, plan.quiet, interrupted, stop);
    bool failed = report_failures(run.cases);
    if (!run.failure.empty()) {
      print_error("{}; the results are partial", run.failure);
      failed = true;
    }
    // An interruption takes precedence: the user wants the loop around this process to end, too.
    if (interrupted || reported == ExitCode::interrupted) return ExitCode::interrupted;
    if (!written || reported != ExitCode::pass) return ExitCode::usage;
    if (std::ranges::any_of(run.cases, &model::Case::load_failed)) return ExitCode::wrong_machine;
    return failed ? ExitCode::measured_program_failed : ExitCode::pass;
  }

  void check_output(bool quiet) const {
    if (json_ && json_flat_ && resolved(*json_) == resolved(*json_flat_)) {
      refuse("--json and --json-flat name the same file, '{}'; give two", json_flat_->string());
    }
    if (quiet && !json_ && !json_flat_ && !report_) {
      throw UsageError(
          "--quiet without --json, --json-flat or --report would throw the result away; add one "
          "of them");
    }
  }

  [[nodiscard]] bool print_formatted(const model::Run& run) const {
    return print_answer({.document = render::document(run),
                         .records = render::records(run),
                         .json = [&] { return json::to_json(run); },
                         .measures = [&] { return render::measures(run); }},
                        *format_);
  }

  /// Runs the counter pass. False if it was interrupted.
  [[nodiscard]] bool count(const RunPlan& plan, const std::stop_token& stop,
                           model::Run& run) const {
    count_events(plan, stop, listener_on_a_line(plan.quiet), run);
    if (stop.stop_requested()) {
      print_note("interrupted while counting; the times are complete");
      return false;
    }
    if (!run.counter_pass->unavailable.empty()) {
      print_note("perf counted nothing: {}", run.counter_pass->unavailable);
    } else if (plan.quiet || !format_->has_reasons) {
      note_missing_counts(run);
    }
    return true;
  }

  /// Reports on one line the requested events that were not counted, if no table does.
  static void note_missing_counts(const model::Run& run) {
    const Strings missing = render::counter_table(run)->missing;
    if (missing.empty()) return;
    const std::size_t more = missing.size() - 1;
    print_note("--counters: {}{}", missing.front(),
               more > 0 ? fmt::format(" There are {} (--json has all).",
                                      render::counted(more, "further reason"))
                        : std::string());
  }

  /// Writes the times before the counter pass, so that not even a kill loses them; they are
  /// replaced at the end. A failure is not reported here: the final write will fail in the same
  /// way.
  void keep_times(const model::Run& run) const {
    const auto keep = [](const std::optional<fs::path>& file, auto text) {
      if (!file || !is_replaced(*file)) return;
      static_cast<void>(write_atomically(*file, text()));
    };
    keep(json_, [&] { return json::to_json(run); });
    keep(json_flat_, [&] { return json::to_flat_json(run); });
  }

  /// Writes the report, which contains the result file. An interrupted run still completes its
  /// report: the same signal must not stop the drawing as well.
  ExitCode write_run_report(const model::Run& run, bool quiet, bool interrupted,
                            const std::stop_token& stop) const {
    if (!report_) return ExitCode::pass;
    constexpr const char* kResult = "result.json";
    ReportRequest request{*report_, {{kResult, json::to_json(run)}}};
    request.quiet = quiet;
    request.write_if_interrupted = true;
    try {
      render::ReportInputs inputs{{{kResult, run}}, {}};
      for (model::Case& measured : inputs.results.front().file.cases) {
        std::erase_if(measured.repetitions,
                      [](const auto& each) { return !stats::is_complete(each); });
      }
      return write_report(render::report(inputs), request, interrupted ? std::stop_token() : stop);
    } catch (const std::exception& error) {
      print_error(error.what());
      return ExitCode::usage;
    }
  }

  RunArguments arguments_;
  const render::Format* format_ = nullptr;
  std::optional<fs::path> json_;
  std::optional<fs::path> json_flat_;
  std::optional<fs::path> report_;  ///< a folder
  bool list_ = false;
};

}  // namespace

std::unique_ptr<Command> run_command() { return std::make_unique<RunCommand>(); }

}  // namespace taskbench::cli
