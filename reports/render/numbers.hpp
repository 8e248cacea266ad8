// Numbers as text: counts, times, changes, with their units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace taskbench::reports::render {

/// In place of a number that is not known, and in a cell without text.
inline constexpr std::string_view kNone = "–";

/// "1,234,567"
[[nodiscard]] std::string with_separators(std::uint64_t number);

/// Rounded to `decimals` digits after the point, with thousands separators: "12,345.68"; from 10^15
/// on with an exponent.
[[nodiscard]] std::string with_separators(double number, int decimals);

/// A count per iteration: three significant digits, whole numbers from 100 on, "0" for none.
[[nodiscard]] std::string rate(double per_iteration);

/// Three significant digits, with separators from a thousand on: 0.00031 is not lost.
[[nodiscard]] std::string three_digits(double number);

/// Three significant digits and a prefix of the SI: "5 G", "12.5 k", "0.31". Where a unit follows,
/// it is put after it: "5 GB/s".
[[nodiscard]] std::string with_prefix(double number);

/// "3.0 %" of 0.03; a dash for none.
[[nodiscard]] std::string percent(std::optional<double> part);

/// A relative change as per cent with its sign: "+10.2 %".
[[nodiscard]] std::string percent_change(double change);

/// "1 block", "2 blocks", "2 processes"
[[nodiscard]] std::string counted(std::size_t number, std::string_view noun);

/// "5 to 9", or one of them where they are equal.
[[nodiscard]] std::string range_text(const std::string& least, const std::string& most);

/// "95 % interval"
[[nodiscard]] std::string interval_title(double level);

/// A unit for several times, so that they can be compared.
struct TimeUnit {
  std::string_view name;  ///< "ns", "µs", "ms" or "s"
  double ns = 1;
  int decimals = 0;  ///< so many that the shortest time has four digits
};

/// The largest unit in which the shortest of the times is at least 1.
[[nodiscard]] TimeUnit time_unit(double shortest_ns);

/// "32.63" in that unit.
[[nodiscard]] std::string time_in(const TimeUnit& unit, double ns);

/// "32.63 µs", in that unit, or in the one that suits it.
[[nodiscard]] std::string time_text(double ns, const TimeUnit& unit);
[[nodiscard]] std::string time_text(double ns);

/// In ns: four significant digits at most, and no more than two after the point; a dash for none.
[[nodiscard]] std::string ns_cell(std::optional<double> ns);

}  // namespace taskbench::reports::render
