// Finds elements by value or by name, and makes lists of their parts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace taskbench::reports::model {

/// Whether an element of the list, or its `part`, is equal to the value.
template <class List, class Value, class Part = std::identity>
[[nodiscard]] constexpr bool contains(const List& list, const Value& value, Part part = {}) {
  return std::ranges::find(list, value, part) != std::ranges::end(list);
}

/// The first element whose `part` is equal to the value; null if there is none.
template <class List, class Value, class Part>
[[nodiscard]] constexpr auto* element_of(const List& list, const Value& value, Part part) {
  const auto found = std::ranges::find(list, value, part);
  return found == std::ranges::end(list) ? nullptr : &*found;
}

/// The results of `part`, a function or a member, for each element.
template <class List, class Part>
[[nodiscard]] auto each_of(const List& list, const Part& part) {
  std::vector<std::decay_t<std::invoke_result_t<Part, decltype(*std::begin(list))>>> parts;
  for (const auto& each : list) parts.push_back(std::invoke(part, each));
  return parts;
}

template <class Element>
[[nodiscard]] std::vector<const Element*> pointers_to(const std::vector<Element>& list) {
  return each_of(list, [](const Element& each) { return &each; });
}

/// Pointers to the elements for which `is_meant`, a function or a member, is true.
template <class List, class IsMeant>
[[nodiscard]] auto those_of(const List& list, const IsMeant& is_meant) {
  std::vector<decltype(&*std::begin(list))> those;
  for (const auto& each : list) {
    if (std::invoke(is_meant, each)) those.push_back(&each);
  }
  return those;
}

/// The value of a map at the key; null if there is none.
template <class Map, class Key>
[[nodiscard]] auto* find_in(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

/// A copy of the value of a map at the key; empty if there is none.
template <class Map, class Key>
[[nodiscard]] auto value_at(const Map& map, const Key& key) {
  const auto* const found = find_in(map, key);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

/// Values by name, in the order in which the names first appear.
template <class Value>
class InOrder {
 public:
  /// The index of the name; a new name comes last.
  std::size_t place_of(std::string_view name) {
    const auto [place, is_new] = places_.try_emplace(std::string(name), entries_.size());
    if (is_new) entries_.emplace_back(name, Value());
    return place->second;
  }
  Value& operator[](std::string_view name) { return entries_[place_of(name)].second; }

  /// The value; null if the name has not appeared.
  [[nodiscard]] const Value* find(std::string_view name) const {
    const auto* const place = find_in(places_, std::string(name));
    return place == nullptr ? nullptr : &entries_[*place].second;
  }
  [[nodiscard]] std::vector<std::string> names() const {
    return each_of(entries_, &std::pair<std::string, Value>::first);
  }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }

 private:
  std::vector<std::pair<std::string, Value>> entries_;
  std::unordered_map<std::string, std::size_t> places_;
};

/// "a.json, b.json and 98 more"
[[nodiscard]] inline std::string some_of(const std::vector<std::string>& texts,
                                         std::string_view between = ", ", std::size_t most = 5) {
  const std::span shown = std::span(texts).first(std::min(texts.size(), most));
  std::string text = fmt::format("{}", fmt::join(shown, between));
  if (shown.size() < texts.size()) text += fmt::format(" and {} more", texts.size() - shown.size());
  return text;
}

}  // namespace taskbench::reports::model
