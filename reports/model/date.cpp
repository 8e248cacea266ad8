#include "reports/model/date.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace taskbench::reports::model {
namespace {

constexpr std::string_view kDateForm = "dddd-dd-ddTdd:dd:dd";

/// The numbers in place of the digits of `form`; empty if the text does not have that form.
std::vector<int> numbers_in(std::string_view text, std::string_view form) {
  if (text.size() != form.size()) return {};
  std::vector<int> numbers{0};
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (form[i] == 'd') {
      if (text[i] < '0' || text[i] > '9') return {};
      numbers.back() = 10 * numbers.back() + (text[i] - '0');
    } else {
      if (text[i] != form[i] && !(form[i] == 'T' && text[i] == ' ')) return {};
      numbers.push_back(0);
    }
  }
  return numbers;
}

/// The offset from UTC for "+01:00", "-0530", "Z" or an empty text.
std::optional<std::chrono::minutes> offset_of(std::string_view zone) {
  if (zone.empty() || zone == "Z") return std::chrono::minutes(0);
  if (zone.front() != '+' && zone.front() != '-') return std::nullopt;
  std::string digits(zone.substr(1));
  if (digits.size() == 4) digits.insert(2, 1, ':');
  const std::vector<int> parts = numbers_in(digits, "dd:dd");
  if (parts.empty()) return std::nullopt;
  return std::chrono::minutes((zone.front() == '-' ? -1 : 1) * (60 * parts[0] + parts[1]));
}

}  // namespace

std::optional<std::chrono::sys_seconds> instant_of(std::string_view date) {
  using namespace std::chrono;
  const std::size_t end = std::min(date.size(), kDateForm.size());
  const std::vector<int> parts = numbers_in(date.substr(0, end), kDateForm);
  const auto offset = offset_of(date.substr(end));
  if (parts.empty() || !offset) return std::nullopt;
  const year_month_day day{year(parts[0]), month(static_cast<unsigned>(parts[1])),
                           std::chrono::day(static_cast<unsigned>(parts[2]))};
  if (!day.ok()) return std::nullopt;
  return sys_days(day) + hours(parts[3]) + minutes(parts[4]) + seconds(parts[5]) - *offset;
}

std::string day_of(std::string_view date) {
  return std::string(instant_of(date) ? date.substr(0, 10) : date);
}

std::string time_of_day(std::string_view date) {
  return std::string(instant_of(date) ? date.substr(11, 8) : std::string_view());
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<long long>(std::llround(std::max(0.0, seconds)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace taskbench::reports::model
