// `taskbench ab`: compares two programs in blocks of fresh processes.
#include "cli/commands/command.hpp"
#include "cli/commands/paired_judgement.hpp"
#include "cli/options/paired_options.hpp"

namespace taskbench::cli {
namespace {

class AbCommand final : public Command {
  void declare(Options& options) override {
    options.describe(
        "Compare two programs, and say whether the second is slower.\n\n"
        "Both run in fresh processes, two of each in a block, in random order. A benchmark passes, "
        "fails, or stays inconclusive; the table says how large a slowdown was detectable. A "
        "program is taskbench, with options of `taskbench run`, a benchmark of Google Benchmark, "
        "Go, Catch2 or Rust, or, with --kind, one of Python or Java, any command, or whatever "
        "prints its times; --base-rev and --head-rev build it from a git revision, once, and keep "
        "it.",
        "Examples:\n"
        "  taskbench ab --base old/taskbench --head new/taskbench\n"
        "  taskbench ab --base 'old/taskbench --workers 2' --head 'new/taskbench --workers 2' \\\n"
        "      --workload ping_pong --budget 5m --json ab.json\n"
        "  taskbench ab --base build-main/my_benchmark --head build-pr/my_benchmark\n"
        "  taskbench ab --base-rev main --head-rev HEAD\n"
        "  taskbench ab --base-rev v1.2 --head-rev HEAD --program out/my_benchmark \\\n"
        "      --build 'cmake -B out -DCMAKE_BUILD_TYPE=Release && cmake --build out'\n"
        "  taskbench ab --kind command --base 'old/tool big.txt' --head 'new/tool big.txt'\n"
        "  taskbench ab --resume\n"
        "  taskbench ab --base old/bench --head new/bench --part 1/2 --journal part-1.journal\n"
        "  taskbench ab --merge part-1.journal part-2.journal\n\n"
        "Exit status: 0 pass, 1 slower or costs more by exact count, 2 usage or input error, 3 "
        "inconclusive, 5 a program failed or could not be built, 130 interrupted.");
    plan_.declare(options);
  }

  ExitCode execute(const Invocation& invocation) override {
    return compare_programs(plan_, invocation, {});
  }

  PairedPlan plan_{false};
};

}  // namespace

std::unique_ptr<Command> ab_command() { return std::make_unique<AbCommand>(); }

}  // namespace taskbench::cli
