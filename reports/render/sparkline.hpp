#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace taskbench::reports::render {

/// A histogram in one line of `cells` characters, from the least value to the greatest: how many of
/// the values lie in each stretch, as a bar of an eighth to eight eighths of the line's height, a
/// space where there is none. UTF-8. All equal values stand in the middle. Empty for no values.
[[nodiscard]] std::string sparkline(std::span<const double> values, std::size_t cells);

}  // namespace taskbench::reports::render
