#include "cli/options/paired_options.hpp"

#include <stdexcept>

#include "reports/model/event_count.hpp"
#include "workloads/measure/program.hpp"

namespace taskbench::cli {
namespace {

constexpr double kMinBudget_s = 1;
constexpr int kMaxPairedBlocks = 1000;

bool is_inside(const fs::path& path) {
  const auto normal = path.lexically_normal();
  return !normal.is_absolute() && *normal.begin() != "..";
}

/// Below the worktree, or two revisions would be compared by the same file.
std::string parse_program(std::string_view option, const Strings& given) {
  const std::string program = Text{}.parse(option, given);
  Strings words;
  try {
    words = measure::split_command(program);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{} '{}': {}", option, program, error.what()));
  }
  if (is_inside(words.front())) return program;
  throw UsageError(
      fmt::format("{} '{}': its path begins in the root of what was checked out", option, program));
}

Strings parse_outputs(std::string_view option, const Strings& given) {
  const Strings names = parse_list(option, given);
  for (const std::string& name : names) {
    if (is_inside(name)) continue;
    throw UsageError(fmt::format(
        "{} '{}': its path begins in the folder of the program, or in the root of what was checked "
        "out",
        option, name));
  }
  return names;
}

bool parse_instructions(std::string_view option, const Strings& given) {
  const std::string& text = single(option, given);
  if (text == model::kInstructionsExact) return true;
  throw UsageError(fmt::format(
      "{}: '{}' cannot be judged here, only {} can (the scheduler's own counters and the CPU time "
      "are always reported)",
      option, text, model::kInstructionsExact));
}

}  // namespace

PairedOptions::PairedOptions(const PairedPolicy& policy) : output_(policy.journal) {
  plan_.policy = policy;
  plan_.budget_s = policy.budget_s;
}

void PairedOptions::declare(Options& options) {
  app_ = &options.app();
  declare_programs(options);
  declare_measurement(options);
  verdict_.declare(options);
  options.value("--store", plan_.store, "FOLDER", Path{},
                "Where noise floors and baselines are kept.");
  output_.declare(
      options,
      plan_.policy.replaces_journal
          ? "Go on with the trial of the journal, if there is one; otherwise it is started afresh."
          : "Go on with the trial of the journal; of a complete one, print the verdict again.",
      "Write verdicts and samples.");
}

void PairedOptions::declare_programs(Options& options) {
  options.group("What to compare");
  auto* base = options.value("--base", plan_.base.command, "CMD", Text{}, "What is compared with.");
  auto* head = options.value("--head", plan_.head.command, "CMD", Text{}, "What may be slower.");
  options
      .value("--base-rev", plan_.base.revision, "REV", Text{},
             "A git revision to build and take in place of --base.")
      ->excludes(base);
  options
      .value("--head-rev", plan_.head.revision, "REV", Text{},
             "A git revision to build and take in place of --head.")
      ->excludes(head);
  options
      .value("--workload", plan_.workloads, "NAME[,NAME...]", List{},
             "Benchmarks to compare, by their names or what these begin with.")
      ->default_str("all that both have");
  options.group("How to build a revision");
  options
      .value("--build", plan_.recipe.build, "CMD", Text{},
             "What builds a revision, for `sh -c` in the root of its checkout. So that equal "
             "sources give equal bytes, -ffile-prefix-map is in CFLAGS and CXXFLAGS, and "
             "SOURCE_DATE_EPOCH is set.")
      ->default_str("builds taskbench");
  options
      .value("--program", plan_.recipe.program, "CMD", By{parse_program},
             "What to run of a revision: a path in its checkout, and arguments.")
      ->default_str(plan_.recipe.program);
  options
      .value("--cache", plan_.recipe.cache, "DIR", Path{},
             "Where revisions are built, and kept for the next time.")
      ->default_str("~/.cache/taskbench/revisions");
}

void PairedOptions::declare_measurement(Options& options) {
  options.group("How to measure");
  options.value("--budget", plan_.budget_s, "TIME", Duration{kMinBudget_s, kMaxBudget_s},
                "No further block is begun when this time would be exceeded.");
  options.value("--max-blocks", plan_.setup.max_blocks, "N", Number{1, kMaxPairedBlocks},
                "Most blocks.");
  process_.declare(options);
  const std::string counter{model::kInstructionsExact};
  options.value("--counters", plan_.setup.counts_instructions, counter,
                By{parse_instructions, OptionValues{OptionValues::Kind::one_of, {counter}}},
                "Count the instructions of both, too, besides the budget, and judge them.");
  options.flag("--run-identical", plan_.run_identical,
               "Measure identical programs, too, which otherwise pass without a run.");
  options
      .value("--outputs", plan_.outputs, "PATH[,PATH...]", By{parse_outputs},
             "Files and folders that decide how fast the programs are, besides the executables: "
             "from the root of a revision's checkout, or the folder of --base and --head. When "
             "these are equal, too, nothing is measured.")
      ->default_str("all that lies beside the executables");
}

void PairedOptions::exclude_two_programs(CLI::Option* option) {
  for (const char* name : {"--base", "--base-rev", "--head-rev", "--workload", "--build",
                           "--program", "--cache", "--budget", "--max-blocks", "--repetitions",
                           "--min-time", "--seed", "--counters", "--run-identical", "--outputs"}) {
    option->excludes(app_->get_option_no_throw(name));
  }
}

PairedPlan PairedOptions::given() const {
  PairedPlan plan = plan_;
  plan.output = output_.plan();
  plan.timeout_s = process_.timeout_s();
  for (const CLI::Option* option : app_->get_options()) {
    if (option->count() > 0) plan.given.insert(option->get_name());
  }
  return plan;
}

PairedPlan PairedOptions::plan() const {
  PairedPlan plan = given();
  if (!plan.output.resume && (!plan.base.given() || !plan.head.given())) {
    throw UsageError(fmt::format(
        "{} needs two programs: --base CMD or --base-rev REV, and --head CMD or --head-rev REV",
        plan.policy.command));
  }
  if (!plan.base.revision.empty() || !plan.head.revision.empty()) {
    fs::path& cache = plan.recipe.cache;
    cache = fs::absolute(cache.empty() ? default_cache() : cache);
  }
  process_.apply_to(plan.setup);
  plan.setup.alpha = verdict_.alpha();
  plan.setup.delta = verdict_.delta();
  plan.setup.budget_s = plan.budget_s;
  plan.setup.timeout_s = plan.timeout_s;
  return plan;
}

}  // namespace taskbench::cli
