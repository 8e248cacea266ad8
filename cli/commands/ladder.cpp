// `taskbench ladder`: what each step from tokio01 to work_stealing gives.
#include <chrono>

#include "cli/commands/command.hpp"
#include "cli/options/run_plan.hpp"
#include "cli/options/trial_options.hpp"
#include "cli/output/measurement.hpp"
#include "cli/output/output.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/report_writer.hpp"
#include "cli/output/signals.hpp"
#include "harness/machine/environment.hpp"
#include "harness/machine/machine.hpp"
#include "harness/os/cpu_affinity.hpp"
#include "harness/trials/measured_process.hpp"
#include "reports/json/answers.hpp"
#include "reports/model/date.hpp"
#include "reports/render/ladder.hpp"
#include "reports/render/numbers.hpp"

namespace taskbench::cli {
namespace {

constexpr std::size_t kMostLadderBytes = 1 << 22;

/// A workload, and the program that measures it on every rung: this executable.
struct LadderWork {
  harness::Program program;
  harness::SampleRequest request;  ///< for all rungs, from the lowest on
  model::LadderWorkload* result;
};

class LadderCommand final : public Command {
  void declare(Options& options) override {
    options.describe(
        "Measure what each step from tokio01 to work_stealing gives.\n\n"
        "Each workload is measured on tokio01, on eleven schedulers that have one step more each, "
        "and on work_stealing: a queue of fixed size, the LIFO slot, and so on in the order of the "
        "document on Tokio's scheduler, then what is our own (`taskbench list rungs`). A fresh "
        "process measures all of them in a drawn order; only times of one process are compared.",
        "Examples:\n"
        "  taskbench ladder\n"
        "  taskbench ladder chained_spawn ping_pong --budget 2m\n"
        "  taskbench ladder --workers 4 --json ladder.json --report out\n\n"
        "Exit status: 0 done, 2 usage or input error, 5 a workload failed, 130 interrupted.");
    options.group("What to measure");
    options
        .value("WORKLOAD", arguments_.words, "WORKLOAD",
               AsGiven{{OptionValues::Kind::one_of, row_names(workloads::all())}},
               "What to run; `taskbench list` shows them.")
        ->default_str("all");
    options.value("--workers", ladder_.workers, "N", Number{1, rt::kMostWorkers},
                  fmt::format("Workers, up to {}.", rt::kMostWorkers));
    options.value("--param", arguments_.parameters, "NAME=VALUE", AsGiven{offered_parameters()},
                  "Set a parameter of the workloads. May be repeated. `taskbench list parameters` "
                  "shows them.");
    options.group("How to measure");
    options.value("--budget", budget_s_, "TIME", Duration{1, kMaxBudget_s},
                  "No further block is begun when this time would be exceeded.");
    options.value("--max-blocks", max_blocks_, "N", Number{1, 1000},
                  "Most blocks: processes of each workload. Intervals take 8.");
    declare_sampling(options, ladder_, timeout_s_);
    options.group("Output");
    options.value("--json", json_, "FILE", Path{}, "Write the steps, and every block.");
    options.value("--report", report_, "DIR", Path{},
                  "Write a page with a waterfall of each workload, as Markdown too, into this "
                  "folder.");
    options.flag("--quiet", quiet_, "Print no progress and no result; needs --json or --report.");
  }

  ExitCode execute(const Invocation&) override {
    arguments_.schedulers.clear();
    for (const auto& rung : harness::ladder()) {
      arguments_.schedulers.push_back(rung.scheduler);
      ladder_.rungs.push_back(
          {std::string(rung.scheduler->name), std::string(rung.step), rung.is_ours});
    }
    arguments_.workers = {ladder_.workers};
    const RunPlan plan = plan_run(arguments_, harness::usable_cpu_count());
    if (quiet_ && !json_ && !report_) {
      throw UsageError(
          "--quiet without --json or --report would throw the result away; add one of them");
    }
    refuse_unwritable(json_, kMostLadderBytes);
    if (report_) refuse_unwritable_report(*report_);
    const auto environment = harness::probe_environment("");
    ladder_.date = environment.date;
    ladder_.commit = environment.git_commit;
    ladder_.machine = harness::probe_machine().machine;
    const std::stop_token stop = stop_on_signals();
    const auto interrupted = [&] {
      print_note("interrupted; the results are partial");
      ladder_.partial = true;
      static_cast<void>(conclude({}));  // drawn all the same
      return ExitCode::interrupted;
    };
    return run_measurement(
        stop, [&] { return climb(plan, stop) ? conclude(stop) : interrupted(); }, interrupted,
        fail_measurement);
  }

  /// Measures block after block. False when told to stop. Throws ProgramError.
  bool climb(const RunPlan& plan, const std::stop_token& stop) {
    const Bench bench{stop, timeout_s_};
    ProgressLine line(quiet_);
    std::vector<LadderWork> works = works_of(plan, bench);
    for (LadderWork& work : works) {
      line.show("trying {}", work.result->name);
      if (!fix_iterations(work, bench)) return false;
    }
    const double before_s = line.elapsed_s();
    int processes = 0;
    for (int block = 0; block < max_blocks_; ++block) {
      const double spent_s = line.elapsed_s() - before_s;
      if (block > 0 && spent_s + spent_s / block > budget_s_) break;
      const auto order = harness::interleaved_order(
          works.size(), 1, ladder_.seed + static_cast<std::uint64_t>(block));
      for (const std::size_t next : order) {
        LadderWork& work = works[next];
        line.show("block {} of at most {}, {}, {} of {}", block + 1, max_blocks_, work.result->name,
                  model::duration_text(line.elapsed_s() - before_s),
                  model::duration_text(budget_s_));
        const auto measured = measure_next(work.program, work.request,
                                           harness::block_plan(ladder_.seed, processes++), bench);
        if (!measured) return false;
        std::vector<double>& times = work.result->blocks_ns.emplace_back();
        for (const std::string& name : work.request.benchmarks) {
          times.push_back(measured->real_ns.at(name));
        }
      }
    }
    return true;
  }

  std::vector<LadderWork> works_of(const RunPlan& plan, const Bench& bench) {
    const std::string self = fs::canonical("/proc/self/exe").string();
    const std::string schedulers = Choices<harness::Scheduler>::written(arguments_.schedulers);
    std::vector<LadderWork> works;
    ladder_.workloads.reserve(plan.cases.size());
    for (std::size_t i = 0; i < plan.cases.size(); i += ladder_.rungs.size()) {
      const harness::Case& lowest = plan.cases[i];
      const std::string name(lowest.workload->name);
      Strings command{self,       name,        "--scheduler",
                      schedulers, "--workers", std::to_string(ladder_.workers)};
      for (const auto& [parameter, value] : lowest.parameters) {
        command.insert(command.end(), {"--param", fmt::format("{}={}", parameter, value)});
      }
      harness::SampleRequest request;
      for (std::size_t k = 0; k < ladder_.rungs.size(); ++k) {
        request.benchmarks.push_back(plan.cases[i + k].name());
      }
      static_cast<model::Sampling&>(request) = ladder_;
      request.timeout_s = timeout_s_;
      ladder_.workloads.push_back({name, {}});
      works.push_back(
          {harness::Program::find_out(std::move(command), bench.stop, {.timeout_s = timeout_s_}),
           std::move(request), &ladder_.workloads.back()});
    }
    return works;
  }

  /// Runs one process that does not count; every later one does as many iterations of each rung.
  bool fix_iterations(LadderWork& work, const Bench& bench) const {
    work.request.repetitions = 1;
    const auto measured =
        measure_next(work.program, work.request, harness::block_plan(ladder_.seed, -1), bench);
    if (!measured) return false;
    for (const model::Case& rung : measured->result.cases) {
      work.request.iterations[rung.name] = rung.repetitions.front().iterations;
    }
    work.request.repetitions = ladder_.repetitions;
    return true;
  }

  [[nodiscard]] ExitCode conclude(const std::stop_token& stop) const {
    const std::string json = json::to_json(ladder_);
    bool told = !json_ || write_output(json_, json, !quiet_);
    ExitCode reported = ExitCode::pass;
    if (report_) {
      ReportRequest request{*report_, {{"ladder.json", json}}};
      request.quiet = quiet_;
      request.write_if_interrupted = true;
      reported = write_report(render::document(ladder_), request, stop);
    }
    if (!quiet_) told = print_table(render::table(ladder_, table_style())) && told;
    return told ? reported : ExitCode::usage;
  }

  RunArguments arguments_;
  model::Ladder ladder_;
  double budget_s_ = 600;
  int max_blocks_ = 32;
  double timeout_s_ = kDefaultProcessTimeout_s;
  std::optional<fs::path> json_;
  std::optional<fs::path> report_;  ///< a folder
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> ladder_command() { return std::make_unique<LadderCommand>(); }

}  // namespace taskbench::cli
