// What every file of harness/trials needs: the words of the language, the parts that trials are
// made of, and the exception for what cannot be done as asked.
#pragma once

#include <filesystem>
#include <functional>
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
namespace json {}
namespace model {}
namespace perf {}
namespace stats {}
namespace verdict {}
}  // namespace taskbench::reports

namespace taskbench::harness {

namespace fs = std::filesystem;
namespace json = reports::json;
namespace model = reports::model;
namespace perf = reports::perf;
namespace stats = reports::stats;
namespace verdict = reports::verdict;

using Strings = std::vector<std::string>;

/// What the user asked for cannot be done. what() is a sentence that names the option or argument
/// and says what to do. Thrown before anything is measured.
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

/// Who hears what happens while something is measured. Called on the thread that measures.
struct Listener {
  std::function<void(const std::string&)> progress;  ///< how far it is
  std::function<void(const std::string&)> note;      ///< what its user should know in the end
};

}  // namespace taskbench::harness
