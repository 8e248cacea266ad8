#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace taskbench::reports::model {

/// "a.json, b.json and 98 more"
[[nodiscard]] inline std::string some_of(const std::vector<std::string>& texts,
                                         std::string_view between = ", ", std::size_t most = 5) {
  const std::span shown = std::span(texts).first(std::min(texts.size(), most));
  std::string text = fmt::format("{}", fmt::join(shown, between));
  if (shown.size() < texts.size()) text += fmt::format(" and {} more", texts.size() - shown.size());
  return text;
}

}  // namespace taskbench::reports::model
