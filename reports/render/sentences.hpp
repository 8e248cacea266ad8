// Sentences for a table's notes or a report, with the names that they are about.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/model/lookup.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::reports::render {

using model::each_of;
using model::InOrder;
using model::pointers_to;
using model::some_of;
using Sentences = std::vector<std::string>;

/// Adds a sentence, or a cell of a row.
template <class... Args>
void add(std::vector<std::string>& texts, fmt::format_string<Args...> text, Args&&... args) {
  texts.push_back(fmt::format(text, std::forward<Args>(args)...));
}

inline void append(Sentences& sentences, Sentences more) {
  for (std::string& each : more) sentences.push_back(std::move(each));
}

/// The text with a capital letter at the beginning.
[[nodiscard]] std::string capitalised(std::string text);

/// "sort, hash and 7 more: only head has it."; adds nothing if there are no names.
void add_named(Sentences& sentences, const std::vector<std::string>& names, std::string_view what);

using NamesAndReasons = std::vector<model::LeftOut>;

/// "sort, hash and 7 more: no verdict: too few files.", with "no verdict: " as `what`: a sentence
/// for each reason. Empty reasons are left out.
void add_shared(Sentences& sentences, const NamesAndReasons& reasons, std::string_view what);

}  // namespace taskbench::reports::render
