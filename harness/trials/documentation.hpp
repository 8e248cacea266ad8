// Which files a measured program cannot see, so that commits that differ in nothing else need no
// measurement.
#pragma once

#include "harness/trials/git.hpp"

namespace taskbench::harness {

/// The files that count as documentation unless the user says otherwise: those that hardly any
/// program reads as data, and hardly any build as a source.
inline constexpr std::string_view kDefaultDocumentation =
    "*.md,*.rst,README*,CHANGELOG*,CHANGES*,NEWS*,AUTHORS*,COPYING*,LICENSE*,"
    "doc/**/*.md,doc/**/*.rst,docs/**/*.md,docs/**/*.rst";

/// The value of --documentation for which no file counts as documentation.
inline constexpr std::string_view kNoDocumentation = "none";

/// Whether a path from the root of a repository matches a pattern: `*`, `?` and `[…]` stand for
/// parts of one name, as in the shell, and a name of `**` for any number of folders.
[[nodiscard]] bool matches(const std::string& pattern, const fs::path& path);

struct DocumentationOnly {
  bool holds = false;
  Strings changed;    ///< what differs and is documentation
  Strings sources;    ///< what differs and is not, where git could tell
  std::string doubt;  ///< where it does not: what a program may see, in words that follow "but"
};

/// Whether two commits differ in nothing that a program built from them could see: in nothing at
/// all, or only in files that match one of `patterns` and that no symbolic link leads to. A
/// submodule is never documentation. Does not hold if git fails.
[[nodiscard]] DocumentationOnly difference_in_documentation(const GitRepository& repository,
                                                            const std::string& base,
                                                            const std::string& head,
                                                            const Strings& patterns);

}  // namespace taskbench::harness
