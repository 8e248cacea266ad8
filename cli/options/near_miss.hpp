// "Did you mean …": which known name a mistyped one is nearest to.
#pragma once

#include <cstddef>

#include "cli/names.hpp"

namespace taskbench::cli {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (optimal
/// string alignment). Case and the difference between '-' and '_' cost nothing.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name that `text` most likely stands for: the only one it begins, or the first of the
/// nearest, when that one is near enough to be a slip of the fingers.
[[nodiscard]] std::optional<std::string_view> nearest(std::string_view text,
                                                      std::span<const std::string_view> names);

/// "unknown workload 'chained_spwan'; did you mean 'chained_spawn'?", or the list of the names
/// where none is near.
[[nodiscard]] std::string unknown_name(std::string_view kind, std::string_view text,
                                       std::span<const std::string_view> names);

}  // namespace taskbench::cli
