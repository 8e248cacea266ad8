// Something that was found out, or why it could not be.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace taskbench::reports::model {

/// Either a value or the reason why there is none.
template <class T>
struct Fact {
  std::optional<T> value{};
  std::string reason = "not looked at";  ///< empty when there is a value

  [[nodiscard]] static Fact known(T value) { return {std::move(value), {}}; }
  [[nodiscard]] static Fact unknown(std::string reason) {
    return {std::nullopt, std::move(reason)};
  }

  [[nodiscard]] explicit operator bool() const { return value.has_value(); }
  [[nodiscard]] const T& operator*() const { return *value; }
  [[nodiscard]] const T* operator->() const { return &*value; }
};

}  // namespace taskbench::reports::model
