#include "cli/options/paired_options.hpp"

#include <future>

#include "harness/files/near_miss.hpp"
#include "harness/files/stored.hpp"
#include "harness/os/cpu_affinity.hpp"
#include "harness/programs/documentation.hpp"
#include "harness/programs/layouts.hpp"
#include "harness/trials/counted_trial.hpp"
#include "harness/trials/paired_trial.hpp"
#include "reports/model/date.hpp"
#include "reports/model/run.hpp"
#include "reports/perf/instruction_kinds.hpp"
#include "reports/verdict/merged.hpp"

namespace taskbench::cli {
namespace {

bool is_inside(const fs::path& path) {
  const auto normal = path.lexically_normal();
  return !normal.is_absolute() && *normal.begin() != "..";
}

/// Parses a program's command. Its path must be below the worktree; otherwise two revisions would
/// be compared using the same file.
std::string parse_program(std::string_view option, const Strings& given) {
  const std::string program = Text{}.parse(option, given);
  Strings words;
  try {
    words = harness::split_command(program);
  } catch (const std::invalid_argument& error) {
    refuse("{} '{}': {}", option, program, error.what());
  }
  if (is_inside(words.front())) return program;
  refuse("{} '{}': give a path from the root of the checkout", option, program);
}

struct Documentation {
  [[nodiscard]] static Strings parse(std::string_view option, const Strings& given) {
    Strings patterns = parse_list(option, given);
    for (std::string& pattern : patterns) {  // --help shows a blank after each comma
      pattern.erase(0, std::min(pattern.find_first_not_of(' '), pattern.size()));
    }
    if (patterns == Strings{std::string(kNoDocumentation)}) return {};
    for (const std::string& pattern : patterns) {
      if (!pattern.empty() && is_inside(pattern)) continue;
      refuse("{} '{}': give a pattern of paths from the root of the repository", option, pattern);
    }
    return patterns;
  }
  [[nodiscard]] static std::string written(const Strings& patterns) {
    return patterns.empty() ? std::string(kNoDocumentation) : joined(patterns, ",");
  }
};

/// Parses "3/8".
harness::PartOf parse_part(std::string_view option, const Strings& given) {
  const std::string& text = single(option, given);
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) {
    refuse("{} '{}': give I/N, such as 3/8: the third of eight parts", option, text);
  }
  const auto number = [&](const std::string& digits, int most) {
    return static_cast<int>(
        parse_whole_number(option, digits, 1, static_cast<std::uint64_t>(most)));
  };
  const int of = number(text.substr(slash + 1), model::kMostBlocks);
  return {.number = number(text.substr(0, slash), of), .of = of};
}

fs::path parse_folder(std::string_view option, const Strings& given) {
  const fs::path folder = Path{}.parse(option, given);
  std::error_code failed;
  if (fs::is_directory(folder, failed)) return folder;
  refuse("{} '{}': there is no such folder", option, folder.string());
}

Strings parse_outputs(std::string_view option, const Strings& given) {
  const Strings names = parse_list(option, given);
  for (const std::string& name : names) {
    if (is_inside(name)) continue;
    refuse("{} '{}': give a path from the folder of the program, or from the root of the checkout",
           option, name);
  }
  return names;
}

struct Instructions {
  [[nodiscard]] static bool parse(std::string_view option, const Strings& given) {
    const std::string& text = single(option, given);
    if (text == model::kInstructionsExact) return true;
    refuse(
        "{}: '{}' cannot be judged here, only {} can (the scheduler's own counters and the CPU "
        "time are always reported)",
        option, text, model::kInstructionsExact);
  }
  [[nodiscard]] static std::string written(bool value) {
    return value ? std::string(model::kInstructionsExact) : std::string();
  }
  [[nodiscard]] static OptionValues offered() {
    return {OptionValues::Kind::one_of, {std::string(model::kInstructionsExact)}};
  }
};

constexpr OnlySide kOnlySides[] = {
    {"base", true, false}, {"head", false, true}, {"both", true, true}};

/// The values of --exact: whether benchmarks are counted without an explicit request.
constexpr Named<bool> kExact[] = {{"auto", true}, {"off", false}};

/// The values of --missing: whether parts may be missing; and those of --unit.
constexpr Named<bool> kMissing[] = {{"refuse", false}, {"ok", true}};
constexpr Named<std::optional<model::Unit>> kVerdictUnits[] = {
    {"auto", std::nullopt}, {"block", model::Unit::block}, {"machine", model::Unit::machine}};

/// The values of --acknowledge: the instructions, and each of their kinds.
Strings names_of_counts() {
  Strings names{model::kInstructions};
  for (const perf::InstructionKind& kind : perf::instruction_kinds()) names.emplace_back(kind.name);
  return names;
}

Strings parse_acknowledged(std::string_view option, const Strings& given) {
  Strings names = parse_list(option, given);
  const Strings known = names_of_counts();
  for (const std::string& name : names) {
    if (!contains(known, name)) refuse("{}: {}", option, unknown_name("count", name, known));
  }
  return names;
}

/// The options whose values in `plan` and `other` differ.
Repeated differing_options(PairedPlan plan, PairedPlan other) {
  return cli::differing_options([&](Options& options) { plan.declare(options); },
                                [&](Options& options) { other.declare(options); });
}

/// The options that differ from ab's defaults; always seed and delta, which readers want to see.
std::string repeating_options(const PairedPlan& plan) {
  PairedPlan usual(false);
  usual.setup.seed = ~plan.setup.seed;
  usual.setup.delta = -1;
  std::string text;
  for (const auto& [option, repeated] : differing_options(plan, usual)) text += repeated;
  return text;
}

/// Refuses an option that differs from its value when the trial began. The budget, the timeout and
/// the acknowledged counts may change.
void refuse_other_options(const PairedPlan& plan, const Invocation& invocation,
                          const model::PairedSetup& then) {
  PairedPlan begun = plan;
  begun.setup = then;
  begun.setup.budget_s = plan.setup.budget_s;
  begun.setup.timeout_s = plan.setup.timeout_s;
  begun.setup.acknowledged = plan.setup.acknowledged;
  model::PairedSetup chosen = then;
  keep_chosen(benchmark_names(plan.workloads, then.benchmarks), chosen);
  if (chosen.benchmarks != then.benchmarks) begun.workloads.clear();
  refuse_given(differing_options(plan, begun), invocation,
               plan.journal.path.string() +
                   " was started with another; leave the option out, or start a new trial");
}

/// The trials in these journals; empty for a part that died at once, if some may be missing. Uses
/// all CPUs, since reading takes longer than everything after it.
std::vector<std::optional<model::PairedTrial>> read_parts(const Strings& paths,
                                                          bool may_miss_some) {
  std::vector<std::optional<model::PairedTrial>> trials(paths.size());
  std::vector<std::future<void>> parts(paths.size());
  const auto read = [&](std::size_t i) {
    try {
      trials[i] = harness::read_journal(Journal{}.parse("--merge", {paths[i]}));
    } catch (const reports::json::JournalNotBegun&) {
      if (!may_miss_some) throw;
    }
  };
  const std::size_t at_once = usable_cpu_count();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (i >= at_once) parts[i - at_once].wait();
    parts[i] = std::async(std::launch::async, read, i);
  }
  for (std::future<void>& part : parts) part.get();  // rethrows the first failure
  return trials;
}

}  // namespace

PairedPlan::PairedPlan(bool for_gate) {
  is_gate = for_gate;
  documentation = parse_list("", {std::string(kDefaultDocumentation)});
  setup.budget_s = is_gate ? 300 : 600;
  setup.links = harness::kDefaultLayouts;
  setup.counts_first = true;
  setup.timeout_s = kDefaultProcessTimeout_s;
  journal.path = fmt::format("taskbench-{}.journal", command());
}

void PairedPlan::declare(Options& options) {
  options.group("What to compare", false);  // the repeating command names these itself
  options.value("--base", base.command, "CMD", Text{},
                "What to compare with. A pattern such as 'old/bench-*' or '{a,b}/bench' means "
                "several executables of one build, linked differently, which take turns.");
  options.value("--head", head.command, "CMD", Text{}, "What may be slower; likewise.");
  options
      .value("--base-rev", base.revision, "REV", Text{},
             "A git revision to build and use instead of --base.")
      ->excludes(options["--base"]);
  options
      .value("--head-rev", head.revision, "REV", Text{},
             "A git revision to build and use instead of --head.")
      ->excludes(options["--head"]);
  options.group("What to compare");
  options
      .value("--workload", workloads, "NAME[,NAME...]", BenchmarkNames{},
             "Benchmarks to compare: names, or beginnings of names.")
      ->default_str("all that both have");

  options.group("How to build a revision");
  options
      .value("--build", recipe.build, "CMD", Text{},
             "Command that builds a revision; `sh -c` runs it in the root of the checkout. CFLAGS "
             "and CXXFLAGS are yours, or else '-g -O2', and contain -ffile-prefix-map and "
             "-ffunction-sections, and SOURCE_DATE_EPOCH is set, so that equal sources give equal "
             "bytes; a Makefile's `CFLAGS ?= -O3` then has no effect (docs/programs.md). "
             "COMPILER_PATH (for Rust, PATH) leads to programs that record how it links.")
      ->default_str("builds taskbench");
  options
      .value("--program", recipe.program, "CMD", By{parse_program},
             "What to run from a revision: a path in its checkout, or, with --kind, a program in "
             "PATH such as python3; and arguments.")
      ->default_str(recipe.program);
  options.value("--links", setup.links, "N", Number{1, model::kMostLayouts},
                "Link each revision this many times, with its code in a different order each time, "
                "and let these executables take turns; otherwise, where the linker puts a loop "
                "can look like a change. 1: measure it as built.");
  options.group("How to build a revision", false);
  options
      .value("--cache", recipe.cache, "DIR", Path{},
             "Where revisions are built, and kept for the next time.")
      ->default_str("~/.cache/taskbench/revisions");
  options.value(
      "--build-only", only, "SIDE", Choice<OnlySide>{"side", kOnlySides},
      "Only build base, head or both, for later use; builds nothing if nothing would be measured.");
  options.value("--out", out, "DIR", Path{},
                "With --build-only both: put both programs there, in all layouts, for --programs. "
                "What --outputs and --cwd name is put there, too.");
  options["--out"]->needs(options["--build-only"]);

  options.group("How to measure");
  options.value("--budget", setup.budget_s, "TIME", Duration{1, kMaxBudget_s},
                "Start no block that would exceed this time. Unless --repetitions or --min-time is "
                "given, repetitions are fewer and shorter where 16 blocks would not fit, and "
                "longer where starting the program takes most of the time.");
  options
      .value(
          "--changed-first", setup.changed_first, "GLOB[,GLOB...]", By{parse_list},
          "Benchmarks to measure first if the budget is too small for all; * matches any part of a "
          "name. Between revisions, benchmarks named like a changed file also come first.")
      ->default_str("those that seem slower");
  options
      .value("--max-blocks", setup.max_blocks, "N", Number{1, model::kMostBlocks},
             "Maximum number of blocks.")
      ->default_str(fmt::format("{}, or {} in parts", model::kDefaultMaxBlocks,
                                model::kDefaultMaxBlocksInParts));
  declare_sampling(options, setup, setup.timeout_s);
  declare_kind(options, setup.kind);
  options
      .value("--cwd", cwd, "DIR", Path{},
             "Where the programs run: a path in each checkout, or one folder for both.")
      ->default_str("the root of a revision's checkout; for --base and --head the current folder");
  options.value(
      "--exact", setup.counts_first, "WHEN", OneOf<bool>{"value", kExact},
      fmt::format("Before anything is timed, count exactly what both execute, in {:g} % of a "
                  "budget of {} or more. An increase in what costs most is a FAIL of its own: "
                  "fences, locked instructions, divisions, system calls, allocations and their "
                  "bytes. Benchmarks with more instructions are listed, and timed first. off: "
                  "count nothing.",
                  100 * harness::kCountingShare,
                  model::duration_text(harness::kLeastBudgetToCount_s)));
  options.value("--counters", setup.counts_instructions, std::string(model::kInstructionsExact),
                Instructions{},
                "Count all benchmarks, however long that takes, on top of the budget; more "
                "instructions are a FAIL, too.");
  options.value(
      "--acknowledge", setup.acknowledged, "KIND[,KIND...]",
      By{parse_acknowledged, OptionValues{OptionValues::Kind::list_of, names_of_counts()}},
      fmt::format("Counts that may grow: {}. They are shown, and fail nothing.",
                  joined(names_of_counts(), ", ")));
  declare_judged(options, setup.judged);
  options.flag(
      "--explain", explain,
      fmt::format("After a FAIL, show which functions execute more, counting what was not counted "
                  "before; takes at most the rest of the budget, and {:g} s.",
                  harness::kMostExplaining_s));

  options.group("Many machines", false);
  auto* built = options.value(
      "--programs", programs, "DIR", By{parse_folder, Path::offered()},
      "The folder that --out wrote, on any machine; replaces --base-rev and --head-rev.");
  for (const char* other : {"--base", "--head", "--base-rev", "--head-rev", "--build", "--program",
                            "--links", "--cache", "--build-only"}) {
    built->excludes(options[other]);
  }
  options.value("--part", part, "I/N", By{parse_part},
                "Measure every Nth block of the trial, starting with the Ith, into the --journal, "
                "without a verdict: --merge gives it once all parts are measured, on any machines. "
                "All parts need the same options; --budget is per part. Part 1 also counts "
                "(--exact).");
  options["--part"]->excludes(options["--build-only"]);

  options.group("When nothing is measured");
  options.flag("--run-identical", run_identical,
               "Measure even identical programs, which otherwise pass without a run.");
  options
      .value("--documentation", documentation, "GLOB[,GLOB...]", Documentation{},
             "Files that no build and no benchmark reads, from the root of the repository: "
             "revisions that differ in nothing else are neither built nor measured. * matches part "
             "of a name, ** any folders; 'none': no files.")
      ->default_str(joined(documentation));
  options
      .value("--outputs", outputs, "PATH[,PATH...]", By{parse_outputs},
             "All files and folders that decide how fast the programs are, besides the "
             "executables: from the root of a revision's checkout, or the folder of --base and "
             "--head. If the executables and these are equal, nothing is measured.")
      ->default_str("anything");
  for (const bool is_base : {true, false}) {
    const std::string side = is_base ? "--base" : "--head";
    options
        .value(side + "-root", (is_base ? base : head).root, "DIR", By{parse_folder},
               fmt::format("The folder with everything that the program of {} reads or loads, "
                           "except what both read. If it equals the other side's, nothing is "
                           "measured.",
                           side))
        ->excludes(options[side + "-rev"])
        ->excludes(options["--programs"]);
  }
  options["--base-root"]->needs(options["--head-root"]);
  options["--head-root"]->needs(options["--base-root"]);

  verdict.declare(options, setup.delta, setup.alpha,
                  "Chance that any wall time fails although nothing is slower; CPU times, and each "
                  "metric of --judge, have the same chance again.");
  options.value("--store", store, "FOLDER", Path{}, "Where noise floors and baselines are kept.");
  output.declare(
      options, journal,
      is_gate ? "Continue the trial of the journal if there is one; otherwise start afresh."
              : "Continue the trial of the journal; of a complete one, print the verdict again.",
      "Write verdicts and samples.");
  options["--part"]->needs(options["--journal"]);
  declare_merge(options);
}

void PairedPlan::declare_merge(Options& options) {
  const std::vector<CLI::Option*> others = options.all();
  options.group("Many machines", false);
  auto* merging = options.value("--merge", merge, "JOURNAL...", AsGiven{Path::offered()},
                                "Judge the trial from the journals of its parts.");
  merging->allow_extra_args(true);
  for (CLI::Option* other : others) {
    const std::string group = other->get_group();
    const std::string name = other->get_name();
    const bool is_of_output = group == "Output" && name != "--journal" && name != "--resume";
    const bool is_refused_with_a_way_out = name == "--explain";
    if (!is_of_output && !is_refused_with_a_way_out && name != "--inconclusive" &&
        name != "--acknowledge" && name != "--help") {
      merging->excludes(other);
    }
  }
  options
      .value("--missing", may_miss_some, "MEANING", OneOf<bool>{"meaning", kMissing},
             "What --merge does if parts are missing or have not ended: refuse, or ok, which "
             "judges the blocks that are there.")
      ->needs(merging);
  options
      .value("--rounds", rounds, "N", Number{1, model::kMostBlocks},
             "Number of looks, which share the chance of an error: the first at one block of each "
             "part, the next at two, the last at the end. With more than one, parts may still be "
             "running.")
      ->needs(merging);
  options
      .value("--unit", unit, "UNIT", OneOf<std::optional<model::Unit>>{"unit", kVerdictUnits},
             fmt::format(
                 "What the verdict is about. block: these machines, all blocks pooled. machine: "
                 "machines like these, each one observation. auto: machine from {} on.",
                 verdict::kEnoughMachines))
      ->needs(merging);
}

void PairedPlan::refuse_to_explain(std::string_view option, std::string_view why) const {
  if (!explain) return;
  refuse(
      "--explain with {}: {}; for what --merge calls a FAIL, run: taskbench {} --programs DIR "
      "--workload NAME --explain",
      option, why, command());
}

model::PairedTrial PairedPlan::merged() const {
  refuse_to_explain("--merge", "journals do not have the programs, which it runs once more");
  std::vector<verdict::PartFile> files;
  std::vector<std::optional<model::PairedTrial>> trials = read_parts(merge, may_miss_some);
  for (std::size_t i = 0; i < merge.size(); ++i) {
    if (trials[i]) files.push_back({merge[i], *std::move(trials[i])});
  }
  try {
    model::PairedTrial trial = verdict::merge(
        std::move(files), {.may_miss_some = may_miss_some, .rounds = rounds, .unit = unit});
    if (!setup.acknowledged.empty()) trial.setup.acknowledged = setup.acknowledged;
    return trial;
  } catch (const verdict::MergeError& error) {
    refuse("--merge: {}", error.what());
  }
}

void PairedPlan::complete(const Invocation& invocation) {
  const bool has_both = (base.given() && head.given()) || !programs.empty();
  if (!journal.resume && !has_both) {
    refuse("{} needs two programs: --base CMD or --base-rev REV, and --head CMD or --head-rev REV",
           command());
  }
  if (only != nullptr) {
    if (base.revision.empty() || head.revision.empty()) {
      refuse("--build-only needs --base-rev and --head-rev");
    }
    if (!out.empty() && !(only->base && only->head)) refuse("--out needs --build-only both");
    if (only->base) build_only.push_back(model::Side::base);
    if (only->head) build_only.push_back(model::Side::head);
  }
  const bool has_revision = !base.revision.empty() || !head.revision.empty();
  if (invocation.given("--links") && !has_revision && has_both) {
    refuse(
        "--links: only a revision (--base-rev, --head-rev) can be linked again; of programs give "
        "several each, linked differently: --base 'old/*' --head 'new/*'");
  }
  if (has_revision && cwd.is_relative() && !cwd.empty() && !is_inside(cwd)) {
    refuse("--cwd '{}': give a path from the root of the checkout, or an absolute one",
           cwd.string());
  }
  if (part) refuse_to_explain("--part", "a part has no verdict that could be explained");
  if (part && !invocation.given("--max-blocks")) {
    setup.max_blocks = model::kDefaultMaxBlocksInParts;
  }
  if (part && part->of > setup.max_blocks) {
    refuse("--part {}/{}: there are only {} blocks (--max-blocks)", part->number, part->of,
           setup.max_blocks);
  }
  repeating_options = cli::repeating_options(*this);
  if (has_revision) {
    recipe.cache = fs::absolute(recipe.cache.empty() ? default_cache() : recipe.cache);
  }
  journal.is_named = invocation.given("--journal");
  journal.is_replaced = is_gate && has_both;
  program_is_given = invocation.given("--program");
  budget_is_given = invocation.given("--budget");
  timeout_is_given = invocation.given("--timeout");
  acknowledged_is_given = invocation.given("--acknowledge");
  if (setup.counts_instructions) setup.counts_first = false;  // all are counted
  // Parts on different machines would make different choices.
  setup.fits_budget =
      !invocation.given("--repetitions") && !invocation.given("--min-time") && !part;
  refuse_other_options = [this, &invocation](const model::PairedSetup& then) {
    cli::refuse_other_options(*this, invocation, then);
  };
}

}  // namespace taskbench::cli
