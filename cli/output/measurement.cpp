#include "cli/output/measurement.hpp"

#include "cli/output/output.hpp"

namespace taskbench::cli {

ExitCode fail_measurement(const ProgramError& error) {
  if (dynamic_cast<const NotMeasurable*>(&error) != nullptr) {
    throw UsageError(error.what());
  }
  print_error(error.what());
  return ExitCode::measured_program_failed;
}

std::optional<ExitCode> interruption(Ending ending, std::string_view how_to_go_on,
                                     std::string_view first) {
  if (ending != Ending::interrupted && ending != Ending::not_begun) return std::nullopt;
  print_note(ending == Ending::interrupted ? fmt::format("interrupted; {}", how_to_go_on)
                                           : fmt::format("interrupted before the first {}", first));
  return ExitCode::interrupted;
}

}  // namespace taskbench::cli
