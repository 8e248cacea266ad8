#include "cli/paired_options.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "cli/baseline_store.hpp"
#include "cli/noise_floors.hpp"
#include "cli/usage_error.hpp"
#include "cli/values.hpp"
#include "reports/model/event_count.hpp"
#include "workloads/measure/program.hpp"

namespace taskbench::cli {
namespace {

using Kind = OptionValues::Kind;

constexpr double kMinBudget_s = 1;
constexpr int kMaxPairedBlocks = 1000;

std::string parse_text(std::string_view name, const std::vector<std::string>& given,
                       std::string_view otherwise = {}) {
  const auto text = parse_single(name, given);
  if (!text) return std::string(otherwise);
  if (text->empty()) throw UsageError(fmt::format("{}: it is empty", name));
  return *text;
}

ProgramSource parse_source(std::string_view name, const std::vector<std::string>& command,
                           const std::vector<std::string>& revision) {
  const std::string revision_name = fmt::format("{}-rev", name);
  ProgramSource source{parse_text(name, command), parse_text(revision_name, revision)};
  if (!source.command.empty() && !source.revision.empty()) {
    throw UsageError(fmt::format("give {} or {}, not both", name, revision_name));
  }
  return source;
}

bool is_inside(const std::filesystem::path& path) {
  const auto normal = path.lexically_normal();
  return !normal.is_absolute() && *normal.begin() != "..";
}

/// Below the worktree, or two revisions would be compared by the same file.
void require_inside(const std::string& program) {
  std::vector<std::string> words;
  try {
    words = workloads::measure::split_command(program);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--program '{}': {}", program, error.what()));
  }
  if (!is_inside(words.front())) {
    throw UsageError(fmt::format(
        "--program '{}': its path begins in the root of what was checked out", program));
  }
}

}  // namespace

void PairedOptions::declare(CLI::App& app, OptionValueTable& values) {
  declare_programs(app, values);
  declare_measurement(app, values);
  verdict_.declare(app, values);
  auto* store =
      add_valued(app, "--store", store_, "FOLDER", "Where noise floors and baselines are kept.");
  store->default_str(std::string(kDefaultStore));
  values.set(store, {Kind::file, {}});
  store->group("Verdict");
  output_.declare(
      app, values,
      policy_.replaces_journal
          ? "Go on with the trial of the journal, if there is one; otherwise it is begun anew."
          : "Go on with the trial of the journal; of a complete one, print the verdict again.",
      "Write verdicts and samples.");
}

void PairedOptions::declare_programs(CLI::App& app, OptionValueTable& values) {
  auto* base = add_valued(app, "--base", base_, "CMD", "What is compared with.");
  auto* head = add_valued(app, "--head", head_, "CMD", "What may be slower.");
  auto* base_rev = add_valued(app, "--base-rev", base_rev_, "REV",
                              "A git revision to build and take in place of --base.");
  auto* head_rev = add_valued(app, "--head-rev", head_rev_, "REV",
                              "A git revision to build and take in place of --head.");
  auto* workload = add_valued(app, "--workload", workloads_, "NAME[,NAME...]",
                              "Benchmarks to compare, by their names or what these begin with.");
  workload->default_str("all that both have");
  for (auto* option : {base, head, base_rev, head_rev, workload}) option->group("What to compare");

  auto* build = add_valued(app, "--build", build_, "CMD",
                           "What builds a revision, for `sh -c` in the root of its checkout. So "
                           "that equal sources give equal bytes, -ffile-prefix-map is in CFLAGS "
                           "and CXXFLAGS, and SOURCE_DATE_EPOCH is set.");
  build->default_str("builds taskbench");
  auto* program = add_valued(app, "--program", program_, "CMD",
                             "What to run of a revision: a path in its checkout, and arguments.");
  program->default_str(std::string(kDefaultProgram));
  auto* cache = add_valued(app, "--cache", cache_, "DIR",
                           "Where revisions are built, and kept for the next time.");
  cache->default_str("~/.cache/taskbench/revisions");
  values.set(cache, {Kind::file, {}});
  for (auto* option : {build, program, cache}) option->group("How to build a revision");
}

void PairedOptions::declare_measurement(CLI::App& app, OptionValueTable& values) {
  const PairedPlan defaults;
  auto* budget = add_valued(app, "--budget", budget_, "TIME",
                            "No further block is begun when this time would be exceeded.");
  budget->default_str(fmt::format("{:g}m", policy_.budget_s / 60));
  auto* blocks = add_valued(app, "--max-blocks", max_blocks_, "N", "Most blocks.");
  blocks->default_str(std::to_string(defaults.setup.max_blocks));
  process_.declare(app);
  auto* counters =
      add_valued(app, "--counters", counters_, reports::model::kInstructionsExact,
                 "Count the instructions of both, too, besides the budget, and judge them.");
  values.set(counters, {Kind::one_of, {reports::model::kInstructionsExact}});
  auto* identical =
      app.add_flag("--run-identical", run_identical_,
                   "Measure identical programs, too, which otherwise pass without a run.");
  auto* outputs = add_valued(
      app, "--outputs", outputs_, "PATH[,PATH...]",
      "Files and folders that decide how fast the programs are, besides the executables: from the "
      "root of a revision's checkout, or the folder of --base and --head. When these are equal, "
      "too, nothing is measured.");
  outputs->default_str("all that lies beside the executables");
  for (auto* option : {budget, blocks, counters, identical, outputs}) {
    option->group("How to measure");
  }
}

PairedPlan PairedOptions::plan() {
  verdict_.parse();
  PairedPlan plan;
  plan.policy = policy_;
  plan.run_identical = run_identical_;
  plan.output = output_.plan();
  plan_programs(plan);
  plan_measurement(plan);
  plan.store = parse_path("--store", store_).value_or(kDefaultStore);
  plan.outputs = parse_list("--outputs", outputs_);
  for (const std::string& name : plan.outputs) {
    if (is_inside(name)) continue;
    throw UsageError(fmt::format(
        "--outputs '{}': its path begins in the folder of the program, or in the root of what was "
        "checked out",
        name));
  }
  return plan;
}

StoredPlan PairedOptions::plan_stored(std::string_view option) {
  const auto refuse = [&](std::string_view name, bool given) {
    if (given) throw UsageError(fmt::format("{} and {} exclude each other", option, name));
  };
  refuse("--base", !base_.empty());
  refuse("--base-rev", !base_rev_.empty());
  refuse("--head-rev", !head_rev_.empty());
  refuse("--build", !build_.empty());
  refuse("--program", !program_.empty());
  refuse("--cache", !cache_.empty());
  refuse("--workload", !workloads_.empty());
  refuse("--budget", !budget_.empty());
  refuse("--max-blocks", !max_blocks_.empty());
  for (const std::string_view each : process_.given()) refuse(each, true);
  refuse("--counters", !counters_.empty());
  refuse("--run-identical", run_identical_);
  refuse("--outputs", !outputs_.empty());
  verdict_.parse();
  StoredPlan plan;
  plan.program = parse_text("--head", head_);
  plan.store = parse_path("--store", store_).value_or(kDefaultStore);
  plan.timeout_s = process_.timeout_s();
  plan.output = output_.plan();
  return plan;
}

void PairedOptions::plan_programs(PairedPlan& plan) const {
  plan.base = parse_source("--base", base_, base_rev_);
  plan.head = parse_source("--head", head_, head_rev_);
  if (!plan.output.resume && (!plan.base.given() || !plan.head.given())) {
    throw UsageError(fmt::format(
        "{} needs two programs: --base CMD or --base-rev REV, and --head CMD or --head-rev REV",
        policy_.command));
  }
  plan.recipe.build = parse_text("--build", build_, kDefaultBuild);
  plan.recipe.program = parse_text("--program", program_, kDefaultProgram);
  require_inside(plan.recipe.program);
  const auto cache = parse_path("--cache", cache_);
  if (plan.base.revision.empty() && plan.head.revision.empty()) return;
  plan.recipe.cache = std::filesystem::absolute(cache ? *cache : default_cache());
}

void PairedOptions::plan_measurement(PairedPlan& plan) const {
  reports::model::PairedSetup& setup = plan.setup;
  setup.alpha = verdict_.alpha();
  setup.delta = verdict_.delta();
  process_.apply_to(setup);
  plan.budget_s = policy_.budget_s;
  plan.timeout_s = process_.timeout_s();
  if (const auto text = parse_single("--max-blocks", max_blocks_)) {
    setup.max_blocks =
        static_cast<int>(parse_whole_number("--max-blocks", *text, 1, kMaxPairedBlocks));
  }
  if (const auto text = parse_single("--budget", budget_)) {
    plan.budget_s = parse_duration_s("--budget", *text, kMinBudget_s, kMaxBudget_s);
  }
  setup.budget_s = plan.budget_s;
  setup.timeout_s = plan.timeout_s;
  setup.counts_instructions = parse_counters();
  const auto note = [&](std::string_view option, const Given& values) {
    if (!values.empty()) plan.given.insert(option);
  };
  for (const std::string_view each : process_.given()) plan.given.insert(each);
  note("--budget", budget_);
  if (process_.is_timeout_given()) plan.given.insert("--timeout");
  note("--max-blocks", max_blocks_);
  note("--counters", counters_);
  note("--workload", workloads_);
  if (verdict_.is_delta_given()) plan.given.insert("--delta");
  if (verdict_.is_alpha_given()) plan.given.insert("--alpha");
  plan.workloads = parse_list("--workload", workloads_);
}

bool PairedOptions::parse_counters() const {
  const auto text = parse_single("--counters", counters_);
  if (!text) return false;
  if (*text == reports::model::kInstructionsExact) return true;
  throw UsageError(fmt::format(
      "--counters: '{}' is none that {} judges; there is {} (the scheduler's own counters and the "
      "CPU time are always told)",
      *text, policy_.command, reports::model::kInstructionsExact));
}

}  // namespace taskbench::cli
