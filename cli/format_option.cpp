#include "cli/format_option.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/near_miss.hpp"
#include "cli/usage_error.hpp"
#include "cli/values.hpp"

namespace taskbench::cli {
namespace {

constexpr std::string_view kTable = "table";
constexpr std::string_view kJson = "json";
constexpr std::array<std::string_view, 2> kTableOrJson{kTable, kJson};

}  // namespace

void FormatOption::declare(CLI::App& app, OptionValueTable& values) {
  auto* format = add_valued(app, "--format", given_, "FORMAT", "What is printed: table, json.");
  format->default_str(std::string(kTable))->group("Output");
  values.set(format, {OptionValues::Kind::one_of, {kTableOrJson.begin(), kTableOrJson.end()}});
}

bool FormatOption::wants_json() const {
  const std::string format = parse_single("--format", given_).value_or(std::string(kTable));
  if (std::ranges::find(kTableOrJson, format) == kTableOrJson.end()) {
    throw UsageError("--format: " + unknown_name("format", format, kTableOrJson));
  }
  return format == kJson;
}

}  // namespace taskbench::cli
