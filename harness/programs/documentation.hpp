// Finds the files that a measured program cannot see, so that commits that differ in nothing else
// need no measurement.
#pragma once

#include "harness/programs/git.hpp"

namespace taskbench::harness {

/// The default patterns for documentation: files that hardly any program reads as data, and hardly
/// any build as a source.
inline constexpr std::string_view kDefaultDocumentation =
    "*.md,*.rst,README*,CHANGELOG*,CHANGES*,NEWS*,AUTHORS*,COPYING*,LICENSE*,"
    "doc/**/*.md,doc/**/*.rst,docs/**/*.md,docs/**/*.rst";

/// The value of --documentation that treats no file as documentation.
inline constexpr std::string_view kNoDocumentation = "none";

/// Whether a path from the root of a repository matches a pattern. `*`, `?` and `[…]` stand for
/// parts of one name, as in the shell; a name `**` stands for any number of folders.
[[nodiscard]] bool matches(const std::string& pattern, const fs::path& path);

struct DocumentationOnly {
  bool holds = false;
  Strings changed;    ///< differing files that are documentation
  Strings sources;    ///< other differing files, if git could tell
  std::string doubt;  ///< if it is not: what a program may see, in words that follow "but"
};

/// Whether a program built from either of two commits could see no difference between them: there
/// is none, or only in files that match one of `patterns` and that no symbolic link leads to. A
/// submodule is never documentation. False if git fails.
[[nodiscard]] DocumentationOnly difference_in_documentation(const GitRepository& repository,
                                                            const std::string& base,
                                                            const std::string& head,
                                                            const Strings& patterns);

}  // namespace taskbench::harness
