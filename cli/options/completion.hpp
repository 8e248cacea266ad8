// The candidates for the next word of a command line, for shells that call `taskbench __complete`.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/options/options.hpp"
#include "cli/output/names.hpp"

namespace taskbench::cli {

/// The hidden first word that asks for candidates.
inline constexpr std::string_view kCompleteWord = "__complete";

/// The candidates for the last of `words`, which may be empty: one per line, followed by a tab and
/// its description. ":files" alone stands for file names; a candidate that ends in '=' needs a
/// value after it. `words` do not include the program's name; `--option=value` is one word, or
/// three, as Readline splits it.
[[nodiscard]] std::string candidates(const CLI::App& root, const DeclaredOptions& options,
                                     std::span<const std::string> words);

}  // namespace taskbench::cli
