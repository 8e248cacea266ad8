// The one exception of the command line: what the user asked for cannot be done as asked.
#pragma once

#include <stdexcept>

namespace taskbench::cli {

/// what() is a sentence that names the option or argument and says what to do. Ends the process
/// with ExitCode::usage before anything is measured.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace taskbench::cli
