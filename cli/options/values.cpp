#include "cli/options/values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace taskbench::cli {
namespace {

struct Unit {
  std::string_view name;
  double seconds;
};

constexpr std::array<Unit, 5> kUnits{{
    {"us", 1e-6},
    {"ms", 1e-3},
    {"s", 1},
    {"m", 60},
    {"h", 3600},
}};

[[noreturn]] void refuse_range(std::string_view name, std::string_view text, std::string_view min,
                               std::string_view max) {
  throw UsageError(fmt::format("{}: '{}' is out of range; it must be from {} to {}", name,
                               shortened(text), min, max));
}

}  // namespace

std::uint64_t parse_whole_number(std::string_view name, std::string_view text, std::uint64_t min,
                                 std::uint64_t max) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (digits.empty() || !std::ranges::all_of(digits, is_digit)) {
    throw UsageError(fmt::format("{}: '{}' is not a whole number; give one from {} to {}", name,
                                 shortened(text), min, max));
  }
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  // All digits, so what is left to fail is a sign or more than 64 bits.
  if (result.ec != std::errc{} || value < min || value > max) {
    refuse_range(name, text, std::to_string(min), std::to_string(max));
  }
  return value;
}

std::string duration_limit_text(double seconds) {
  // The largest unit of which it is a whole number, as 70s is none of minutes; else the largest.
  const Unit* unit = kUnits.data();
  bool is_whole = false;
  for (const Unit& candidate : kUnits) {
    const double number = seconds / candidate.seconds;
    if (number < 1 - 1e-9) break;
    const bool whole = std::abs(number - std::round(number)) < 1e-9 * number;
    if (is_whole && !whole) continue;
    unit = &candidate;
    is_whole = whole;
  }
  return fmt::format("{:.10g}{}", seconds / unit->seconds, unit->name);
}

double parse_duration_s(std::string_view name, std::string_view text, double min_s, double max_s) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  std::string_view unit_name(result.ptr, static_cast<std::size_t>(end - result.ptr));
  if (unit_name.empty()) unit_name = "s";
  const auto unit = std::ranges::find(kUnits, unit_name, &Unit::name);
  // from_chars takes "inf" and "nan" too.
  if (result.ec == std::errc::invalid_argument || unit == kUnits.end() || std::isnan(number)) {
    throw UsageError(fmt::format(
        "{}: '{}' is not a duration; write seconds, or a number with us, ms, s, m or h: 0.1, "
        "500ms, 2m",
        name, shortened(text)));
  }
  const double seconds = number * unit->seconds;
  // The limits are compared with a little slack: 0.1 ms and 1e-4 s differ in the last bit.
  const bool inside = seconds >= min_s * (1 - 1e-9) && seconds <= max_s * (1 + 1e-9);
  if (result.ec != std::errc{} || !inside) {
    refuse_range(name, text, duration_limit_text(min_s), duration_limit_text(max_s));
  }
  return seconds;
}

double parse_fraction(std::string_view name, std::string_view text, double min, double max) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  const std::string_view rest(result.ptr, static_cast<std::size_t>(end - result.ptr));
  const bool is_percent = rest == "%" || rest == " %";
  if (result.ec != std::errc{} || (!rest.empty() && !is_percent) || !std::isfinite(number)) {
    throw UsageError(
        fmt::format("{}: '{}' is not a percentage; write 3% or 0.03", name, shortened(text)));
  }
  const double value = is_percent ? number / 100 : number;
  if (value < min * (1 - 1e-9) || value > max * (1 + 1e-9)) {
    refuse_range(name, text, fmt::format("{:g}%", 100 * min), fmt::format("{:g}%", 100 * max));
  }
  return value;
}

Strings parse_list(std::string_view name, const Strings& given) {
  Strings items;
  for (const std::string& list : given) {
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t comma = std::min(list.find(',', begin), list.size());
      std::string item = list.substr(begin, comma - begin);
      begin = comma + 1;
      if (item.empty()) {
        throw UsageError(fmt::format("{}: an item of '{}' is empty", name, shortened(list)));
      }
      if (std::ranges::find(items, item) != items.end()) {
        throw UsageError(fmt::format("{}: '{}' is given twice", name, shortened(item)));
      }
      items.push_back(std::move(item));
    }
  }
  return items;
}

std::string shortened(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::size_t end = 0;
  for (std::size_t characters = 0; end < text.size(); ++end) {
    const bool starts = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
    if (starts && ++characters > kMost) break;
  }
  end = std::min(end, 4 * kMost);  // what is not UTF-8 may consist of continuation bytes only
  return end < text.size() ? fmt::format("{}…", text.substr(0, end)) : std::string(text);
}

}  // namespace taskbench::cli
