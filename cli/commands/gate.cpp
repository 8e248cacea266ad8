// `taskbench gate`: what CI calls, and what fails when a change makes something slower.

#include "cli/commands/command.hpp"
#include "cli/options/paired_options.hpp"
#include "cli/output/signals.hpp"
#include "cli/trials/baseline_check.hpp"
#include "cli/trials/paired_judgement.hpp"
#include "reports/render/verdict_table.hpp"

namespace taskbench::cli {
namespace {

class GateCommand final : public Command {
 public:
  void declare(Options& options) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  [[nodiscard]] ExitCode gate_two_programs();
  [[nodiscard]] ExitCode gate_stored();
  [[nodiscard]] render::CommentStyle comment_style() const;

  PairedOptions options_{{.command = "gate",
                          .budget_s = 300,
                          .journal = "taskbench-gate.journal",
                          .replaces_journal = true,
                          .reports_failures = true}};
  std::optional<std::string> baseline_;
  std::string title_ = "taskbench";
  bool allow_busy_ = false;
};

void GateCommand::declare(Options& options) {
  options.app().description(
      "Compare two programs in CI, and report for reviewers.\n\n"
      "It measures and judges as `taskbench ab` does, or, with --baseline, one program as "
      "`taskbench baseline compare`. Other than these, it writes --markdown and --json also when a "
      "revision does not build or a program fails, and a journal that is there is started afresh "
      "without --resume. A benchmark that only one side has is reported but never fails the gate; "
      "when both have none in common, the status is 5. The comment's first line is hidden, and "
      "always the same: <!-- taskbench-gate -->. By it CI finds the comment to update.");
  options.app().footer(
      "Examples:\n"
      "  taskbench gate --base-rev origin/main --head-rev HEAD --markdown comment.md\n"
      "  taskbench gate --base old/my_benchmark --head new/my_benchmark --delta 5% --json "
      "gate.json\n"
      "  taskbench gate --base-rev \"$(git merge-base origin/main HEAD)\" --head-rev HEAD \\\n"
      "      --build 'make -j2 bench' --program build/bench --inconclusive pass\n"
      "  taskbench gate --baseline release --head build/release/cli/taskbench\n\n"
      "Exit status: 0 pass, 1 slower, 2 usage or input error, 3 inconclusive, 4 not the machine of "
      "the baseline, or it moved, 5 a program failed or could not be built, 130 interrupted.");
  options_.declare(options);
  options.group("What to compare");
  auto* baseline =
      options.value("--baseline", baseline_, "NAME", By{baseline_name},
                    "Compare --head with this stored baseline, as `taskbench baseline compare` "
                    "does.");
  options_.exclude_two_programs(baseline);
  declare_allow_busy(options, allow_busy_, "With --baseline: judge");
  options.app().get_option("--allow-busy")->needs(baseline);
  options.group("Output");
  options.value("--title", title_, "TEXT", Text{.may_be_empty = true},
                "What the comment's heading begins with.");
}

ExitCode GateCommand::execute(const Invocation&) {
  return baseline_ ? gate_stored() : gate_two_programs();
}

ExitCode GateCommand::gate_stored() {
  const PairedPlan plan = options_.given();
  BaselineCheck check;
  check.name = *baseline_;
  check.store = plan.store;
  check.program = plan.head.command;
  check.timeout_s = plan.timeout_s;
  check.allow_busy = allow_busy_;
  check.output = plan.output;
  check.replaces_journal = true;
  check.reports_failures = true;
  check.comment = comment_style();
  return check_baseline(check, options_.verdict(), stop_on_signals());
}

render::CommentStyle GateCommand::comment_style() const {
  return {.title = title_, .marked = true};
}

ExitCode GateCommand::gate_two_programs() {
  const PairedPlan plan = options_.plan();
  plan.output.refuse_unwritable();
  const PairedOutcome outcome = compare_programs(plan, stop_on_signals());
  return report(plan, outcome, options_.verdict(), comment_style());
}

}  // namespace

std::unique_ptr<Command> gate_command() { return std::make_unique<GateCommand>(); }

}  // namespace taskbench::cli
