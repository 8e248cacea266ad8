#include "cli/commands/paired_judgement.hpp"

#include "cli/output/output.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/signals.hpp"
#include "harness/programs/program.hpp"
#include "reports/json/paired.hpp"
#include "reports/render/effort.hpp"
#include "reports/render/paired.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::cli {
namespace {

using verdict::PairedFile;

std::string prediction(const model::PairedTrial& trial, double budget_s) {
  const verdict::Reach reach = verdict::reach_of(trial, verdict::blocks_within(trial, budget_s));
  const std::string text = render::reach_text(reach, trial.setup);
  return text.empty() ? text : fmt::format("a block takes {:.2g} s: {}", reach.block_s, text);
}

std::string with_lines(const model::PairedFailure& failure) {
  std::string text = failure.message;
  for (const std::string& line : failure.lines) text += "\n  " + line;
  return text;
}

/// Finishes a comparison: its output, its files, its exit code.
class PairedJudgement {
 public:
  PairedJudgement(const PairedPlan& plan, const render::CommentStyle& style)
      : plan_(plan), style_(style) {}

  /// Judges parts that were measured elsewhere.
  ExitCode merge() {
    compared_.trial = plan_.merged();
    compared_.why_identical = setup().identical;
    return judge(!setup().identical.empty());
  }

  ExitCode run(const std::stop_token& stop) {
    try {
      const Ending ending = compare(plan_, listener_on_a_line(plan_.output.quiet), stop, compared_);
      std::string go_on = fmt::format("continue with: taskbench {} --resume --journal {}",
                                      plan_.command(), plan_.journal.path.string());
      if (!plan_.programs.empty()) {
        go_on += " --programs " + harness::shell_word(plan_.programs.string());
      }
      if (const auto stopped = interruption(ending, go_on, "block")) return *stopped;
      if (!plan_.build_only.empty()) return tell_of_build(ending);
      if (setup().part) return tell_of_part();
      return judge(ending == Ending::needless);
    } catch (const harness::NotComparable& failed) {
      return fail(failed);
    }
  }

 private:
  /// Prints whether anything was built.
  [[nodiscard]] ExitCode tell_of_build(Ending ending) const {
    if (ending == Ending::needless) {
      print_note("nothing was built, because {}", compared_.why_identical);
      return ExitCode::pass;
    }
    if (plan_.output.quiet) return ExitCode::pass;
    std::string text;
    for (const model::Side side : plan_.build_only) {
      text += fmt::format("{} {} {}", text.empty() ? "built" : " and", name_of(side),
                          harness::abbreviated(of(setup(), side).commit));
    }
    if (!plan_.out.empty()) text += fmt::format(", in {}", plan_.out.string());
    return printed(text + '\n');
  }

  /// Prints the results of the part, and how to get a verdict from it.
  [[nodiscard]] ExitCode tell_of_part() const {
    if (plan_.output.quiet) return ExitCode::pass;
    const model::TrialPart& part = *setup().part;
    const int blocks = verdict::complete_blocks(compared_.trial);
    std::string text = fmt::format("part {} of {}: ", part.number, part.of);
    if (setup().identical.empty()) {
      text += render::counted(static_cast<std::size_t>(blocks), "block");
      if (blocks == 0) text += "; not one fits into the --budget";
    } else {
      text += fmt::format("nothing was measured, because {}", setup().identical);
    }
    return printed(fmt::format(
        "{}, in {}\nWhen all parts are measured, this gives the verdict: taskbench {} --merge "
        "JOURNAL...\n",
        text, plan_.journal.path.string(), plan_.command()));
  }

  [[nodiscard]] ExitCode judge(bool is_identical) {
    PairedFile file{.trial = std::move(compared_.trial)};
    if (is_identical) {
      file.outcome = PairedFile::Outcome::identical;
      file.why = compared_.why_identical;
    } else {
      file.report = verdict::judge(file.trial);
    }
    return conclude(file);
  }

  [[nodiscard]] ExitCode conclude(const PairedFile& file) const {
    const bool is_written =
        plan_.output.conclude({.document = render::document(file),
                               .records = render::records(file.report),
                               .comment = render::comment(file, style_),
                               .json = [&] { return json::to_json(file); },
                               .measures = [&] { return render::measures(file.report); }});
    if (!is_written) return ExitCode::usage;
    const bool is_judged = file.outcome == PairedFile::Outcome::judged;
    return plan_.verdict.exit_code(
        *file.verdict(), is_judged ? Sight{file.report.could_fail, file.report.blind} : Sight{});
  }

  [[nodiscard]] ExitCode fail(const harness::NotComparable& failed) const {
    PairedFile file{.outcome = PairedFile::Outcome::failed,
                    .trial = compared_.trial,
                    .failure = failed.failure};
    if (failed.head_is_sound) {
      print_note(with_lines(failed.failure));
      file.outcome = PairedFile::Outcome::no_base;
      if (!setup().part && verdict::complete_blocks(file.trial) > 0) {
        verdict::PairedReport before = verdict::judge(file.trial);
        if (before.overall == verdict::Verdict::fail) {  // what was slower stays so
          file.outcome = PairedFile::Outcome::judged;
          file.report = std::move(before);
        }
      }
      return conclude(file);
    }
    print_error(with_lines(failed.failure));
    // The reason for the failure is already printed; so is that for a file that was not written.
    if (plan_.is_gate) (void)plan_.output.write(json::to_json(file), render::comment(file, style_));
    return failed.is_usage ? ExitCode::usage : ExitCode::measured_program_failed;
  }

  [[nodiscard]] const model::PairedSetup& setup() const { return compared_.trial.setup; }

  const PairedPlan& plan_;
  const render::CommentStyle& style_;
  harness::Compared compared_;
};

}  // namespace

ExitCode compare_programs(PairedPlan plan, const Invocation& invocation,
                          const render::CommentStyle& style) {
  if (!plan.merge.empty()) {
    plan.journal.path.clear();
    if (plan.is_gate) plan.output.remove_stale();
    plan.output.refuse_unwritable(plan.journal);
    return PairedJudgement(plan, style).merge();
  }
  plan.complete(invocation);
  plan.prediction = prediction;
  if (plan.is_gate) plan.output.remove_stale();
  plan.output.refuse_unwritable(plan.journal);
  return PairedJudgement(plan, style).run(stop_on_signals());
}

}  // namespace taskbench::cli
