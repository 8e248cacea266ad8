// Names that files, programs, counting and trials need, and cli: the parts of reports, and the
// exception for requests that cannot be met.
#pragma once

#include "harness/os/names.hpp"

namespace taskbench::reports {
namespace json {}
namespace perf {}
namespace stats {}
namespace verdict {}
}  // namespace taskbench::reports

namespace taskbench::harness {

namespace json = reports::json;
namespace perf = reports::perf;
namespace stats = reports::stats;
namespace verdict = reports::verdict;

/// The user's request cannot be met. what() is a sentence that names the option or argument and
/// says what to do. Thrown before anything is measured.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws a UsageError whose message is formatted from these parts.
template <class... Parts>
[[noreturn]] void refuse(fmt::format_string<Parts...> format, Parts&&... parts) {
  throw UsageError(fmt::format(format, std::forward<Parts>(parts)...));
}

/// Receives messages during a measurement. Called on the measuring thread.
struct Listener {
  std::function<void(const std::string&)> progress;  ///< state of the measurement
  std::function<void(const std::string&)> note;      ///< information for the user at the end
};

}  // namespace taskbench::harness
