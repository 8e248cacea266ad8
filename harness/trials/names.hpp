// What every file of harness/trials needs: the parts that trials are made of, and the exception for
// what cannot be done as asked.
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

/// What the user asked for cannot be done. what() is a sentence that names the option or argument
/// and says what to do. Thrown before anything is measured.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws a UsageError whose message is formatted from these parts.
template <class... Parts>
[[noreturn]] void refuse(fmt::format_string<Parts...> format, Parts&&... parts) {
  throw UsageError(fmt::format(format, std::forward<Parts>(parts)...));
}

/// Who hears what happens while something is measured. Called on the thread that measures.
struct Listener {
  std::function<void(const std::string&)> progress;  ///< how far it is
  std::function<void(const std::string&)> note;      ///< what its user should know in the end
};

}  // namespace taskbench::harness
