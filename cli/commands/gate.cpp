#include "cli/commands/gate.hpp"

#include "cli/baseline_check.hpp"
#include "cli/commands/baseline_measured.hpp"
#include "cli/paired_judgement.hpp"
#include "cli/signals.hpp"
#include "cli/usage_error.hpp"
#include "cli/values.hpp"

namespace taskbench::cli {
namespace {

constexpr const char* kDefaultTitle = "taskbench";

}  // namespace

void GateCommand::declare(CLI::App& app, OptionValueTable& values) {
  app.description(
      "Compare two programs in CI, and report for reviewers.\n\n"
      "It measures and judges as `taskbench ab` does, or, with --baseline, one program as\n"
      "`taskbench baseline compare`. Other than these, it writes --markdown and --json also when "
      "a\n"
      "revision does not build or a program fails, and a journal that is there is begun anew\n"
      "without --resume. A benchmark that only one side has is told and fails nothing; when both\n"
      "have none in common, the status is 5. The comment's first line is hidden, and always the\n"
      "same: <!-- taskbench-gate -->. By it CI finds the comment to update.");
  app.footer(
      "Examples:\n"
      "  taskbench gate --base-rev origin/main --head-rev HEAD --markdown comment.md\n"
      "  taskbench gate --base old/my_benchmark --head new/my_benchmark --delta 5% --json "
      "gate.json\n"
      "  taskbench gate --base-rev \"$(git merge-base origin/main HEAD)\" --head-rev HEAD \\\n"
      "      --build 'make -j2 bench' --program build/bench --inconclusive pass\n"
      "  taskbench gate --baseline release --head build/release/cli/taskbench\n"
      "\n"
      "Exit status: 0 pass, 1 slower, 2 usage or input error, 3 inconclusive, 4 not the machine "
      "of\n"
      "the baseline, or it moved, 5 a program failed or could not be built, 130 interrupted.");
  options_.declare(app, values);
  add_valued(app, "--baseline", baseline_, "NAME",
             "Compare --head with this stored baseline, as `taskbench baseline compare` does.")
      ->group("What to compare");
  declare_allow_busy(app, allow_busy_, "With --baseline: judge");
  auto* title =
      add_valued(app, "--title", title_, "TEXT", "What the comment's heading begins with.");
  title->default_str(kDefaultTitle)->group("Output");
}

ExitCode GateCommand::execute(const Invocation&) {
  if (!baseline_.empty()) return gate_stored();
  if (allow_busy_) throw UsageError("--allow-busy is for --baseline only");
  return gate_two_programs();
}

ExitCode GateCommand::gate_stored() {
  const StoredPlan plan = options_.plan_stored("--baseline");
  BaselineCheck check;
  check.name = parse_baseline_name(baseline_);
  check.store = plan.store;
  check.program = plan.program;
  check.timeout_s = plan.timeout_s;
  check.allow_busy = allow_busy_;
  check.output = plan.output;
  check.replaces_journal = true;
  check.reports_failures = true;
  check.comment = comment_style();
  return check_baseline(check, options_.verdict(), stop_on_signals());
}

reports::render::CommentStyle GateCommand::comment_style() const {
  reports::render::CommentStyle style;
  style.title = parse_single("--title", title_).value_or(kDefaultTitle);
  style.marked = true;
  return style;
}

ExitCode GateCommand::gate_two_programs() {
  const PairedPlan plan = options_.plan();
  plan.output.refuse_unwritable();
  const PairedOutcome outcome = compare_programs(plan, stop_on_signals());
  return report(plan, outcome, options_.verdict(), comment_style());
}

}  // namespace taskbench::cli
