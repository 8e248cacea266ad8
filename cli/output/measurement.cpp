#include "cli/output/measurement.hpp"

#include "cli/output/output.hpp"

namespace taskbench::cli {

ExitCode fail_measurement(const harness::ProgramError& error) {
  if (dynamic_cast<const harness::NotMeasurable*>(&error) != nullptr) {
    throw UsageError(error.what());
  }
  print_error(error.what());
  return ExitCode::measured_program_failed;
}

}  // namespace taskbench::cli
