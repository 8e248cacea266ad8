// What can stand next on a command line: asked by the shells through `taskbench __complete`.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/options/options.hpp"
#include "cli/output/names.hpp"

namespace taskbench::cli {

/// The hidden first word that asks for candidates.
inline constexpr std::string_view kCompleteWord = "__complete";

/// A line each: what can take the place of the last of `words`, which may be empty, and after a tab
/// what it is. ":files" alone: the name of a file. What ends in '=' is to be followed by a value.
/// Without the program's name; `--option=value` is one word, or three, as Readline parts it.
[[nodiscard]] std::string candidates(const CLI::App& root, const OptionValueTable& values,
                                     std::span<const std::string> words);

}  // namespace taskbench::cli
