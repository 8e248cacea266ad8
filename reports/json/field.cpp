#include "reports/json/field.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace taskbench::reports::json {

void Field::fail(std::string_view what) const {
  throw ParseError(where_.empty() ? fmt::format("it {}", what)
                                  : fmt::format("field '{}' {}", where_, what));
}

Field Field::at(const std::string& key) const {
  if (!value_->is_object()) fail("is not an object");
  const auto found = value_->find(key);
  std::string where = where_.empty() ? key : where_ + '.' + key;
  if (found == value_->end()) throw ParseError(fmt::format("field '{}' is missing", where));
  return Field(*found, std::move(where), mistakes_);
}

std::vector<Field> Field::elements() const {
  if (!value_->is_array()) fail("is not an array");
  std::vector<Field> result;
  result.reserve(value_->size());
  for (const Json& each : *value_) {
    result.emplace_back(each, fmt::format("{}[{}]", where_, result.size()), mistakes_);
  }
  return result;
}

std::vector<std::pair<std::string, Field>> Field::members() const {
  if (!value_->is_object()) fail("is not an object");
  std::vector<std::pair<std::string, Field>> result;
  result.reserve(value_->size());
  for (const auto& [key, value] : value_->items()) {
    result.emplace_back(key, Field(value, where_.empty() ? key : where_ + '.' + key, mistakes_));
  }
  return result;
}

std::int64_t Field::whole(std::int64_t min, std::int64_t max) const {
  const bool fits = value_->is_number_unsigned()
                        ? std::cmp_less_equal(value_->get<std::uint64_t>(), max)
                        : value_->is_number_integer();
  if (!fits || value_->get<std::int64_t>() < min || value_->get<std::int64_t>() > max) {
    fail(fmt::format("is not a whole number from {} to {}", min, max));
  }
  return value_->get<std::int64_t>();
}

void Field::get_to(bool& value) const {
  if (!value_->is_boolean()) fail("is neither true nor false");
  value = value_->get<bool>();
}

void Field::get_to(double& value) const {
  if (!value_->is_number()) fail("is not a number");
  value = value_->get<double>();
}

void Field::get_to(std::uint64_t& value) const {
  if (!value_->is_number_unsigned()) fail("is not a whole number of 0 or more");
  value = value_->get<std::uint64_t>();
}

void Field::get_to(std::string& value) const {
  if (!value_->is_string()) fail("is not a text");
  value = value_->get<std::string>();
}

void Field::get_to(std::vector<model::KeyField>& value) const {
  value.clear();
  for (const auto& [name, member] : members()) value.push_back({name, member.get<std::string>()});
}

std::size_t Field::place_among(std::span<const std::string_view> words) const {
  const auto word = get<std::string>();
  const auto found = std::ranges::find(words, word);
  if (found == words.end()) {
    fail(fmt::format("is '{}', and can only be {}", word, fmt::join(words, ", ")));
  }
  return static_cast<std::size_t>(found - words.begin());
}

void is_positive(const Field& field) {
  const Json& value = field.json();
  const bool fits = value.is_number() && std::isfinite(value.get<double>());
  if (!fits || value.get<double>() <= 0) field.fail("is not a positive number");
}

void is_not_negative(const Field& field) {
  const Json& value = field.json();
  const bool fits = value.is_number() && std::isfinite(value.get<double>());
  if (!fits || value.get<double>() < 0) field.fail("is not a number of 0 or more");
}

void is_chance(const Field& field) {
  is_positive(field);
  if (field.get<double>() >= 1) field.fail("is not between 0 and 1");
}

void is_not_empty(const Field& field) {
  if (field.json().empty()) field.fail("is empty");
}

void is_version(const Field& field, int oldest, int newest) {
  const auto found = field.whole(oldest, std::numeric_limits<std::int64_t>::max());
  if (found > newest) {
    field.fail(fmt::format("is {}; this taskbench reads versions up to {}: use a later taskbench",
                           found, newest));
  }
}

std::string file_text(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string line_text(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace taskbench::reports::json
