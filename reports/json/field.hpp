// A value of a JSON document with its place in it, for readers that believe nothing.
//
// nlohmann's own conversions take a true for a 1, and cut a number that does not fit; here each
// value is of the type that it is meant to be, or the message names the field.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace taskbench::reports::json {

/// What is wrong with which field.
class FieldError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Refers to the document, which must outlive it.
class Field {
 public:
  using Json = nlohmann::ordered_json;

  /// `where`: "settings.seed", "processes[3].real_ns"; empty for the document itself.
  Field(const Json& value, std::string where) : value_(&value), where_(std::move(where)) {}

  [[noreturn]] void fail(std::string_view what) const;

  [[nodiscard]] bool contains(const std::string& key) const { return value_->contains(key); }
  [[nodiscard]] Field at(const std::string& key) const;
  [[nodiscard]] std::vector<Field> elements() const;
  [[nodiscard]] std::vector<std::pair<std::string, Field>> members() const;
  [[nodiscard]] const Json& json() const { return *value_; }

  [[nodiscard]] bool is_null() const { return value_->is_null(); }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string text_or_empty() const;  ///< empty for null
  [[nodiscard]] std::int64_t whole(std::int64_t min, std::int64_t max) const;
  [[nodiscard]] std::uint64_t seed() const;
  [[nodiscard]] double number() const;
  [[nodiscard]] double not_negative() const;
  [[nodiscard]] double positive() const;

  template <class T>
  [[nodiscard]] T get() const {
    T value{};
    get_to(value);
    return value;
  }

  /// What a key that may be missing has.
  template <class T>
  [[nodiscard]] T value(const std::string& key, T otherwise) const {
    return contains(key) ? at(key).template get<T>() : otherwise;
  }

  void get_to(bool& value) const;
  void get_to(double& value) const { value = number(); }
  void get_to(std::uint64_t& value) const { value = seed(); }
  void get_to(std::string& value) const { value = text(); }

  template <std::signed_integral T>
  void get_to(T& value) const {
    value = static_cast<T>(whole(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  }

  template <class T>
  void get_to(std::vector<T>& value) const {
    value.clear();
    for (const Field& element : elements()) value.push_back(element.template get<T>());
  }

  template <class T>
  void get_to(std::map<std::string, T>& value) const {
    value.clear();
    for (const auto& [key, member] : members()) value[key] = member.template get<T>();
  }

 private:
  const Json* value_;
  std::string where_;
};

}  // namespace taskbench::reports::json
