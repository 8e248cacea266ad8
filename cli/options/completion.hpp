// What can stand next on a command line: asked by the shells through `taskbench __complete`.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/options/options.hpp"
#include "cli/output/names.hpp"

namespace taskbench::cli {

/// The hidden first word that asks for candidates.
inline constexpr std::string_view kCompleteWord = "__complete";

/// What can take the place of the last of `words`, which may be empty: a candidate a line, followed
/// by a tab and what it is. ":files" alone means the name of a file; a candidate that ends in '='
/// is to be followed by a value. `words` do not include the program's name; `--option=value` is one
/// word, or three, as Readline splits it.
[[nodiscard]] std::string candidates(const CLI::App& root, const DeclaredOptions& options,
                                     std::span<const std::string> words);

}  // namespace taskbench::cli
