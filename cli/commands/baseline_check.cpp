#include "cli/commands/baseline_check.hpp"

#include "cli/output/output.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/signals.hpp"
#include "reports/json/baseline.hpp"
#include "reports/render/baseline.hpp"

namespace taskbench::cli {
namespace {

using Stage = verdict::BaselineFailure::Stage;

void fail(const BaselineCheck& check, Stage stage, const std::string& message) {
  print_error(message);
  if (!check.is_gate) return;
  const verdict::BaselineFailure failure{stage, check.name, check.program, message};
  // The reason for the failure is already printed; so is the reason if a file could not be written.
  (void)check.output.write(json::to_json(failure), render::failure_comment(failure, check.comment));
}

ExitCode fail_measuring(const BaselineCheck& check, const ProgramError& error) {
  const auto* mistake = dynamic_cast<const NotMeasurable*>(&error);
  if (mistake != nullptr && !check.is_gate) throw UsageError(error.what());
  fail(check, Stage::measure, error.what());
  return mistake != nullptr && !mistake->has_failed ? ExitCode::usage
                                                    : ExitCode::measured_program_failed;
}

ExitCode conclude(const BaselineCheck& check, const verdict::BaselineComparison& comparison) {
  const render::Answer answer{.document = render::document(comparison),
                              .records = render::records(comparison.report),
                              .comment = render::comment(comparison, check.comment),
                              .json = [&] { return json::to_json(comparison); },
                              .measures = [&] { return render::measures(comparison.report); }};
  if (!check.output.conclude(answer)) return ExitCode::usage;
  if (comparison.report.environment_moved) return ExitCode::wrong_machine;
  return check.verdict.exit_code(
      comparison.report.overall,
      {.blind = verdict::blind_rows(comparison.report, comparison.policy.delta)});
}

}  // namespace

ExitCode check_baseline(BaselineCheck check, const Invocation& invocation) {
  check.journal.is_named = invocation.given("--journal");
  check.journal.is_replaced = check.is_gate;
  check.alpha_is_given = invocation.given("--alpha");
  check.delta_is_given = invocation.given("--delta");
  if (check.is_gate) check.output.remove_stale();
  check.output.refuse_unwritable(check.journal);
  const std::stop_token stop = stop_on_signals();
  verdict::BaselineComparison comparison;
  try {
    const Ending ending =
        compare_with_stored(check, listener_on_a_line(check.output.quiet), stop, comparison);
    const std::string go_on =
        fmt::format("continue with the same command and --resume; what was measured is in {}",
                    check.journal.path.string());
    if (const auto stopped = interruption(ending, go_on, "process")) return *stopped;
    return conclude(check, comparison);
  } catch (const WrongMachine& error) {
    fail(check, Stage::machine, error.what());
    return ExitCode::wrong_machine;
  } catch (const ProgramError& error) {
    return fail_measuring(check, error);
  }
}

}  // namespace taskbench::cli
