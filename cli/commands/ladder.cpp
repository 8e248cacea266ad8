// `taskbench ladder`: measures the gain of each step from tokio01 to work_stealing.
#include "harness/trials/ladder.hpp"
#include "cli/commands/command.hpp"
#include "cli/options/run_plan.hpp"
#include "cli/options/trial_options.hpp"
#include "cli/output/output.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/report_writer.hpp"
#include "cli/output/signals.hpp"
#include "harness/machine/environment.hpp"
#include "harness/machine/machine.hpp"
#include "harness/os/cpu_affinity.hpp"
#include "reports/json/writer.hpp"
#include "reports/render/render.hpp"

namespace taskbench::cli {
namespace {

constexpr std::size_t kMostLadderBytes = 1 << 22;

class LadderCommand final : public Command {
  void declare(Options& options) override {
    options.describe(
        "Measure what each step from tokio01 to work_stealing gives.\n\n"
        "Each workload is measured on tokio01, on eleven schedulers that add one step each, and on "
        "work_stealing: a queue of fixed size, the LIFO slot, and so on in the order of Tokio's "
        "article on its rewrite (2019), then our own steps (`taskbench list rungs`). A fresh "
        "process measures all of them in random order; only times from the same process are "
        "compared.",
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
    options.value("--budget", plan_.budget_s, "TIME", Duration{1, kMaxBudget_s},
                  "Start no block that would exceed this time.");
    options.value("--max-blocks", plan_.max_blocks, "N", Number{1, 1000},
                  "Maximum number of blocks (processes) per workload. Intervals need 8.");
    declare_sampling(options, ladder_, plan_.timeout_s);
    options.group("Output");
    auto* format = declare_format(options, format_);
    options.value("--json", json_, "FILE", Path{}, "Write the steps, and every block.");
    options.value("--report", report_, "DIR", Path{},
                  "Write a page with a waterfall of each workload, as Markdown too, into this "
                  "folder.");
    options.flag("--quiet", quiet_, "Print no progress and no result; needs --json or --report.")
        ->excludes(format);
  }

  ExitCode execute(const Invocation&) override {
    arguments_.schedulers.clear();
    for (const auto& rung : ladder()) {
      arguments_.schedulers.push_back(rung.scheduler);
      ladder_.rungs.push_back(
          {std::string(rung.scheduler->name), std::string(rung.step), rung.is_ours});
    }
    arguments_.workers = {ladder_.workers};
    plan_.cases = plan_run(arguments_, usable_cpu_count()).cases;
    if (quiet_ && !json_ && !report_) {
      throw UsageError(
          "--quiet without --json or --report would throw the result away; add one of them");
    }
    refuse_unwritable(json_, kMostLadderBytes);
    if (report_) refuse_unwritable_report(*report_);
    const auto environment = probe_environment("");
    ladder_.date = environment.date;
    ladder_.commit = environment.git_commit;
    ladder_.machine = probe_machine().machine;
    const std::stop_token stop = stop_on_signals();
    try {
      const Ending ending = climb(plan_, listener_on_a_line(quiet_), stop, ladder_);
      if (ending == Ending::complete) return conclude(stop);
    } catch (const ProgramError& error) {
      return fail_measurement(error);
    }
    print_note("interrupted; the results are partial");
    ladder_.partial = true;
    static_cast<void>(conclude({}));  // drawn even then
    return ExitCode::interrupted;
  }

  [[nodiscard]] ExitCode conclude(const std::stop_token& stop) const {
    const render::Document document = render::document(ladder_);
    const std::string json = json::to_json(ladder_);
    bool told = write_output(json_, json, !quiet_);
    ExitCode reported = ExitCode::pass;
    if (report_) {
      ReportRequest request{*report_, {{"ladder.json", json}}};
      request.quiet = quiet_;
      request.write_if_interrupted = true;
      reported = write_report(document, request, stop);
    }
    if (!quiet_) {
      told = print_answer({.document = document, .json = [&] { return json; }}, *format_) && told;
    }
    return told ? reported : ExitCode::usage;
  }

  RunArguments arguments_;
  model::Ladder ladder_;
  LadderPlan plan_;
  const render::Format* format_ = nullptr;
  std::optional<fs::path> json_;
  std::optional<fs::path> report_;  ///< a folder
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> ladder_command() { return std::make_unique<LadderCommand>(); }

}  // namespace taskbench::cli
