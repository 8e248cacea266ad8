#include "reports/json/field.hpp"

#include <fmt/format.h>

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

}  // namespace taskbench::reports::json
