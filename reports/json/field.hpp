// Writes a struct as a JSON object, and reads it with full validation.
//
// One function describes a struct's fields for both directions:
//
//   template <class Io, Like<model::NoiseFloor> Floor>
//   void describe(Io& io, Floor& floor) {
//     io("epsilon", floor.epsilon, is_not_negative);
//     io("source", floor.source);
//   }
//
// Fields that are only written are described for a Writer alone. Unknown values are written as
// null, never as a value that means "unknown"; a number that is not finite is also unknown, and is
// left out of a list or a map. nlohmann's own conversions accept true as 1, and truncate a number
// that does not fit; here each value must have its intended type, or the message names the field.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "reports/json/parse.hpp"
#include "reports/model/machine_key.hpp"

namespace taskbench::reports::json {

/// Matches a struct, which is const for writing.
template <class T, class Struct>
concept Like = std::same_as<std::remove_const_t<T>, Struct>;

/// The names of an enumeration's values in files, in order. A value without a name is neither
/// written nor read.
template <class Enum>
inline constexpr std::array<std::string_view, 0> kWords{};

[[nodiscard]] constexpr auto words(auto... each) {
  return std::to_array<std::string_view>({each...});
}

template <class Enum>
[[nodiscard]] std::string_view word_of(Enum value) {
  return kWords<Enum>[static_cast<std::size_t>(value)];
}

/// The handling of a member that is missing or invalid: some of the files are written by other
/// programs.
enum class Mistakes {
  refused,
  ignored,  ///< the value stays as it is; in a list, it is left out
};

/// A value of a JSON text, together with its place in it. Refers to the parsed value, which must
/// outlive it. Anything unexpected throws ParseError.
class Field {
 public:
  /// `where`: "settings.seed", "processes[3].real_ns"; empty for the outermost value.
  explicit Field(const Json& value, std::string where = {}, Mistakes mistakes = Mistakes::refused)
      : value_(&value), where_(std::move(where)), mistakes_(mistakes) {}

  [[noreturn]] void fail(std::string_view what) const;

  [[nodiscard]] bool contains(const std::string& key) const { return value_->contains(key); }
  [[nodiscard]] bool is_lenient() const { return mistakes_ == Mistakes::ignored; }

  /// Calls read(); false if that fails and mistakes are ignored.
  template <class Read>
  bool tries(const Read& read) const {
    if (!is_lenient()) return read(), true;
    try {
      return read(), true;
    } catch (const ParseError&) {
      return false;
    }
  }
  [[nodiscard]] Field at(const std::string& key) const;
  [[nodiscard]] std::vector<Field> elements() const;
  [[nodiscard]] std::vector<std::pair<std::string, Field>> members() const;
  [[nodiscard]] const Json& json() const { return *value_; }

  [[nodiscard]] bool is_null() const { return value_->is_null(); }
  [[nodiscard]] std::int64_t whole(std::int64_t min, std::int64_t max) const;

  template <class T>
  [[nodiscard]] T get() const {
    T value{};
    get_to(value);
    return value;
  }

  void get_to(bool& value) const;
  void get_to(double& value) const;
  void get_to(std::uint64_t& value) const;
  void get_to(unsigned& value) const { value = static_cast<unsigned>(whole(0, ~0U)); }
  void get_to(std::string& value) const;

  template <std::signed_integral T>
  void get_to(T& value) const {
    value = static_cast<T>(whole(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  }

  template <class T>
  void get_to(std::vector<T>& value) const {
    value.clear();
    for (const Field& element : elements()) {
      if (!tries([&] { element.get_to(value.emplace_back()); })) value.pop_back();
    }
  }

  template <class T>
  void get_to(std::map<std::string, T>& value) const {
    value.clear();
    for (const auto& [key, member] : members()) {
      T one{};
      if (member.tries([&, &of = member] { of.get_to(one); })) value[key] = std::move(one);
    }
  }

  template <class T>
  void get_to(std::set<T>& value) const {
    value.clear();
    for (const Field& element : elements()) tries([&] { value.insert(element.template get<T>()); });
  }

  /// null stands for an empty optional.
  template <class T>
  void get_to(std::optional<T>& value) const {
    value = is_null() ? std::nullopt : std::optional(get<T>());
  }

  /// Reads an object whose values are all texts.
  void get_to(std::vector<model::KeyField>& value) const;

  template <class Enum>
  requires std::is_enum_v<Enum>
  void get_to(Enum& value) const { value = static_cast<Enum>(place_among(kWords<Enum>)); }

  /// Reads a struct that has a describe().
  template <class Struct>
  requires std::is_class_v<Struct>
  void get_to(Struct& value) const;

 private:
  [[nodiscard]] std::size_t place_among(std::span<const std::string_view> words) const;

  const Json* value_;
  std::string where_;
  Mistakes mistakes_;
};

// Checks for fields, applied before these are read. They throw ParseError.
void is_positive(const Field& field);
void is_not_negative(const Field& field);
void is_chance(const Field& field);  ///< between 0 and 1
void is_not_empty(const Field& field);

/// Whether this taskbench reads that version. Versions before `oldest` were never written.
void is_version(const Field& field, int oldest, int newest);

template <std::int64_t least, std::int64_t most>
void is_whole(const Field& field) {
  static_cast<void>(field.whole(least, most));
}

/// Reads an object by its description. Throws ParseError.
class Reader {
 public:
  explicit Reader(const Field& object) : object_(object) {}

  template <class T, class... Checks>
  void operator()(const std::string& key, T& value, const Checks&... checks) {
    if (object_.is_lenient() && !object_.contains(key)) return;
    object_.tries([&] {
      const Field field = object_.at(key);
      (checks(field), ...);
      field.get_to(value);
    });
  }

  /// A field that files of older versions do not have; the value then stays as it is.
  template <class T, class... Checks>
  void since(const std::string& key, T& value, const Checks&... checks) {
    if (object_.contains(key)) (*this)(key, value, checks...);
  }

  /// A field that is in the file only if it differs from its default.
  template <class T, class... Checks>
  void unless_default(const std::string& key, T& value, const Checks&... checks) {
    since(key, value, checks...);
  }

  /// A value that is null in the file if it has its default, which means "unknown".
  template <class T>
  void or_null(const std::string& key, T& value) {
    std::optional<T> known;
    (*this)(key, known);
    if (known) value = std::move(*known);
  }

  /// The version of the file. Versions before `oldest` were never written. Other programs' files
  /// have none.
  void version(const std::string& key, int oldest, int newest) {
    if (!object_.is_lenient() || object_.contains(key)) is_version(object_.at(key), oldest, newest);
  }

  /// A field for other readers that is derived from the rest.
  template <class Value>
  void derived(const std::string& /*key*/, const Value& /*value*/) {}

  /// Either the reason for having no value, or the members of the value.
  template <class T, class Describe>
  void either(const std::string& key, std::string& reason, std::optional<T>& value,
              const Describe& describe_value) {
    if (object_.contains(key)) return (*this)(key, reason);
    reason.clear();
    describe_value(value.emplace());
  }

  /// Some members of the struct, in an object of their own.
  template <class Describe>
  void part(const std::string& key, const Describe& describe_part) {
    Reader inner(object_.at(key));
    describe_part(inner);
  }

  /// The objects of a list, each described by describe_one(reader, value).
  template <class T, class Describe>
  void each(const std::string& key, std::vector<T>& values, const Describe& describe_one) {
    if (object_.is_lenient() && !object_.contains(key)) return;
    object_.tries([&] {
      for (const Field& element : object_.at(key).elements()) {
        Reader reader(element);
        describe_one(reader, values.emplace_back());
      }
    });
  }

  /// The members of a struct that may be missing; then all are null. `key` is one of them.
  template <class Struct>
  void members(const std::string& key, std::optional<Struct>& value) {
    if (!object_.at(key).is_null()) describe(*this, value.emplace());
  }

 private:
  Field object_;
};

/// JSON for anything that can be read back. An empty optional is null.
template <class T>
[[nodiscard]] Json json_of(const T& value);

/// Writes an object by its description.
class Writer {
 public:
  template <class T, class... Checks>
  void operator()(const std::string& key, const T& value, const Checks&... /*of readers*/) {
    object[key] = is_null_ ? Json() : json_of(value);
  }

  template <class T, class... Checks>
  void since(const std::string& key, const T& value, const Checks&... /*of readers*/) {
    (*this)(key, value);
  }

  template <class T, class... Checks>
  void unless_default(const std::string& key, const T& value, const Checks&... /*of readers*/) {
    if (value != T{}) (*this)(key, value);
  }

  template <class T>
  void or_null(const std::string& key, const T& value) {
    (*this)(key, value == T{} ? std::nullopt : std::optional(value));
  }

  void version(const std::string& key, int /*oldest*/, int newest) { (*this)(key, newest); }

  /// A field that `value` derives from the rest.
  template <class Value>
  void derived(const std::string& key, const Value& value) {
    (*this)(key, value());
  }

  /// A list of objects, each described by describe_one(writer, value).
  template <class List, class Describe>
  void each(const std::string& key, const List& values, const Describe& describe_one) {
    object[key] = Json::array();
    for (const auto& value : values) {
      Writer inner;
      describe_one(inner, value);
      object[key].push_back(std::move(inner.object));
    }
  }

  template <class T, class Describe>
  void either(const std::string& key, const std::string& reason, const std::optional<T>& value,
              const Describe& describe_value) {
    if (!value) return (*this)(key, reason);
    describe_value(*value);
  }

  template <class Describe>
  void part(const std::string& key, const Describe& describe_part) {
    Writer inner;
    describe_part(inner);
    object[key] = std::move(inner.object);
  }

  template <class Struct>
  void members(const std::string& /*of them*/, const std::optional<Struct>& value) {
    is_null_ = !value;
    const Struct none{};
    describe(*this, value ? *value : none);
    is_null_ = false;
  }

  Json object = Json::object();

 private:
  bool is_null_ = false;
};

template <class Struct>
requires std::is_class_v<Struct>
void Field::get_to(Struct& value) const {
  Reader reader(*this);
  describe(reader, value);
}

namespace detail {

/// The types that JSON itself has: texts, numbers, and existing JSON.
template <class T>
requires std::is_arithmetic_v<T> || std::convertible_to<T, std::string_view> ||
    std::same_as<T, Json>
        Json as_json(const T& value) {
  return value;
}

inline Json as_json(const std::vector<model::KeyField>& fields) {
  Json result = Json::object();
  for (const model::KeyField& field : fields) result[field.name] = field.value;
  return result;
}

template <class Enum>
requires std::is_enum_v<Enum> Json as_json(Enum value) { return word_of(value); }

template <class T>
Json as_json(const std::optional<T>& value) {
  return value ? json_of(*value) : Json();
}

/// Whether JSON has the value: its numbers are finite.
template <class T>
bool is_in_json(const T& value) {
  if constexpr (std::floating_point<T>) return std::isfinite(value);
  return true;
}

template <class T>
Json as_json(const std::vector<T>& values) {
  Json result = Json::array();
  for (const T& value : values) {
    if (is_in_json(value)) result.push_back(json_of(value));
  }
  return result;
}

template <class T>
Json as_json(const std::set<T>& values) {
  return values;
}

template <class T>
Json as_json(const std::map<std::string, T>& values) {
  Json::object_t members;  // built without a lookup per key: map keys are unique
  members.reserve(values.size());
  for (const auto& [key, value] : values) {
    if (is_in_json(value)) members.emplace_back(key, json_of(value));
  }
  return members;
}

template <class Struct>
requires requires(Writer& writer, const Struct& value) { describe(writer, value); }
Json as_json(const Struct& value) {
  Writer writer;
  describe(writer, value);
  return std::move(writer.object);
}

}  // namespace detail

template <class T>
Json json_of(const T& value) {
  return detail::as_json(value);
}

// Host names, paths and messages come from outside and need not be UTF-8. Invalid bytes become
// U+FFFD; an exception would lose the whole file.

/// The text of a file: indented, with a newline at its end.
[[nodiscard]] std::string file_text(const Json& document);
template <class Struct>
[[nodiscard]] std::string file_text(const Struct& value) {
  return file_text(json_of(value));
}

/// The text on one line, without a newline.
[[nodiscard]] std::string line_text(const Json& document);
template <class Struct>
[[nodiscard]] std::string line_text(const Struct& value) {
  return line_text(json_of(value));
}

/// The result of `read` for the text of a file. Throws ReadError if that fails: "PATH: ", `what`,
/// the error, and what to do about it.
template <class Read>
[[nodiscard]] auto read_file_text(const std::filesystem::path& path, std::string_view text,
                                  std::string_view what, std::string_view mend, const Read& read) {
  try {
    const Json document = parse_json(text);
    return read(Field(document));
  } catch (const ParseError& error) {
    throw ReadError(fmt::format("{}: {}{}; {}", path.string(), what, error.what(), mend));
  }
}

}  // namespace taskbench::reports::json
