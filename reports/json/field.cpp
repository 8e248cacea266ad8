#include "reports/json/field.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace taskbench::reports::json {

void Field::fail(std::string_view what) const {
  throw FieldError(where_.empty() ? fmt::format("it {}", what)
                                  : fmt::format("field '{}' {}", where_, what));
}

Field Field::at(const std::string& key) const {
  if (!value_->is_object()) fail("is no object");
  const auto found = value_->find(key);
  std::string where = where_.empty() ? key : where_ + '.' + key;
  if (found == value_->end()) throw FieldError(fmt::format("field '{}' is missing", where));
  return {*found, std::move(where)};
}

std::vector<Field> Field::elements() const {
  if (!value_->is_array()) fail("is no array");
  std::vector<Field> result;
  result.reserve(value_->size());
  for (const Json& each : *value_) {
    result.emplace_back(each, fmt::format("{}[{}]", where_, result.size()));
  }
  return result;
}

std::vector<std::pair<std::string, Field>> Field::members() const {
  if (!value_->is_object()) fail("is no object");
  std::vector<std::pair<std::string, Field>> result;
  result.reserve(value_->size());
  for (const auto& [key, value] : value_->items()) {
    result.emplace_back(key, Field(value, where_.empty() ? key : where_ + '.' + key));
  }
  return result;
}

std::string Field::text() const {
  if (!value_->is_string()) fail("is no text");
  return value_->get<std::string>();
}

std::string Field::text_or_empty() const { return value_->is_null() ? std::string{} : text(); }

std::int64_t Field::whole(std::int64_t min, std::int64_t max) const {
  const bool fits = value_->is_number_unsigned()
                        ? std::cmp_less_equal(value_->get<std::uint64_t>(), max)
                        : value_->is_number_integer();
  if (!fits || value_->get<std::int64_t>() < min || value_->get<std::int64_t>() > max) {
    fail(fmt::format("is no whole number from {} to {}", min, max));
  }
  return value_->get<std::int64_t>();
}

std::uint64_t Field::seed() const {
  if (!value_->is_number_unsigned()) fail("is no whole number of 0 or more");
  return value_->get<std::uint64_t>();
}

double Field::number() const {
  if (!value_->is_number()) fail("is no number");
  return value_->get<double>();
}

double Field::not_negative() const {
  const double value = value_->is_number() ? value_->get<double>() : std::nan("");
  if (!std::isfinite(value) || value < 0) fail("is no number of 0 or more");
  return value;
}

double Field::positive() const {
  const double value = value_->is_number() ? value_->get<double>() : std::nan("");
  if (!std::isfinite(value) || value <= 0) fail("is no positive number");
  return value;
}

void Field::get_to(bool& value) const {
  if (!value_->is_boolean()) fail("is neither true nor false");
  value = value_->get<bool>();
}

std::size_t Field::place_among(const std::string_view* words, std::size_t count) const {
  const std::string word = text();
  const std::span all(words, count);
  const auto found = std::ranges::find(all, word);
  if (found == all.end()) {
    fail(fmt::format("is '{}', and can only be {}", word, fmt::join(all, ", ")));
  }
  return static_cast<std::size_t>(found - all.begin());
}

void is_chance(const Field& field) {
  if (field.positive() >= 1) field.fail("is not a chance between 0 and 1");
}

std::string file_text(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string line_text(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json text_or_null(std::string_view text) { return text.empty() ? Json() : Json(text); }

Json number_or_null(std::optional<double> number) {
  return number && std::isfinite(*number) ? Json(*number) : Json();
}

std::string text_or_empty(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<double> number_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::optional<std::uint64_t> count_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

bool is_true(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

const Json& array_in(const Json& object, const char* key) {
  static const Json empty = Json::array();
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : empty;
}

const Json& object_in(const Json& object, const char* key) {
  static const Json empty = Json::object();
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : empty;
}

}  // namespace taskbench::reports::json
