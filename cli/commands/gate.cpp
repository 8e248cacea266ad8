#include "cli/commands/gate.hpp"

#include "cli/paired_judgement.hpp"
#include "cli/signals.hpp"
#include "cli/values.hpp"

namespace taskbench::cli {
namespace {

constexpr const char* kDefaultTitle = "taskbench";

}  // namespace

void GateCommand::declare(CLI::App& app, OptionValueTable& values) {
  app.description(
      "Compare two programs in CI, and report for reviewers.\n\n"
      "It measures and judges as `taskbench ab` does. Other than that, it writes --markdown and\n"
      "--json also when a revision does not build or a program fails, and a journal that is there "
      "is\n"
      "begun anew without --resume. A benchmark that only one side has is told and fails nothing;\n"
      "when both have none in common, the status is 5. The comment's first line is hidden, and\n"
      "always the same: <!-- taskbench-gate -->. By it CI finds the comment to update.");
  app.footer(
      "Examples:\n"
      "  taskbench gate --base-rev origin/main --head-rev HEAD --markdown comment.md\n"
      "  taskbench gate --base old/my_benchmark --head new/my_benchmark --delta 5% --json "
      "gate.json\n"
      "  taskbench gate --base-rev \"$(git merge-base origin/main HEAD)\" --head-rev HEAD \\\n"
      "      --build 'make -j2 bench' --program build/bench --inconclusive pass\n"
      "\n"
      "Exit status: 0 pass, 1 slower, 2 usage or input error, 3 inconclusive, 5 a program failed\n"
      "or could not be built, 130 interrupted.");
  options_.declare(app, values);
  auto* title =
      add_valued(app, "--title", title_, "TEXT", "What the comment's heading begins with.");
  title->default_str(kDefaultTitle)->group("Output");
}

ExitCode GateCommand::execute(const Invocation&) {
  // A change is judged against a program or, when --baseline names one, against what was stored:
  // this is where the latter branches off.
  return gate_two_programs();
}

ExitCode GateCommand::gate_two_programs() {
  const PairedPlan plan = options_.plan();
  reports::render::CommentStyle style;
  style.title = parse_single("--title", title_).value_or(kDefaultTitle);
  style.marked = true;
  refuse_unwritable(plan);
  const PairedOutcome outcome = compare_programs(plan, stop_on_signals());
  return report(plan, outcome, options_.verdict(), style);
}

}  // namespace taskbench::cli
