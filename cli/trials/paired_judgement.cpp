#include "cli/trials/paired_judgement.hpp"

#include <algorithm>
#include <stdexcept>

#include "cli/output/output.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/signals.hpp"
#include "cli/tools/revision.hpp"
#include "cli/trials/baseline_store.hpp"
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

/// The command that compares the same two programs in the same way.
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
  add("--workload", joined(plan.workloads, ","), plan.workloads.empty());
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
  add("--outputs", joined(plan.outputs, ","), plan.outputs.empty());
  if (setup.counts_instructions) text += fmt::format(" --counters {}", model::kInstructionsExact);
  return text;
}

/// One comparison: what was asked for, and what has come of it so far.
class Comparison {
 public:
  Comparison(const PairedPlan& plan, const Invocation& invocation,
             const render::CommentStyle& style, const std::stop_token& stop)
      : plan_(plan), invocation_(invocation), style_(style), stop_(stop) {
    trial_.setup = plan.setup;
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
    const bool resumes = take_journal();
    // A trial that is complete is judged again without its programs, which may be gone.
    if (trial_.end) return report();
    for (const Side side : kBothSides) {
      if (const auto failed = build(side)) return *failed;
    }
    std::vector<Program> programs;
    for (const Side side : kBothSides) {
      if (const auto failed = find_program(side, programs)) return *failed;
    }
    return compare({programs[0], programs[1]}, resumes);
  }

  [[nodiscard]] ProgressLine progress() const { return ProgressLine(plan_.output.quiet); }

  [[nodiscard]] model::PairedProgram& program(Side side) { return of(trial_.setup, side); }
  [[nodiscard]] fs::path& root(Side side) { return roots_[side == Side::base ? 0 : 1]; }

  /// Which commits the revisions are, for a journal may be of others.
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
    const fs::path& journal = plan_.output.journal;
    if (!plan_.output.resume ||
        (plan_.is_gate && plan_.base.given() && plan_.head.given() && !fs::exists(journal))) {
      make_room_for_journal(journal, invocation_.given("--journal"), plan_.is_gate, "trial",
                            [&] { return json::read_journal(journal).end.has_value(); });
      return false;
    }
    const model::PairedSetup asked = std::move(trial_.setup);
    trial_ = json::read_journal(journal);
    for (const Side side : kBothSides) refuse_other_program(asked, side);
    refuse_other_options(asked);
    // What is not asked for beside --resume is as the trial was started with.
    const auto limit = [&](const char* option, double given, double begun_with) {
      return begun_with > 0 && !invocation_.given(option) ? begun_with : given;
    };
    budget_s_ = limit("--budget", asked.budget_s, trial_.setup.budget_s);
    timeout_s_ = limit("--timeout", asked.timeout_s, trial_.setup.timeout_s);
    return true;
  }

  /// What is asked for beside --resume must be what the journal was started with: its verdict would
  /// be taken for that of other programs.
  void refuse_other_program(const model::PairedSetup& asked, Side side) {
    const model::PairedProgram& then = program(side);
    const model::PairedProgram& now = of(asked, side);
    const std::string journal = plan_.output.journal.string();
    const std::string started = then.commit.empty() ? then.command : abbreviated(then.commit);
    if (!now.commit.empty() && then.commit != now.commit) {
      refuse("--{}-rev: {} is {}, but {} was started with {}; start a new trial", name_of(side),
             now.revision, abbreviated(now.commit), journal, started);
    }
    if (of(plan_, side).command.empty()) return;
    if (then.command != now.command || !then.commit.empty()) {
      refuse("--{}: {} was started with '{}', not '{}'; start a new trial", name_of(side), journal,
             started, now.command);
    }
    // One that is gone, or that does not answer any more, is not needed for what is complete.
    if (!trial_.end) return;
    const std::string digest = measure::digest_of_program(measure::split_command(now.command));
    if (!digest.empty() && digest != then.digest)
      refuse_rebuilt(then.command, plan_.output.journal);
  }

  void refuse_other_options(const model::PairedSetup& asked) const {
    const model::PairedSetup& then = trial_.setup;
    const bool same_workloads = std::ranges::all_of(
        then.benchmarks, [&](const auto& name) { return is_chosen(plan_.workloads, name); });
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

  std::optional<ExitCode> build(Side side) {
    if (of(plan_, side).revision.empty()) return std::nullopt;
    const std::string name = fmt::format("{} {}", name_of(side), abbreviated(program(side).commit));
    ProgressLine line = progress();
    try {
      BuiltRevision built =
          build_revision(*repository_, plan_.recipe, name, program(side).commit, stop_,
                         [&](const std::string& text) { line.show(text); });
      program(side).command = std::move(built.command);
      root(side) = std::move(built.source);
      return std::nullopt;
    } catch (const BuildError& error) {
      line.clear();
      return fail(error.is_built() ? Stage::start : Stage::build, side, error.what(),
                  error.last_lines());
    }
  }

  /// A command that is no program is a mistake of whoever wrote it, and one that crashes has
  /// failed; a revision that has been built has failed in both cases. Who reads a comment wants
  /// either told.
  std::optional<ExitCode> find_program(Side side, std::vector<Program>& programs) {
    const std::string& command = program(side).command;
    ProgressLine line = progress();
    const auto waiting = [&](double elapsed_s) {
      if (elapsed_s < kSilence_s) return;
      line.show("asking {} what it measures, {}", name_of(side), duration_text(elapsed_s));
    };
    try {
      programs.push_back(Program::find_out(measure::split_command(command), stop_,
                                           {.timeout_s = timeout_s_, .waiting = waiting}));
      return std::nullopt;
    } catch (const std::invalid_argument& error) {
      refuse("--{} '{}': {}", name_of(side), command, error.what());
    } catch (const ProgramError& error) {
      line.clear();
      if (!program(side).commit.empty()) return fail(Stage::start, side, error.what());
      const std::string message = fmt::format("--{}: {}", name_of(side), error.what());
      const auto* mistake = dynamic_cast<const NotMeasurable*>(&error);
      if (mistake != nullptr && !plan_.is_gate) throw UsageError(message);
      const ExitCode code = fail(Stage::start, side, message);
      const bool is_usage = mistake != nullptr && !mistake->has_failed();
      return is_usage && code == ExitCode::measured_program_failed ? ExitCode::usage : code;
    }
  }

  ExitCode compare(const TrialPrograms& programs, bool resumes) {
    const Bench bench{stop_, timeout_s_};
    try {
      if (!resumes && !plan_.run_identical && are_the_same(programs, bench)) {
        return conclude("PASS: the two programs are the same, byte for byte\n",
                        json::identical_to_json(trial_.setup),
                        render::identical_markdown(trial_.setup, style_), verdict::Verdict::pass);
      }
      measure(programs, bench, resumes);
      return trial_.end ? report() : interrupted();
    } catch (const SideError& error) {
      std::string benchmark = error.benchmark();
      if (benchmark.empty() && plan_.is_gate && !stop_.stop_requested()) {
        benchmark = failing_benchmark(programs, error.side(), trial_.setup, bench);
      }
      return fail(Stage::measure, error.side(), error.what(), {}, std::move(benchmark));
    } catch (const ProgramError& error) {
      return fail(Stage::compare, std::nullopt, error.what());
    }
  }

  /// Whether nothing that was measured could differ. Says so where only the executables are equal.
  bool are_the_same(const TrialPrograms& programs, const Bench& bench) {
    try {
      const auto identity =
          measure::identity_of({&programs.base, root(Side::base)},
                               {&programs.head, root(Side::head)}, plan_.outputs, stop_);
      if (!identity.holds) {
        if (!identity.doubt.empty() && !plan_.output.quiet) {
          print_note(
              "the executables are equal, byte for byte, but {}: both are measured. If only some "
              "files matter, name them by --outputs",
              identity.doubt);
        }
        return false;
      }
    } catch (const measure::NoSuchOutput& error) {
      refuse("--outputs: {}", error.what());
    }
    if (!plan_.workloads.empty()) {  // a name that matches no benchmark must not pass
      model::PairedSetup found = trial_.setup;
      find_benchmarks(programs, bench, found);
    }
    return true;
  }

  void find_benchmarks(const TrialPrograms& programs, const Bench& bench,
                       model::PairedSetup& setup) const {
    ProgressLine line = progress();
    explore(programs, plan_.workloads, bench, setup, [&] {
      if (line.elapsed_s() < kSilence_s) return;
      line.show("running both once, to see what they measure, {}", duration_text(line.elapsed_s()));
    });
    keep_chosen(plan_.workloads, setup);
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
      setup.noise_floors = noise_floors(plan_.store, measure::probe_machine(), setup.benchmarks,
                                        measure::probe_environment("").date);
    }
    files::LineFile journal =
        resumes ? files::LineFile::resume(plan_.output.journal)
                : files::LineFile::create(plan_.output.journal, json::journal_line(setup));
    ProgressLine line = progress();
    count_instructions(
        programs, bench, [&](const std::string& text) { line.show(text); }, journal, trial_);
    bool has_predicted = false;
    const auto show = [&](const TrialProgress& now) {
      if (now.blocks > 0 && !std::exchange(has_predicted, true)) predict(line);
      std::string text =
          fmt::format("block {} of at most {}, {} of {}", now.blocks + 1, setup.max_blocks,
                      duration_text(now.spent_s), duration_text(budget_s_));
      const double left = budget_s_ - now.spent_s;
      if (left >= 0.5) text += fmt::format(", at most {} left", duration_text(left));
      line.show(text);
    };
    run_trial(programs, bench, budget_s_, true, show, journal, trial_);
  }

  /// As soon as it is known how long a block takes, what the budget cannot decide.
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
    return conclude(render::table(trial_, judged, table_style()), json::to_json(trial_, judged),
                    render::markdown(trial_, judged, style_), judged.overall, judged.could_fail);
  }

  ExitCode conclude(const std::string& table, const std::string& verdicts,
                    const std::string& comment, verdict::Verdict overall,
                    bool could_fail = true) const {
    const bool written = plan_.output.write(verdicts, comment);
    const bool printed = plan_.output.quiet || print_result(table);
    return written && printed ? plan_.verdict.exit_code(overall, could_fail) : ExitCode::usage;
  }

  ExitCode fail(Stage stage, std::optional<Side> side, const std::string& message,
                const Strings& lines = {}, std::string benchmark = {}) const {
    if (stop_.stop_requested()) return interrupted();
    std::string text = message;
    for (const std::string& line : lines) text += "\n  " + line;
    print_error(text);
    if (plan_.is_gate) {
      const model::PairedFailure failure{.stage = stage,
                                         .side = side,
                                         .benchmark = std::move(benchmark),
                                         .message = message,
                                         .lines = lines};
      // Why the gate failed is known and said; that a file was not written is said, too.
      (void)plan_.output.write(json::failure_to_json(trial_.setup, failure),
                               render::failure_markdown(trial_.setup, failure, style_));
    }
    return ExitCode::measured_program_failed;
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
  fs::path roots_[2];  ///< of the checkouts, where there are some
};

}  // namespace

ExitCode compare_programs(PairedPlan plan, const Invocation& invocation,
                          const render::CommentStyle& style) {
  plan.complete();
  plan.output.refuse_unwritable();
  return Comparison(plan, invocation, style, stop_on_signals()).run();
}

}  // namespace taskbench::cli
