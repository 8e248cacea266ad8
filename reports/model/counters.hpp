// Numbers by name, as a repetition has them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace taskbench::reports::model {

/// A map in one piece, in the order of the names. Result files have millions of counters, and a
/// std::map would take twice as much memory as their text.
class Counters {
 public:
  using Entry = std::pair<std::string, double>;
  using Iterator = std::vector<Entry>::const_iterator;

  Counters() = default;
  Counters(std::initializer_list<Entry> entries) {
    for (const auto& [name, value] : entries) (*this)[name] = value;
  }

  double& operator[](std::string_view name) {
    auto place = place_of(name);
    if (place == entries_.end() || place->first != name) place = entries_.emplace(place, name, 0);
    return place->second;
  }

  [[nodiscard]] Iterator find(std::string_view name) const {
    const auto place = place_of(name);
    return place != end() && place->first == name ? place : end();
  }

  [[nodiscard]] bool contains(std::string_view name) const { return find(name) != end(); }

  /// Throws std::out_of_range if there is none of that name.
  [[nodiscard]] double at(std::string_view name) const {
    const auto found = find(name);
    if (found == end()) throw std::out_of_range("no counter " + std::string(name));
    return found->second;
  }

  /// How many were erased.
  std::size_t erase(std::string_view name) {
    const auto place = find(name);
    if (place == end()) return 0;
    entries_.erase(place);
    return 1;
  }

  /// Gives back room for further ones.
  void shrink() { entries_.shrink_to_fit(); }

  [[nodiscard]] Iterator begin() const { return entries_.begin(); }
  [[nodiscard]] Iterator end() const { return entries_.end(); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  bool operator==(const Counters&) const = default;

 private:
  static bool is_before(const Entry& entry, std::string_view name) { return entry.first < name; }
  [[nodiscard]] Iterator place_of(std::string_view name) const {
    return std::lower_bound(entries_.begin(), entries_.end(), name, is_before);
  }
  std::vector<Entry>::iterator place_of(std::string_view name) {
    return std::lower_bound(entries_.begin(), entries_.end(), name, is_before);
  }

  std::vector<Entry> entries_;
};

}  // namespace taskbench::reports::model
