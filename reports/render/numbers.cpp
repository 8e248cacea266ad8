#include "reports/render/numbers.hpp"

#include <array>
#include <cmath>

namespace taskbench::reports::render {
namespace {

/// A part in per cent; 0 if it would be shown as 0, so that there is no "-0.0 %".
double rounded(double part) {
  const double percent = 100 * part;
  return std::abs(percent) < 0.05 ? 0 : percent;
}

}  // namespace

std::string with_separators(std::uint64_t number) {
  return fmt::format("{}", fmt::group_digits(number));
}

std::string with_separators(double number, int decimals) {
  constexpr double kTooLong = 1e15;  // more digits than a double has, or than anybody reads
  if (std::abs(number) >= kTooLong) return fmt::format("{:.4g}", number);
  std::string text = fmt::format("{:.{}f}", number, decimals);
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  const std::size_t end = std::min(text.find('.'), text.size());
  for (std::size_t i = end; i > first + 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

std::string rate(double per_iteration) {
  if (per_iteration == 0) return "0";
  // The limits are where rounding to fewer digits starts: 9.996 is "10.0", not "10.00".
  if (per_iteration < 0.005) return "<0.01";
  return with_separators(per_iteration, per_iteration < 9.995 ? 2 : per_iteration < 99.95 ? 1 : 0);
}

std::string three_digits(double number) {
  if (number == 0) return "0";
  return std::abs(number) < 999.5 ? fmt::format("{:.3g}", number) : with_separators(number, 0);
}

std::string with_prefix(double number) {
  constexpr std::array<std::string_view, 9> kPrefixes{"",   " k", " M", " G", " T",
                                                      " P", " E", " Z", " Y"};
  std::size_t prefix = 0;
  for (; std::abs(number) >= 999.5 && prefix + 1 < kPrefixes.size(); ++prefix) number /= 1000;
  return fmt::format("{:.3g}{}", number, kPrefixes[prefix]);
}

std::string percent(std::optional<double> part) {
  return part ? fmt::format("{:.1f} %", rounded(*part)) : std::string(kNone);
}

std::string percent_change(double change) { return fmt::format("{:+.1f} %", rounded(change)); }

std::string range_text(const std::string& least, const std::string& most) {
  return least == most ? least : fmt::format("{} to {}", least, most);
}

std::string interval_title(double level) {
  return fmt::format("{:g} % interval", std::round(1000 * level) / 10);
}

TimeUnit time_unit(double shortest_ns) {
  constexpr std::array<TimeUnit, 4> kUnits = {
      {{"s", 1e9, 0}, {"ms", 1e6, 0}, {"µs", 1e3, 0}, {"ns", 1, 0}}};
  // The limits are where rounding adds a digit: 999.96 µs would be shown as 1,000.0 µs.
  constexpr double kShownAsOne = 0.99995;
  if (!std::isfinite(shortest_ns)) return kUnits.back();
  TimeUnit unit = *std::find_if(kUnits.begin(), kUnits.end() - 1, [shortest_ns](const TimeUnit& u) {
    return shortest_ns >= kShownAsOne * u.ns;
  });
  const double shortest = shortest_ns / unit.ns;
  unit.decimals = shortest < 9.9995 ? 3 : shortest < 99.995 ? 2 : shortest < 999.95 ? 1 : 0;
  return unit;
}

std::string time_in(const TimeUnit& unit, double ns) {
  return with_separators(ns / unit.ns, unit.decimals);
}

std::string time_text(double ns, const TimeUnit& unit) {
  return fmt::format("{} {}", time_in(unit, ns), unit.name);
}

std::string time_text(double ns) {
  constexpr double kLeastShown = 0.0005;  // less would be shown as 0.000 ns
  return ns > 0 && ns < kLeastShown ? fmt::format("{:.3g} ns", ns) : time_text(ns, time_unit(ns));
}

std::string ns_cell(std::optional<double> ns) {
  return ns ? with_separators(*ns, *ns < 99.995 ? 2 : *ns < 999.95 ? 1 : 0) : std::string(kNone);
}

}  // namespace taskbench::reports::render
