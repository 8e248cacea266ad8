// `taskbench gate`: the command for CI. It fails if a change makes something slower.
#include "cli/commands/baseline_check.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/paired_judgement.hpp"
#include "cli/options/paired_options.hpp"
#include "reports/render/verdict_table.hpp"

namespace taskbench::cli {
namespace {

class GateCommand final : public Command {
  void declare(Options& options) override {
    options.describe(
        "Compare two programs in CI, and report for reviewers.\n\n"
        "Measures and judges as `taskbench ab` does, or, with --baseline, one program as "
        "`taskbench baseline compare` does. Unlike these, it also writes --markdown and --json "
        "when a revision does not build or a program fails, and overwrites an existing journal "
        "unless --resume is given. A benchmark that only one side has is reported but never fails "
        "the gate; if the two have none in common, the status is 5. If only the revision of base "
        "does not build or fails, the result is inconclusive, so that what repairs it can pass; "
        "but what was found slower before base failed is a FAIL. "
        "The comment's first line is hidden, and always the same: <!-- taskbench-gate -->. CI "
        "finds the comment to update by it.",
        "Examples:\n"
        "  taskbench gate --base-rev origin/main --head-rev HEAD --markdown comment.md\n"
        "  taskbench gate --base old/my_benchmark --head new/my_benchmark --delta 5% --json "
        "gate.json\n"
        "  taskbench gate --base-rev \"$(git merge-base origin/main HEAD)\" --head-rev HEAD \\\n"
        "      --build 'make -j2 bench' --program build/bench --inconclusive pass\n"
        "  taskbench gate --base-rev origin/main --head-rev HEAD --build true --kind pytest \\\n"
        "      --program 'python3 -m pytest bench'\n"
        "  taskbench gate --baseline release --head build/release/cli/taskbench\n"
        "  taskbench gate --base-rev origin/main --head-rev HEAD --build-only both --out built\n"
        "  taskbench gate --programs built --part 3/8 --journal part-3.journal\n"
        "  taskbench gate --merge part-*.journal --markdown comment.md\n\n"
        "Exit status: 0 pass, 1 slower or costs more by exact count, 2 usage or input error, 3 "
        "inconclusive, 4 not the baseline's machine, or it has changed, 5 a program failed or "
        "could not be built, 130 interrupted.");
    plan_.declare(options);
    // A baseline determines how to measure; the remaining options concern head and the verdict.
    std::vector<CLI::Option*> two_programs = options.all();
    std::erase_if(two_programs, [](const CLI::Option* option) {
      const std::string name = option->get_name();
      const std::string group = option->get_group();
      return name == "--head" || name == "--timeout" || group == "Verdict" || group == "Output" ||
             name == "--help";
    });
    options.group("What to compare");
    auto* baseline = options.value(
        "--baseline", baseline_, "NAME", By{baseline_name},
        "Compare --head with this stored baseline, as `taskbench baseline compare` does.");
    for (CLI::Option* other : two_programs) baseline->excludes(other);
    declare_allow_busy(options, allow_busy_, "With --baseline: judge")->needs(baseline);
    options.group("Output");
    options.value("--title", title_, "TEXT", Text{.may_be_empty = true},
                  "What the comment's heading begins with.");
  }

  ExitCode execute(const Invocation& invocation) override {
    const render::CommentStyle style{.title = title_, .marked = true};
    if (!baseline_) return compare_programs(plan_, invocation, style);
    BaselineCheck check;
    check.name = *baseline_;
    check.store = plan_.store;
    check.program = plan_.head.command;
    check.timeout_s = plan_.setup.timeout_s;
    check.allow_busy = allow_busy_;
    check.alpha = plan_.setup.alpha;
    check.delta = plan_.setup.delta;
    check.verdict = plan_.verdict;
    check.journal = plan_.journal;
    check.output = plan_.output;
    check.is_gate = true;
    check.comment = style;
    return check_baseline(check, invocation);
  }

  PairedPlan plan_{true};
  std::optional<std::string> baseline_;
  std::string title_ = "taskbench";
  bool allow_busy_ = false;
};

}  // namespace

std::unique_ptr<Command> gate_command() { return std::make_unique<GateCommand>(); }

}  // namespace taskbench::cli
