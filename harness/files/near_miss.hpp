// "Did you mean …": finds the known name that is nearest to a mistyped one.
#pragma once

#include <ranges>

#include "harness/files/names.hpp"

namespace taskbench::harness {

/// Names to choose from, made of any range of texts. The texts must outlive it.
struct Names : std::vector<std::string_view> {
  template <std::ranges::input_range Texts>
  Names(const Texts& texts) : vector(std::ranges::begin(texts), std::ranges::end(texts)) {}
};

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (optimal
/// string alignment). Case and the difference between '-' and '_' cost nothing.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name that `text` most likely stands for: the only name that begins with it, or the first of
/// the nearest names, if that is near enough to be a typing error.
[[nodiscard]] std::optional<std::string_view> nearest(std::string_view text, const Names& names);

/// "unknown workload 'chained_spwan'; did you mean 'chained_spawn'?", or the list of names if none
/// is near.
[[nodiscard]] std::string unknown_name(std::string_view kind, std::string_view text,
                                       const Names& names);

/// At most 60 characters of a text, with "…" for the rest. For messages.
[[nodiscard]] std::string shortened(std::string_view text);

}  // namespace taskbench::harness
