// Finding things by value or by name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace taskbench::reports::model {

/// Whether an element of the list, or the part of it that `part` takes, is equal to the value.
template <class List, class Value, class Part = std::identity>
[[nodiscard]] constexpr bool contains(const List& list, const Value& value, Part part = {}) {
  return std::ranges::find(list, value, part) != std::ranges::end(list);
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
  /// The place of the name; a new one comes last.
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
    std::vector<std::string> result;
    for (const auto& entry : entries_) result.push_back(entry.first);
    return result;
  }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }

 private:
  std::vector<std::pair<std::string, Value>> entries_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace taskbench::reports::model
