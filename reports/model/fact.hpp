// A fact, or the reason why it is not known.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace taskbench::reports::model {

struct Unknown {
  std::string reason;
};

/// Either a value or the reason for having none.
template <class T>
struct Fact {
  std::optional<T> value{};
  std::string reason = "not looked at";  ///< empty if there is a value

  Fact() = default;
  Fact(T known) : value(std::move(known)), reason() {}  // NOLINT: a value is a fact
  Fact(Unknown why) : reason(std::move(why.reason)) {}  // NOLINT
  [[nodiscard]] static Fact known(T value) { return Fact(std::move(value)); }
  [[nodiscard]] static Fact unknown(std::string reason) { return Unknown{std::move(reason)}; }

  [[nodiscard]] explicit operator bool() const { return value.has_value(); }
  [[nodiscard]] const T& operator*() const { return *value; }
  [[nodiscard]] const T* operator->() const { return &*value; }
};

}  // namespace taskbench::reports::model
