// What tests of texts share.
#pragma once

#include <string_view>

namespace taskbench::reports {

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace taskbench::reports
