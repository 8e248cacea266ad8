#include "cli/trials/paired_judgement.hpp"

#include <unistd.h>

#include <algorithm>

#include "cli/output/progress_line.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/terminal.hpp"
#include "cli/tools/git.hpp"
#include "cli/tools/scratch_folder.hpp"
#include "cli/trials/journal_room.hpp"
#include "cli/trials/measured_process.hpp"
#include "cli/trials/noise_floors.hpp"
#include "cli/trials/paired_instructions.hpp"
#include "cli/trials/paired_trial.hpp"
#include "reports/json/paired.hpp"
#include "reports/model/event_count.hpp"
#include "reports/render/paired.hpp"
#include "reports/verdict/paired.hpp"
#include "workloads/machine/environment.hpp"
#include "workloads/machine/machine.hpp"
#include "workloads/measure/identity.hpp"

namespace taskbench::cli {
namespace {

using measure::NotMeasurable;
using measure::Program;
using measure::ProgramError;
using model::Side;

constexpr double kSilence_s = 2;  // that nobody wonders about

std::string reproduction(const PairedPlan& plan) {
  const model::PairedSetup& setup = plan.setup;
  std::string text = "taskbench ab";
  const auto add = [&](std::string_view option, const std::string& value) {
    text += fmt::format(" {} {}", option, quoted(value));
  };
  const auto program = [&](std::string_view option, const model::PairedProgram& each,
                           const ProgramSource& source) {
    if (source.revision.empty()) {
      add(option, source.command);
    } else {
      add(fmt::format("{}-rev", option), abbreviated(each.commit));
    }
  };
  program("--base", setup.base, plan.base);
  program("--head", setup.head, plan.head);
  if (plan.recipe.build != kDefaultBuild) add("--build", plan.recipe.build);
  if (plan.recipe.program != kDefaultProgram) add("--program", plan.recipe.program);
  if (!plan.workloads.empty()) add("--workload", fmt::format("{}", fmt::join(plan.workloads, ",")));
  text += fmt::format(" --seed {} --delta {:g}%", setup.seed, 100 * setup.delta);
  const PairedPlan usual;
  if (setup.alpha != usual.setup.alpha) text += fmt::format(" --alpha {:g}%", 100 * setup.alpha);
  if (plan.budget_s != usual.budget_s) text += fmt::format(" --budget {:g}s", plan.budget_s);
  if (plan.timeout_s != usual.timeout_s) text += fmt::format(" --timeout {:g}s", plan.timeout_s);
  if (setup.max_blocks != usual.setup.max_blocks)
    text += fmt::format(" --max-blocks {}", setup.max_blocks);
  if (setup.repetitions != usual.setup.repetitions)
    text += fmt::format(" --repetitions {}", setup.repetitions);
  if (setup.min_time_s != usual.setup.min_time_s)
    text += fmt::format(" --min-time {:g}s", setup.min_time_s);
  if (plan.run_identical) text += " --run-identical";
  if (!plan.outputs.empty()) add("--outputs", fmt::format("{}", fmt::join(plan.outputs, ",")));
  if (setup.counts_instructions) text += fmt::format(" --counters {}", model::kInstructionsExact);
  return text;
}

std::string trial_text(const TrialProgress& now) {
  std::string text = fmt::format("block {} of at most {}, {} of {}", now.blocks + 1, now.max_blocks,
                                 duration_text(now.spent_s), duration_text(now.budget_s));
  const double left = now.budget_s - now.spent_s;
  if (left >= 0.5) text += fmt::format(", at most {} left", duration_text(left));
  return text;
}

[[noreturn]] void refuse_changed(const model::PairedProgram& then, const fs::path& journal) {
  throw UsageError(fmt::format(
      "'{}' is not the program that {} was started with: it was built anew, or a library "
      "that it loads was; start a new trial",
      then.command, journal.string()));
}

void refuse_other_revision(const model::PairedProgram& then, const model::PairedProgram& now,
                           Side side, const fs::path& journal) {
  if (now.commit.empty() || then.commit == now.commit) return;
  throw UsageError(fmt::format("--{}-rev: {} is {}, but {} was started with {}; start a new trial",
                               name_of(side), now.revision, abbreviated(now.commit),
                               journal.string(),
                               then.commit.empty() ? then.command : abbreviated(then.commit)));
}

/// One call of compare_programs(): what was asked for, and what has come of it so far.
class Comparison {
 public:
  Comparison(const PairedPlan& plan, const std::stop_token& stop, PairedOutcome& outcome)
      : plan_(plan), stop_(stop), outcome_(outcome), trial_(outcome.trial) {}

  void run() {
    trial_.setup = plan_.setup;
    resolve();
    const bool resumes = take_journal();
    // A trial that is complete is judged again without its programs, which may be gone.
    if (trial_.end) return finish(PairedOutcome::Kind::judged);
    if (!build(Side::base) || !build(Side::head)) return;
    const std::optional<Program> base = find_program(Side::base);
    if (!base) return;
    const std::optional<Program> head = find_program(Side::head);
    if (!head) return;
    compare({*base, *head}, resumes);
  }

 private:
  using Stage = model::PairedFailure::Stage;

  void finish(PairedOutcome::Kind kind) { outcome_.kind = kind; }

  void fail(Stage stage, std::optional<Side> side, std::string message, Strings lines = {},
            std::string benchmark = {}) {
    outcome_.failure = {.stage = stage,
                        .side = side,
                        .benchmark = std::move(benchmark),
                        .message = std::move(message),
                        .lines = std::move(lines)};
    finish(PairedOutcome::Kind::failed);
  }

  [[nodiscard]] const ProgramSource& source(Side side) const {
    return side == Side::base ? plan_.base : plan_.head;
  }
  [[nodiscard]] model::PairedProgram& program(Side side) {
    return side == Side::base ? trial_.setup.base : trial_.setup.head;
  }

  [[nodiscard]] fs::path& root(Side side) { return side == Side::base ? base_root_ : head_root_; }

  /// Which commits the revisions are, for a journal may be of others.
  void resolve() {
    for (const Side side : {Side::base, Side::head}) {
      program(side).command = source(side).command;
      if (source(side).revision.empty()) continue;
      if (!repository_) repository_.emplace(stop_);
      program(side).revision = source(side).revision;
      program(side).commit =
          repository_->commit_of(fmt::format("--{}-rev", name_of(side)), source(side).revision);
    }
    if (plan_.base.given() && plan_.head.given()) {
      PairedPlan known = plan_;
      known.setup = trial_.setup;
      trial_.setup.reproduce = reproduction(known);
    }
    if (repository_ && !plan_.output.quiet && compares_head() &&
        repository_->has_uncommitted_changes()) {
      print_note("uncommitted changes are not measured: HEAD is compared as it was committed");
    }
  }

  [[nodiscard]] bool compares_head() {
    const auto head = repository_->find_commit("HEAD");
    return head && (*head == trial_.setup.base.commit || *head == trial_.setup.head.commit);
  }

  /// True when the trial of a journal goes on.
  bool take_journal() {
    if (!plan_.output.resume || (plan_.policy.replaces_journal && plan_.base.given() &&
                                 plan_.head.given() && !fs::exists(plan_.output.journal))) {
      make_room_for_journal(
          {.path = plan_.output.journal,
           .named_by_user = plan_.output.own_journal,
           .replaces = plan_.policy.replaces_journal,
           .what = "trial",
           .has_ended = [](const auto& path) { return json::read_journal(path).end.has_value(); }});
      return false;
    }
    const model::PairedSetup asked = std::move(trial_.setup);
    trial_ = json::read_journal(plan_.output.journal);
    refuse_other(asked);
    return true;
  }

  /// What is asked for beside --resume must be what the journal was started with: its verdict would
  /// be taken for that of other programs. What is not asked for is as the journal says.
  void refuse_other(const model::PairedSetup& asked) {
    const auto of = [](const model::PairedSetup& setup, Side side) -> const model::PairedProgram& {
      return side == Side::base ? setup.base : setup.head;
    };
    for (const Side side : {Side::base, Side::head}) {
      const model::PairedProgram& then = of(trial_.setup, side);
      const model::PairedProgram& now = of(asked, side);
      refuse_other_revision(then, now, side, plan_.output.journal);
      if (source(side).command.empty()) continue;
      if (then.command != now.command || !then.commit.empty()) {
        throw UsageError(fmt::format("--{}: {} was started with '{}', not '{}'; start a new trial",
                                     name_of(side), plan_.output.journal.string(),
                                     then.commit.empty() ? then.command : abbreviated(then.commit),
                                     now.command));
      }
      // One that is gone, or that does not answer any more, is not needed for what is complete.
      if (!trial_.end) continue;
      const std::string digest = measure::digest_of_program(measure::split_command(now.command));
      if (!digest.empty() && digest != then.digest) refuse_changed(then, plan_.output.journal);
    }
    const model::PairedSetup& then = trial_.setup;
    const auto require_same = [&](std::string_view option, bool is_same) {
      if (is_same || !plan_.given.contains(option)) return;
      throw UsageError(
          fmt::format("{}: {} was started with another; leave the option out, or start a new trial",
                      option, plan_.output.journal.string()));
    };
    require_same("--delta", asked.delta == then.delta);
    require_same("--alpha", asked.alpha == then.alpha);
    require_same("--seed", asked.seed == then.seed);
    require_same("--repetitions", asked.repetitions == then.repetitions);
    require_same("--min-time", asked.min_time_s == then.min_time_s);
    require_same("--max-blocks", asked.max_blocks == then.max_blocks);
    require_same("--counters", asked.counts_instructions == then.counts_instructions);
    require_same("--workload", std::ranges::all_of(then.benchmarks, [&](const std::string& name) {
                   return is_chosen(plan_.workloads, name);
                 }));
  }

  bool build(Side side) {
    if (source(side).revision.empty()) return true;
    const std::string name = fmt::format("{} {}", name_of(side), abbreviated(program(side).commit));
    ProgressLine line(progress_style(plan_.output.quiet));
    try {
      BuiltRevision built =
          build_revision(*repository_, plan_.recipe, name, program(side).commit, stop_,
                         [&](const std::string& text) { line.show(text); });
      program(side).command = std::move(built.command);
      root(side) = std::move(built.source);
      return true;
    } catch (const MissingProgram& error) {
      fail(Stage::start, side, error.what(), error.last_lines());
    } catch (const BuildError& error) {
      if (stop_.stop_requested())
        return false;  // interrupted, which the outcome says unless told otherwise
      fail(Stage::build, side, error.what(), error.last_lines());
    }
    return false;
  }

  [[nodiscard]] Program ask(Side side) {
    ProgressLine line(progress_style(plan_.output.quiet));
    return Program::find_out(measure::split_command(program(side).command), stop_,
                             {.timeout_s = timeout_s(), .waiting = [&](double elapsed_s) {
                                if (elapsed_s < kSilence_s) return;
                                line.show(fmt::format("asking {} what it measures, {}",
                                                      name_of(side), duration_text(elapsed_s)));
                              }});
  }

  /// A command that is no program is a mistake of whoever wrote it, and one that crashes has
  /// failed; a revision that has been built has failed in both cases. Who reads a comment wants
  /// either told.
  std::optional<Program> find_program(Side side) {
    const std::string& command = program(side).command;
    try {
      return ask(side);
    } catch (const std::invalid_argument& error) {
      throw UsageError(fmt::format("--{} '{}': {}", name_of(side), command, error.what()));
    } catch (const ProgramError& error) {
      if (stop_.stop_requested()) return std::nullopt;
      const bool is_command = program(side).commit.empty();
      const std::string message =
          is_command ? fmt::format("--{}: {}", name_of(side), error.what()) : error.what();
      const auto* mistake = dynamic_cast<const NotMeasurable*>(&error);
      if (is_command && mistake != nullptr) {
        if (!plan_.policy.reports_failures) throw UsageError(message);
        if (!mistake->has_failed()) outcome_.failed_with = ExitCode::usage;
      }
      fail(Stage::start, side, message);
      return std::nullopt;
    }
  }

  /// Whether nothing that was measured could differ. Says so where only the executables are equal.
  bool are_the_same(const TrialPrograms& programs, const fs::path& scratch) {
    try {
      const auto identity =
          measure::identity_of({&programs.base, root(Side::base)},
                               {&programs.head, root(Side::head)}, plan_.outputs, stop_);
      if (!identity.holds) {
        if (!identity.doubt.empty() && !plan_.output.quiet) {
          print_note(fmt::format(
              "the executables are equal, byte for byte, but {}: both are measured. If only some "
              "files matter, name them by --outputs",
              identity.doubt));
        }
        return false;
      }
    } catch (const measure::NoSuchOutput& error) {
      throw UsageError(fmt::format("--outputs: {}", error.what()));
    }
    if (!plan_.workloads.empty()) {  // a name that matches no benchmark must not pass
      model::PairedSetup found = trial_.setup;
      find_benchmarks(programs, scratch, found);
    }
    return true;
  }

  void find_benchmarks(const TrialPrograms& programs, const fs::path& scratch,
                       model::PairedSetup& setup) {
    ProgressLine line(progress_style(plan_.output.quiet));
    explore(programs, plan_.workloads, scratch, timeout_s(), stop_, setup, [&] {
      if (line.elapsed_s() < kSilence_s) return;
      line.show(fmt::format("running both once, to see what they measure, {}",
                            duration_text(line.elapsed_s())));
    });
    keep_chosen(plan_.workloads, setup);
  }

  /// What is not asked for beside --resume is as the trial was started with.
  [[nodiscard]] double limit(std::string_view option, double asked, double begun_with) const {
    return begun_with > 0 && !plan_.given.contains(option) ? begun_with : asked;
  }
  [[nodiscard]] double budget_s() const {
    return limit("--budget", plan_.budget_s, trial_.setup.budget_s);
  }
  [[nodiscard]] double timeout_s() const {
    return limit("--timeout", plan_.timeout_s, trial_.setup.timeout_s);
  }

  void compare(const TrialPrograms& programs, bool resumes) {
    const ScratchFolder scratch;
    try {
      if (!resumes && !plan_.run_identical && are_the_same(programs, scratch.path())) {
        return finish(PairedOutcome::Kind::identical);
      }
      measure(programs, resumes, scratch.path());
      if (trial_.end) finish(PairedOutcome::Kind::judged);
    } catch (const SideError& error) {
      if (stop_.stop_requested()) return;
      std::string benchmark = error.benchmark();
      if (benchmark.empty() && plan_.policy.reports_failures) {
        benchmark = failing_benchmark(programs, error.side(), trial_.setup, scratch.path(),
                                      timeout_s(), stop_);
      }
      fail(Stage::measure, error.side(), error.what(), {}, std::move(benchmark));
    } catch (const ProgramError& error) {
      fail(Stage::compare, std::nullopt, error.what());
    }
  }

  void measure(const TrialPrograms& programs, bool resumes, const fs::path& scratch) {
    model::PairedSetup& setup = trial_.setup;
    if (resumes) {
      if (setup.base.digest != programs.base.digest())
        refuse_changed(setup.base, plan_.output.journal);
      if (setup.head.digest != programs.head.digest())
        refuse_changed(setup.head, plan_.output.journal);
    } else {
      setup.base.digest = programs.base.digest();
      setup.head.digest = programs.head.digest();
      find_benchmarks(programs, scratch, setup);
      setup.noise_floors = noise_floors(plan_.store, measure::probe_machine(), setup.benchmarks,
                                        measure::probe_environment("").date);
    }
    files::LineFile journal =
        resumes ? files::LineFile::resume(plan_.output.journal)
                : files::LineFile::create(plan_.output.journal, json::journal_line(setup));
    ProgressLine line(progress_style(plan_.output.quiet));
    count_instructions(
        programs, scratch, timeout_s(), stop_, [&](const std::string& text) { line.show(text); },
        journal, trial_);
    bool has_predicted = false;
    run_trial(
        programs, scratch, {.budget_s = budget_s(), .timeout_s = timeout_s()}, stop_,
        [&](const TrialProgress& now) {
          if (now.blocks > 0 && !std::exchange(has_predicted, true)) predict(line);
          line.show(trial_text(now));
        },
        journal, trial_);
  }

  /// As soon as it is known how long a block takes, what the budget cannot decide.
  void predict(ProgressLine& line) const {
    if (plan_.output.quiet) return;
    const int blocks = verdict::blocks_within(trial_, budget_s());
    const verdict::Reach reach = verdict::reach_of(trial_, blocks);
    const std::string text = render::reach_text(reach, trial_.setup);
    if (text.empty()) return;
    line.clear();
    print_note(fmt::format("a block takes {:.2g} s: {}", reach.block_s, text));
  }

  const PairedPlan& plan_;
  std::stop_token stop_;
  PairedOutcome& outcome_;
  model::PairedTrial& trial_;
  std::optional<GitRepository> repository_;
  fs::path base_root_;  ///< of the checkout, where there is one
  fs::path head_root_;
};

ExitCode report_interruption(const PairedPlan& plan, const PairedOutcome& outcome) {
  const bool begun = !outcome.trial.setup.benchmarks.empty();
  print_note(begun ? fmt::format("interrupted; continue with: taskbench {} --resume --journal {}",
                                 plan.policy.command, plan.output.journal.string())
                   : "interrupted before the first block");
  return ExitCode::interrupted;
}

ExitCode report_failure(const PairedPlan& plan, const PairedOutcome& outcome,
                        const render::CommentStyle& style) {
  std::string text = outcome.failure.message;
  for (const std::string& line : outcome.failure.lines) text += "\n  " + line;
  print_error(text);
  const model::PairedSetup& setup = outcome.trial.setup;
  if (plan.policy.reports_failures) {
    // Why the gate failed is known and said; that a file was not written is said, too.
    (void)plan.output.write(json::failure_to_json(setup, outcome.failure),
                            render::failure_markdown(setup, outcome.failure, style));
  }
  return outcome.failed_with;
}

}  // namespace

PairedOutcome compare_programs(const PairedPlan& plan, const std::stop_token& stop) {
  PairedOutcome outcome;
  try {
    Comparison(plan, stop, outcome).run();
  } catch (const UsageError&) {
    if (!stop.stop_requested()) throw;
  }
  return outcome;
}

ExitCode report(const PairedPlan& plan, const PairedOutcome& outcome,
                const VerdictOptions& verdict_options, const render::CommentStyle& style) {
  const model::PairedTrial& trial = outcome.trial;
  std::string text;
  bool written = false;
  verdict::Verdict overall = verdict::Verdict::pass;
  bool could_fail = true;
  switch (outcome.kind) {
    case PairedOutcome::Kind::interrupted:
      return report_interruption(plan, outcome);
    case PairedOutcome::Kind::failed:
      return report_failure(plan, outcome, style);
    case PairedOutcome::Kind::identical:
      text = "PASS: the two programs are the same, byte for byte\n";
      written = plan.output.write(json::identical_to_json(trial.setup),
                                  render::identical_markdown(trial.setup, style));
      break;
    case PairedOutcome::Kind::judged: {
      const verdict::PairedReport judged = verdict::judge(trial);
      text = render::table(trial, judged, table_style(STDOUT_FILENO));
      written =
          plan.output.write(json::to_json(trial, judged), render::markdown(trial, judged, style));
      overall = judged.overall;
      could_fail = judged.could_fail;
    }
  }
  const bool printed = plan.output.quiet || print_result(text);
  return written && printed ? verdict_options.exit_code(overall, could_fail) : ExitCode::usage;
}

}  // namespace taskbench::cli
