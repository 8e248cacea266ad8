// What every file of cli/ needs: common types, short names for other namespaces, and the one
// exception of the command line.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace taskbench::reports {
namespace files {}
namespace json {}
namespace model {}
namespace perf {}
namespace render {}
namespace stats {}
namespace verdict {}
}  // namespace taskbench::reports
namespace taskbench::workloads::measure {}

namespace taskbench::cli {

namespace fs = std::filesystem;
namespace files = reports::files;
namespace json = reports::json;
namespace model = reports::model;
namespace perf = reports::perf;
namespace render = reports::render;
namespace stats = reports::stats;
namespace verdict = reports::verdict;
namespace measure = workloads::measure;

using Strings = std::vector<std::string>;

/// What the user asked for cannot be done. what() is a sentence that names the option or argument
/// and says what to do. Ends the process with ExitCode::usage before anything is measured.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws a UsageError whose message is formatted from these parts.
template <class... Parts>
[[noreturn]] void refuse(fmt::format_string<Parts...> format, Parts&&... parts) {
  throw UsageError(fmt::format(format, std::forward<Parts>(parts)...));
}

/// "a, b, c"
[[nodiscard]] std::string joined(const auto& texts, std::string_view separator = ", ") {
  return fmt::format("{}", fmt::join(texts, separator));
}

}  // namespace taskbench::cli
