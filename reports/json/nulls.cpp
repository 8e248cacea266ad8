#include "reports/json/nulls.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace taskbench::reports::json {

std::string text_or_empty(const nlohmann::ordered_json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

nlohmann::ordered_json text_or_null(std::string_view text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

nlohmann::ordered_json number_or_null(std::optional<double> number) {
  return number && std::isfinite(*number) ? nlohmann::ordered_json(*number)
                                          : nlohmann::ordered_json();
}

nlohmann::ordered_json count_or_null(std::optional<std::size_t> count) {
  return count ? nlohmann::ordered_json(*count) : nlohmann::ordered_json();
}

}  // namespace taskbench::reports::json
