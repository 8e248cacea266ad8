#include "cli/commands/paired_judgement.hpp"

#include <algorithm>
#include <stdexcept>

#include "cli/output/output.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/signals.hpp"
#include "harness/machine/environment.hpp"
#include "harness/machine/machine.hpp"
#include "harness/trials/baseline_store.hpp"
#include "harness/trials/identity.hpp"
#include "harness/trials/measured_process.hpp"
#include "harness/trials/paired_trial.hpp"
#include "harness/trials/revision.hpp"
#include "harness/trials/stored.hpp"
#include "reports/json/paired.hpp"
#include "reports/model/date.hpp"
#include "reports/model/event_count.hpp"
#include "reports/render/effort.hpp"
#include "reports/render/paired.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::cli {
namespace {

using harness::NotMeasurable;
using harness::Program;
using harness::ProgramError;
using model::Side;

constexpr double kSilence_s = 2;  // that nobody wonders about
constexpr std::size_t kFilesInASentence = 3;

/// "a, b, c and 2 more"
std::string some_of(const Strings& files) {
  const std::size_t shown = std::min(files.size(), kFilesInASentence);
  const std::size_t more = files.size() - shown;
  return joined(std::span(files).first(shown)) +
         (more > 0 ? fmt::format(" and {} more", more) : std::string());
}

/// There is nothing to judge: the reason, and the exit code for it.
class Failed : public std::runtime_error {
 public:
  explicit Failed(model::PairedFailure failure, ExitCode code = ExitCode::measured_program_failed)
      : std::runtime_error(failure.message), failure_(std::move(failure)), code_(code) {}
  [[nodiscard]] const model::PairedFailure& failure() const { return failure_; }
  [[nodiscard]] ExitCode code() const { return code_; }

 private:
  model::PairedFailure failure_;
  ExitCode code_;
};

/// A command that compares the same two programs in the same way.
std::string reproduction(const PairedPlan& plan, const model::PairedSetup& setup) {
  std::string text = "taskbench ab";
  const auto add = [&](std::string_view option, const std::string& value, bool is_usual) {
    if (!is_usual) text += fmt::format(" {} {}", option, quoted(value));
  };
  for (const Side side : kBothSides) {
    const std::string option = fmt::format("--{}", name_of(side));
    const ProgramSource& source = of(plan, side);
    if (source.revision.empty()) {
      add(option, source.command, false);
    } else {
      add(option + "-rev", abbreviated(of(setup, side).commit), false);
    }
  }
  add("--build", plan.recipe.build, plan.recipe.build == kDefaultBuild);
  add("--program", plan.recipe.program, plan.recipe.program == kDefaultProgram);
  for (const std::string& names : plan.workloads) add("--workload", names, false);
  add("--cwd", plan.cwd.string(), plan.cwd.empty());
  const model::PairedSetup usual = PairedPlan(false).setup;
  const auto add_number = [&](std::string_view option, auto value, auto usually,
                              std::string_view unit) {
    add(option, fmt::format("{:g}{}", static_cast<double>(value), unit), value == usually);
  };
  text += fmt::format(" --seed {} --delta {:g}%", setup.seed, 100 * setup.delta);
  add_number("--alpha", 100 * setup.alpha, 100 * usual.alpha, "%");
  add_number("--budget", setup.budget_s, usual.budget_s, "s");
  add_number("--timeout", setup.timeout_s, usual.timeout_s, "s");
  add_number("--max-blocks", setup.max_blocks, usual.max_blocks, "");
  add_number("--repetitions", setup.repetitions, usual.repetitions, "");
  add_number("--min-time", setup.min_time_s, usual.min_time_s, "s");
  if (plan.run_identical) text += " --run-identical";
  const Strings usually = PairedPlan(false).documentation;
  const Strings& patterns = plan.documentation;
  add("--documentation", patterns.empty() ? std::string(kNoDocumentation) : joined(patterns, ","),
      patterns == usually);
  add("--outputs", joined(plan.outputs, ","), plan.outputs.empty());
  for (const Side side : kBothSides) {
    const fs::path& root = of(plan, side).root;
    add(fmt::format("--{}-root", name_of(side)), root.string(), root.empty());
  }
  if (setup.counts_instructions) text += fmt::format(" --counters {}", model::kInstructionsExact);
  return text;
}

/// One comparison: what was asked for, and its state so far.
class Comparison {
 public:
  Comparison(const PairedPlan& plan, const Invocation& invocation,
             const render::CommentStyle& style, const std::stop_token& stop)
      : plan_(plan), invocation_(invocation), style_(style), stop_(stop) {
    trial_.setup = plan.setup;
    trial_.setup.fits_budget =
        !invocation.given("--repetitions") && !invocation.given("--min-time");
  }

  ExitCode run() {
    try {
      return judge();
    } catch (const UsageError&) {
      if (!stop_.stop_requested()) throw;
      return interrupted();
    }
  }

 private:
  using Stage = model::PairedFailure::Stage;

  ExitCode judge() {
    resolve();
    if (plan_.build_only != nullptr) return build_only(plan_.build_only->side);
    const bool resumes = take_journal();
    // A complete trial is judged again without its programs, which may be gone.
    if (trial_.end) return report();
    try {
      if (!resumes && !plan_.run_identical && have_equal_sources()) return conclude_unbuilt();
      for (const Side side : kBothSides) build(side);
      const Program base = find_program(Side::base);
      return compare({base, find_program(Side::head)}, resumes);
    } catch (const Failed& failed) {
      return conclude(failed);
    }
  }

  /// Builds one side only, and prints whether it has built anything.
  ExitCode build_only(Side side) {
    if (have_equal_sources()) {
      print_note("nothing was built, because {}", why_identical_);
      return ExitCode::pass;
    }
    try {
      build(side);
    } catch (const Failed& failed) {
      return stop_.stop_requested() ? interrupted() : fail(failed.failure(), failed.code());
    }
    const bool printed =
        plan_.output.quiet || print_result(fmt::format("built {} {}\n", name_of(side),
                                                       abbreviated(program(side).commit)));
    return printed ? ExitCode::pass : ExitCode::usage;
  }

  [[nodiscard]] ProgressLine progress() const { return ProgressLine(plan_.output.quiet); }

  [[nodiscard]] model::PairedProgram& program(Side side) { return of(trial_.setup, side); }
  [[nodiscard]] fs::path& root(Side side) { return roots_[side == Side::base ? 0 : 1]; }

  /// Looks up the commits of the revisions: a journal may be of other commits.
  void resolve() {
    for (const Side side : kBothSides) {
      const ProgramSource& source = of(plan_, side);
      program(side).command = source.command;
      if (source.revision.empty()) continue;
      if (!repository_) repository_.emplace(stop_);
      program(side).revision = source.revision;
      program(side).commit =
          repository_->commit_of(fmt::format("--{}-rev", name_of(side)), source.revision);
    }
    if (plan_.base.given() && plan_.head.given()) {
      trial_.setup.reproduce = reproduction(plan_, trial_.setup);
    }
    for (const Side side : kBothSides) program(side).cwd = where_it_runs(side).string();
    if (repository_ && !plan_.output.quiet && compares_head() &&
        !repository_->uncommitted_files(false).empty()) {
      print_note("uncommitted changes are not measured: HEAD is compared as it was committed");
    }
  }

  /// The folder that a side's program runs in, as the journal records it.
  [[nodiscard]] fs::path where_it_runs(Side side) const {
    const bool is_revision = !of(plan_, side).revision.empty();
    if (plan_.cwd.empty()) return is_revision ? fs::path(".") : fs::current_path();
    const fs::path normal = (is_revision ? plan_.cwd : fs::absolute(plan_.cwd)).lexically_normal();
    return normal.has_filename() ? normal : normal.parent_path();  // "data/"
  }

  /// Whether the revisions have equal files, except for some that no program sees. If so, neither
  /// is built; if not, records what differs.
  bool have_equal_sources() {
    const model::PairedProgram& base = trial_.setup.base;
    const model::PairedProgram& head = trial_.setup.head;
    if (base.commit.empty() || head.commit.empty()) return false;
    const auto difference =
        difference_in_documentation(*repository_, base.commit, head.commit, plan_.documentation);
    doubt_ = difference.doubt;
    if (!difference.holds) return false;
    if (!difference.changed.empty()) {
      why_identical_ = fmt::format("the commits differ only in what counts as documentation: {}",
                                   some_of(difference.changed));
    } else if (base.commit == head.commit) {
      why_identical_ = fmt::format("base and head are one commit, {}", abbreviated(base.commit));
    } else {
      why_identical_ = "the two commits have the same files";
    }
    if (const Strings files = repository_->uncommitted_files(true);
        !plan_.output.quiet && compares_head() && !files.empty()) {
      print_note("what is not committed was not looked at: {}", some_of(files));
    }
    return true;
  }

  [[nodiscard]] bool compares_head() {
    const auto head = repository_->find_commit("HEAD");
    return head && (*head == trial_.setup.base.commit || *head == trial_.setup.head.commit);
  }

  /// Reads the journal of --resume. True if its trial continues.
  bool take_journal() {
    const fs::path& journal = plan_.output.journal;
    if (!plan_.output.resume ||
        (plan_.is_gate && plan_.base.given() && plan_.head.given() && !fs::exists(journal))) {
      make_room_for_journal(journal, invocation_.given("--journal"), plan_.is_gate, "trial",
                            [&] { return harness::read_journal(journal).end.has_value(); });
      return false;
    }
    const model::PairedSetup asked = std::move(trial_.setup);
    trial_ = harness::read_journal(journal);
    for (const Side side : kBothSides) refuse_other_program(asked, side);
    refuse_other_options(asked);
    if (!trial_.end) (void)harness::LineFile::resume(journal);  // it can be written
    // An option that is not given beside --resume keeps the value that the trial was started with.
    const auto limit = [&](const char* option, double given, double begun_with) {
      return begun_with > 0 && !invocation_.given(option) ? begun_with : given;
    };
    budget_s_ = limit("--budget", asked.budget_s, trial_.setup.budget_s);
    timeout_s_ = limit("--timeout", asked.timeout_s, trial_.setup.timeout_s);
    return true;
  }

  /// Refuses a program that is not the journal's: the verdict would be taken for that of other
  /// programs.
  void refuse_other_program(const model::PairedSetup& asked, Side side) {
    const model::PairedProgram& then = program(side);
    const model::PairedProgram& now = of(asked, side);
    const std::string journal = plan_.output.journal.string();
    const std::string started = then.commit.empty() ? then.command : abbreviated(then.commit);
    if (!now.commit.empty() && then.commit != now.commit) {
      refuse("--{}-rev: {} is {}, but {} was started with {}; start a new trial", name_of(side),
             now.revision, abbreviated(now.commit), journal, started);
    }
    if (!plan_.cwd.empty() && now.cwd != then.cwd) {
      refuse("--cwd: {} was started with {} in '{}'; leave the option out, or start a new trial",
             journal, name_of(side), then.cwd.empty() ? "." : then.cwd);
    }
    if (!trial_.end && !then.commit.empty() && then.cwd.empty()) {
      refuse(
          "{} was started by an older taskbench, which ran revisions in the current folder; start "
          "a new trial",
          journal);
    }
    if (of(plan_, side).command.empty()) return;
    if (then.command != now.command || !then.commit.empty()) {
      refuse("--{}: {} was started with '{}', not '{}'; start a new trial", name_of(side), journal,
             started, now.command);
    }
    // For a complete trial, a program that is gone or does not answer any more is not needed.
    if (!trial_.end) return;
    const std::string digest = harness::digest_of_program(harness::split_command(now.command));
    if (!digest.empty() && digest != then.digest)
      refuse_rebuilt(then.command, plan_.output.journal);
  }

  void refuse_other_options(const model::PairedSetup& asked) const {
    const model::PairedSetup& then = trial_.setup;
    const Strings chosen = benchmark_names(plan_.workloads, then.benchmarks);
    const bool same_workloads = std::ranges::all_of(
        then.benchmarks, [&](const auto& name) { return is_chosen(chosen, name); });
    const std::pair<const char*, bool> same[] = {
        {"--delta", asked.delta == then.delta},
        {"--alpha", asked.alpha == then.alpha},
        {"--seed", asked.seed == then.seed},
        {"--repetitions", asked.repetitions == then.repetitions},
        {"--min-time", asked.min_time_s == then.min_time_s},
        {"--max-blocks", asked.max_blocks == then.max_blocks},
        {"--counters", asked.counts_instructions == then.counts_instructions},
        {"--workload", same_workloads},
    };
    for (const auto& [option, is_same] : same) {
      if (is_same || !invocation_.given(option)) continue;
      refuse("{}: {} was started with another; leave the option out, or start a new trial", option,
             plan_.output.journal.string());
    }
  }

  void build(Side side) {
    if (of(plan_, side).revision.empty()) return;
    const std::string name = fmt::format("{} {}", name_of(side), abbreviated(program(side).commit));
    ProgressLine line = progress();
    try {
      BuiltRevision built =
          build_revision(*repository_, plan_.recipe, name, program(side).commit, stop_,
                         [&](const std::string& text) { line.show(text); });
      program(side).command = std::move(built.command);
      root(side) = std::move(built.source);
    } catch (const BuildError& error) {
      line.clear();
      throw Failed({.stage = error.is_built() ? Stage::start : Stage::build,
                    .side = side,
                    .message = error.what(),
                    .lines = error.last_lines()});
    }
  }

  /// The folder that a side's processes run in; empty for the current folder.
  [[nodiscard]] fs::path folder_of(Side side) {
    const fs::path cwd = program(side).cwd;
    if (program(side).commit.empty()) return cwd == fs::current_path() ? fs::path() : cwd;
    return cwd == "." ? root(side) : root(side) / cwd;
  }

  /// Finds a side's program. A command that is no program is a mistake of its author, and one that
  /// crashes has failed; a revision that was built has failed in both cases. Whoever reads the
  /// comment on a pull request wants to know of either.
  Program find_program(Side side) {
    const std::string& command = program(side).command;
    const bool is_built = !program(side).commit.empty();
    const fs::path folder = folder_of(side);
    if (!folder.empty() && !fs::is_directory(folder)) {
      const std::string message = fmt::format("{} has no folder {} to run in; --cwd names another",
                                              name_of(side), program(side).cwd);
      if (!is_built) throw UsageError("--cwd: " + message);
      throw Failed({.stage = Stage::start, .side = side, .message = message});
    }
    ProgressLine line = progress();
    const auto waiting = [&](double elapsed_s) {
      if (elapsed_s < kSilence_s) return;
      line.show("asking {} what it measures, {}", name_of(side), model::duration_text(elapsed_s));
    };
    try {
      return Program::find_out(harness::split_command(command), stop_,
                               {.timeout_s = timeout_s_, .waiting = waiting, .folder = folder});
    } catch (const std::invalid_argument& error) {
      refuse("--{} '{}': {}", name_of(side), command, error.what());
    } catch (const ProgramError& error) {
      line.clear();
      const auto* mistake = is_built ? nullptr : dynamic_cast<const NotMeasurable*>(&error);
      const std::string message =
          is_built ? error.what() : fmt::format("--{}: {}", name_of(side), error.what());
      if (mistake != nullptr && !plan_.is_gate) throw UsageError(message);
      const bool is_usage = mistake != nullptr && !mistake->has_failed();
      throw Failed({.stage = Stage::start, .side = side, .message = message},
                   is_usage ? ExitCode::usage : ExitCode::measured_program_failed);
    }
  }

  ExitCode compare(const TrialPrograms& programs, bool resumes) {
    const Bench bench{stop_, timeout_s_};
    try {
      if (!resumes && !plan_.run_identical && are_the_same(programs, bench)) {
        return conclude_identical();
      }
      measure(programs, bench, resumes);
      return trial_.end ? report() : interrupted();
    } catch (const SideError& error) {
      std::string benchmark = error.benchmark();
      if (benchmark.empty() && plan_.is_gate && !stop_.stop_requested()) {
        benchmark = failing_benchmark(programs, error.side(), trial_.setup, bench);
      }
      fail_measuring(error, std::move(benchmark));
    } catch (const ProgramError& error) {
      const Strings& failing = trial_.setup.failing_in_base;
      if (failing.empty()) throw Failed({.stage = Stage::compare, .message = error.what()});
      throw Failed(
          {.stage = Stage::compare,
           .side = Side::base,
           .message = fmt::format("{}; base fails in {}", error.what(), some_of(failing))});
    }
  }

  [[noreturn]] void fail_measuring(const SideError& error, std::string benchmark) {
    std::string message = error.what();
    if (!program(error.side()).commit.empty()) {
      message += fmt::format("; it ran in {} (--cwd)", folder_of(error.side()).string());
    }
    throw Failed({.stage = Stage::measure,
                  .side = error.side(),
                  .benchmark = std::move(benchmark),
                  .message = message});
  }

  [[nodiscard]] harness::InstalledProgram installed(const TrialPrograms& programs, Side side) {
    const fs::path& named = of(plan_, side).root;
    return {&of(programs, side), named.empty() ? root(side) : named, !named.empty()};
  }

  /// Whether the two programs cannot differ in anything that is measured. Prints a note if only the
  /// executables are equal.
  bool are_the_same(const TrialPrograms& programs, const Bench& bench) {
    harness::Identity identity;
    try {
      identity = harness::identity_of(installed(programs, Side::base),
                                      installed(programs, Side::head), plan_.outputs, stop_);
    } catch (const harness::NoSuchOutput& error) {
      refuse("--outputs: {}", error.what());
    }
    if (!identity.holds()) {
      if (!identity.doubt.empty() && !plan_.output.quiet) {
        print_note("the executables are equal, byte for byte, but {}: both are measured. {}",
                   doubt_.empty() || !plan_.outputs.empty() ? identity.doubt : doubt_,
                   how_to_be_sure());
      }
      return false;
    }
    // A program that answers every query in the same way is no benchmark, and must not pass as
    // equal.
    if (!programs.base.lists_by_filter(stop_)) {
      if (!plan_.output.quiet) {
        print_note(
            "the programs are equal, but do not surely use Google Benchmark: they list the same "
            "whatever --benchmark_filter says. Both are measured");
      }
      return false;
    }
    if (!plan_.workloads.empty()) {  // a name that matches no benchmark must not pass
      model::PairedSetup found = trial_.setup;
      find_benchmarks(programs, bench, found);
    }
    why_identical_ = identity.reason;
    return true;
  }

  [[nodiscard]] std::string how_to_be_sure() const {
    return fmt::format("--outputs names the files that matter, if only some do{}",
                       trial_.setup.base.commit.empty() && trial_.setup.head.commit.empty()
                           ? "; --base-root and --head-root name the folders that have all of them"
                           : "");
  }

  void find_benchmarks(const TrialPrograms& programs, const Bench& bench,
                       model::PairedSetup& setup) const {
    ProgressLine line = progress();
    Strings known = programs.base.listed();
    known.insert(known.end(), programs.head.listed().begin(), programs.head.listed().end());
    const Strings chosen = benchmark_names(plan_.workloads, known);
    explore(programs, chosen, bench, setup, [&] {
      if (line.elapsed_s() < kSilence_s) return;
      line.show("running both once, to see what they measure, {}",
                model::duration_text(line.elapsed_s()));
    });
    keep_chosen(chosen, setup);
  }

  void measure(const TrialPrograms& programs, const Bench& bench, bool resumes) {
    model::PairedSetup& setup = trial_.setup;
    for (const Side side : kBothSides) {
      const std::string digest = of(programs, side).digest();
      if (resumes && program(side).digest != digest) {
        refuse_rebuilt(program(side).command, plan_.output.journal);
      }
      program(side).digest = digest;
    }
    if (!resumes) {
      find_benchmarks(programs, bench, setup);
      setup.noise_floors = noise_floors(plan_.store, harness::probe_machine(), setup.benchmarks,
                                        harness::probe_environment("").date);
    }
    harness::LineFile journal =
        resumes ? harness::LineFile::resume(plan_.output.journal)
                : harness::LineFile::create(plan_.output.journal, json::journal_line(setup));
    ProgressLine line = progress();
    count_instructions(
        programs, bench, [&](const std::string& text) { line.show(text); }, journal, trial_);
    bool has_predicted = false;
    const auto show = [&](const TrialProgress& now) {
      if (now.blocks > 0 && !std::exchange(has_predicted, true)) predict(line);
      std::string text =
          fmt::format("block {} of at most {}, {} of {}", now.blocks + 1, setup.max_blocks,
                      model::duration_text(now.spent_s), model::duration_text(budget_s_));
      const double left = budget_s_ - now.spent_s;
      if (left >= 0.5) text += fmt::format(", at most {} left", model::duration_text(left));
      line.show(text);
    };
    run_trial(programs, bench, budget_s_, true, show, journal, trial_);
  }

  /// Says, as soon as the duration of a block is known, what the budget cannot decide.
  void predict(ProgressLine& line) const {
    if (plan_.output.quiet) return;
    const int blocks = verdict::blocks_within(trial_, budget_s_);
    const verdict::Reach reach = verdict::reach_of(trial_, blocks);
    const std::string text = render::reach_text(reach, trial_.setup);
    if (text.empty()) return;
    line.clear();
    print_note("a block takes {:.2g} s: {}", reach.block_s, text);
  }

  ExitCode report() const {
    const verdict::PairedReport judged = verdict::judge(trial_);
    return conclude({.table = render::table(trial_, judged, table_style()),
                     .markdown = render::markdown(trial_, judged, style_),
                     .csv = render::csv(judged),
                     .json = json::to_json(trial_, judged)},
                    judged.overall, {judged.could_fail, judged.blind});
  }

  ExitCode conclude(const Verdicts& verdicts, verdict::Verdict overall,
                    const Sight& sight = {}) const {
    return plan_.output.conclude(verdicts) ? plan_.verdict.exit_code(overall, sight)
                                           : ExitCode::usage;
  }

  /// Passes revisions that were not built, unless the program is known to be no benchmark.
  ExitCode conclude_unbuilt() {
    try {
      Strings unchecked;
      if (!has_checked_program()) unchecked.push_back("--program " + quoted(plan_.recipe.program));
      if (!plan_.workloads.empty()) unchecked.emplace_back("--workload");
      if (!unchecked.empty()) {
        why_identical_ +=
            fmt::format("; nothing was built, so that {} {} not checked",
                        render::names_text(unchecked), unchecked.size() == 1 ? "was" : "were");
      }
    } catch (const Failed& failed) {
      return stop_.stop_requested() ? interrupted() : fail(failed.failure(), failed.code());
    }
    return conclude_identical();
  }

  /// Asks the program of revisions that are not built, if it is there already: built earlier, or in
  /// the working tree. False if it is not, if it cannot start there, or if its answers leave in
  /// doubt whether it is a benchmark. Throws Failed.
  bool has_checked_program() {
    for (const Side side : {Side::head, Side::base}) {
      if (!is_cached(*repository_, plan_.recipe, program(side).commit)) continue;
      build(side);
      return find_program(side).lists_by_filter(stop_);
    }
    const fs::path tree = repository_->working_tree();
    Strings words = harness::split_command(plan_.recipe.program);
    const std::string name = words.front();
    words.front() = (tree / name).string();
    if (tree.empty() || !fs::exists(words.front())) return false;
    const auto failed = [&](const std::string& problem) {
      return Failed({.stage = Stage::start,
                     .message = fmt::format("--program, in {}: {}", tree.string(), problem)});
    };
    if (auto problem = harness::why_not_runnable(words.front(), name); !problem.empty()) {
      throw failed(problem);
    }
    try {
      const harness::Asking asking{.timeout_s = timeout_s_, .folder = tree / plan_.cwd};
      return Program::find_out(words, stop_, asking).lists_by_filter(stop_);
    } catch (const NotMeasurable& error) {
      if (error.has_failed()) return false;
      throw failed(error.what());
    } catch (const ProgramError&) {
      return false;
    }
  }

  ExitCode conclude_identical() const {
    return conclude({.table = render::identical_text(why_identical_) + '\n',
                     .markdown = render::identical_markdown(trial_.setup, why_identical_, style_),
                     .csv = render::csv(verdict::PairedReport{}),
                     .json = json::identical_to_json(trial_.setup, why_identical_)},
                    verdict::Verdict::pass);
  }

  ExitCode conclude(const Failed& failed) {
    if (stop_.stop_requested()) return interrupted();
    const model::PairedFailure& failure = failed.failure();
    const bool is_of_base = failure.side == Side::base && !trial_.setup.base.commit.empty();
    if (plan_.is_gate && failure.side == Side::base && !is_of_base) {
      model::PairedFailure of_command = failure;
      of_command.message +=
          ". There is nothing to compare with: give a --base that runs, or a revision by "
          "--base-rev, which leaves the result inconclusive if it alone fails";
      return fail(of_command, failed.code());
    }
    if (!plan_.is_gate || !is_of_base) return fail(failure, failed.code());
    try {
      try_head_alone();
    } catch (const Failed& also) {
      if (stop_.stop_requested()) return interrupted();
      model::PairedFailure both = also.failure();
      both.message += fmt::format(". Base fails, too: {}", failure.message);
      return fail(both, also.code());
    }
    print_note("{}{}", failure.message, indented(failure.lines));
    return conclude(
        {.table = render::no_base_text(failure) + "; head builds, and its benchmarks run\n",
         .markdown = render::no_base_markdown(trial_.setup, failure, style_),
         .csv = render::csv(verdict::PairedReport{}),
         .json = json::no_base_to_json(trial_.setup, failure)},
        verdict::Verdict::inconclusive);
  }

  /// Checks that head is sound although base is not: otherwise a change that repairs base could
  /// never pass, nor one that adds the first benchmark. Throws Failed.
  void try_head_alone() {
    build(Side::head);
    const Program head = find_program(Side::head);
    const Bench bench{stop_, timeout_s_};
    ProgressLine line = progress();
    harness::SampleRequest request = request_of(trial_.setup, timeout_s_);
    request.benchmarks.clear();
    request.iterations.clear();
    request.families = benchmark_names(plan_.workloads, head.listed());
    request.repetitions = trial_repetitions(head);
    request.waiting = [&](double elapsed_s) {
      if (elapsed_s < kSilence_s) return;
      line.show("running head alone, {}", model::duration_text(elapsed_s));
    };
    try {
      if (measure_once(head, request, bench).cases.empty()) {
        throw ProgramError(fmt::format("'{}' measures nothing", head.command().front()));
      }
    } catch (const ProgramError& error) {
      const auto* in = dynamic_cast<const BenchmarkError*>(&error);
      fail_measuring({error.what(), Side::head, in != nullptr ? in->benchmark() : ""},
                     in != nullptr ? in->benchmark() : "");
    }
  }

  static std::string indented(const Strings& lines) {
    std::string text;
    for (const std::string& line : lines) text += "\n  " + line;
    return text;
  }

  ExitCode fail(const model::PairedFailure& failure, ExitCode code) const {
    print_error("{}{}", failure.message, indented(failure.lines));
    if (!plan_.is_gate) return code;
    // The reason why the gate failed is already printed; so is it if a file could not be written.
    (void)plan_.output.write(json::failure_to_json(trial_.setup, failure),
                             render::failure_markdown(trial_.setup, failure, style_));
    return code;
  }

  ExitCode interrupted() const {
    const bool begun = !trial_.setup.benchmarks.empty();
    print_note(begun ? fmt::format("interrupted; continue with: taskbench {} --resume --journal {}",
                                   plan_.command(), plan_.output.journal.string())
                     : "interrupted before the first block");
    return ExitCode::interrupted;
  }

  const PairedPlan& plan_;
  const Invocation& invocation_;
  const render::CommentStyle& style_;
  std::stop_token stop_;
  model::PairedTrial trial_;
  double budget_s_ = plan_.setup.budget_s;
  double timeout_s_ = plan_.setup.timeout_s;
  std::optional<GitRepository> repository_;
  fs::path roots_[2];          ///< of the checkouts, where there are some
  std::string doubt_;          ///< what differs between the revisions, as a clause
  std::string why_identical_;  ///< likewise
};

}  // namespace

ExitCode compare_programs(PairedPlan plan, const Invocation& invocation,
                          const render::CommentStyle& style) {
  plan.complete();
  if (plan.is_gate) plan.output.remove_stale();
  plan.output.refuse_unwritable();
  return Comparison(plan, invocation, style, stop_on_signals()).run();
}

}  // namespace taskbench::cli
