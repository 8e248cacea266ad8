// Sentences below a table or in a report, and what they are about.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace taskbench::reports::render {

using Sentences = std::vector<std::string>;

/// Adds a sentence, or a cell of a row.
template <class... Args>
void add(std::vector<std::string>& texts, fmt::format_string<Args...> text, Args&&... args) {
  texts.push_back(fmt::format(text, std::forward<Args>(args)...));
}

inline void append(Sentences& sentences, Sentences more) {
  for (std::string& each : more) sentences.push_back(std::move(each));
}

/// "a.json, b.json and 98 more"
[[nodiscard]] std::string some_of(const std::vector<std::string>& texts,
                                  std::string_view between = ", ", std::size_t most = 5);

/// Values by name, in the order in which the names first appear.
template <class Value>
class InOrder {
 public:
  std::size_t place_of(std::string_view name) {
    const auto [place, is_new] = places_.try_emplace(std::string(name), entries_.size());
    if (is_new) entries_.emplace_back(name, Value());
    return place->second;
  }
  Value& operator[](std::string_view name) { return entries_[place_of(name)].second; }

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

using NamesAndReasons = std::vector<std::pair<std::string, std::string>>;

/// "sort, hash and 7 more: no verdict: too few files.", with "no verdict: " as `what`: a sentence
/// for each reason. Empty reasons are left out.
void add_shared(Sentences& sentences, const NamesAndReasons& reasons, std::string_view what);

}  // namespace taskbench::reports::render
