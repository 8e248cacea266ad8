// Numbers as text: counts, times, changes, with their units.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace taskbench::reports::render {

/// Stands for an unknown number, and for a cell without text.
inline constexpr std::string_view kNone = "–";

/// "1,234,567"
[[nodiscard]] std::string with_separators(std::uint64_t number);

/// A number with `decimals` digits after the point and thousands separators: "12,345.68"; with an
/// exponent from 10^15 on.
[[nodiscard]] std::string with_separators(double number, int decimals);

/// A count per iteration: three significant digits, whole numbers from 100 on, "0" for zero.
[[nodiscard]] std::string rate(double per_iteration);

/// Three significant digits, with separators from a thousand on: 0.00031 is not lost.
[[nodiscard]] std::string three_digits(double number);

/// Three significant digits and an SI prefix: "5 G", "12.5 k", "0.31". A unit is appended: "5
/// GB/s".
[[nodiscard]] std::string with_prefix(double number);

/// "3.0 %" for 0.03; a dash if there is none.
[[nodiscard]] std::string percent(std::optional<double> part);

/// A relative change in per cent, with its sign: "+10.2 %".
[[nodiscard]] std::string percent_change(double change);

/// "1 block", "2 blocks", "2 processes"
[[nodiscard]] std::string counted(std::integral auto number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : noun.ends_with("s") ? "es" : "s");
}

/// "5 to 9", or just one of them if they are equal.
[[nodiscard]] std::string range_text(const std::string& least, const std::string& most);

/// The range of the values passed to it.
struct Extent {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  void take(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

/// "95 % interval"
[[nodiscard]] std::string interval_title(double level);

/// A common unit for several times, so that they can be compared.
struct TimeUnit {
  std::string_view name;  ///< "ns", "µs", "ms" or "s"
  double ns = 1;
  int decimals = 0;  ///< so that the shortest time has four digits
};

/// The largest unit in which the shortest of the times is at least 1 when printed.
[[nodiscard]] TimeUnit time_unit(double shortest_ns);

/// "32.63" in the given unit.
[[nodiscard]] std::string time_in(const TimeUnit& unit, double ns);

/// "32.63 µs" in the given unit, or in a suitable one.
[[nodiscard]] std::string time_text(double ns, const TimeUnit& unit);
[[nodiscard]] std::string time_text(double ns);

/// A time in ns: at most four significant digits, at most two after the point; a dash for none.
[[nodiscard]] std::string ns_cell(std::optional<double> ns);

}  // namespace taskbench::reports::render
