#include "cli/commands/paired_judgement.hpp"

#include "cli/output/measurement.hpp"
#include "cli/output/output.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/signals.hpp"
#include "reports/json/paired.hpp"
#include "reports/render/effort.hpp"
#include "reports/render/paired.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::cli {
namespace {

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

/// What becomes of a comparison: its output, its files, its exit code.
class PairedJudgement {
 public:
  PairedJudgement(const PairedPlan& plan, const render::CommentStyle& style)
      : plan_(plan), style_(style) {}

  /// Judges parts that were measured elsewhere.
  ExitCode merge() {
    compared_.trial = plan_.merged();
    compared_.why_identical = setup().identical;
    return setup().identical.empty() ? judge() : conclude_identical();
  }

  ExitCode run(const std::stop_token& stop) {
    try {
      const Ending ending = compare(plan_, listener_on_a_line(plan_.output.quiet), stop, compared_);
      const std::string go_on = fmt::format("continue with: taskbench {} --resume --journal {}",
                                            plan_.command(), plan_.journal.path.string());
      if (const auto stopped = interruption(ending, go_on, "block")) return *stopped;
      if (!plan_.build_only.empty()) return tell_of_build(ending);
      if (setup().part) return tell_of_part();
      return ending == Ending::needless ? conclude_identical() : judge();
    } catch (const harness::NotComparable& failed) {
      return failed.head_is_sound ? conclude_without_base(failed.failure) : fail(failed);
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

  /// Prints what the part has measured, and what makes a verdict of it.
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

  [[nodiscard]] ExitCode judge() const {
    const model::PairedTrial& trial = compared_.trial;
    const verdict::PairedReport judged = verdict::judge(trial);
    return conclude({.document = render::document(trial, judged),
                     .records = render::records(judged),
                     .comment = render::comment(trial, judged, style_),
                     .json = [&] { return json::to_json(trial, judged); }},
                    judged.overall, {judged.could_fail, judged.blind});
  }

  [[nodiscard]] ExitCode conclude_identical() const {
    const std::string& why = compared_.why_identical;
    return conclude({.document = render::sentence(render::identical_text(why)),
                     .records = render::records(verdict::PairedReport{}),
                     .comment = render::identical_comment(setup(), why, style_),
                     .json = [&] { return json::identical_to_json(setup(), why); }},
                    verdict::Verdict::pass);
  }

  [[nodiscard]] ExitCode conclude_without_base(const model::PairedFailure& failure) const {
    print_note(with_lines(failure));
    return conclude({.document = render::sentence(render::no_base_text(failure) +
                                                  "; head builds, and its benchmarks run"),
                     .records = render::records(verdict::PairedReport{}),
                     .comment = render::no_base_comment(setup(), failure, style_),
                     .json = [&] { return json::no_base_to_json(setup(), failure); }},
                    verdict::Verdict::inconclusive);
  }

  [[nodiscard]] ExitCode conclude(const render::Answer& answer, verdict::Verdict overall,
                                  const Sight& sight = {}) const {
    return plan_.output.conclude(answer) ? plan_.verdict.exit_code(overall, sight)
                                         : ExitCode::usage;
  }

  [[nodiscard]] ExitCode fail(const harness::NotComparable& failed) const {
    const model::PairedFailure& failure = failed.failure;
    print_error(with_lines(failure));
    // The reason why the gate failed is already printed; so is it if a file could not be written.
    if (plan_.is_gate) {
      (void)plan_.output.write(json::failure_to_json(setup(), failure),
                               render::failure_comment(setup(), failure, style_));
    }
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
