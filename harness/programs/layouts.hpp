// One program in several layouts: linked repeatedly, its code and data in a new random order each
// time. The place where the linker puts a loop can change its time by several per cent. That effect
// is the same for all processes of one executable, so no repetition shows it.
//
// A build is recorded: COMPILER_PATH names a folder with a program of each linker's name, in which
// g++ and clang++ look for the linker, and so does rustc, which calls them. Since 1.90, rustc tells
// them to look for its own lld first; for Rust, a cc in PATH therefore puts that folder before. The
// program notes the command, keeps the files that the compiler deletes afterwards, and calls the
// linker. Any of the recorded links can then be repeated:
//
//   GNU ld          its own linker script with the pieces of code and data listed by name
//   lld and mold    --shuffle-sections
//   other linkers   the object files in another order
#pragma once

#include "harness/files/names.hpp"

namespace taskbench::harness {

/// Number of layouts that a program of a revision has by default.
inline constexpr int kDefaultLayouts = 8;

enum class Compilers { gcc_and_clang, also_rustc };

/// Makes `folder`, which must not exist, and returns the variables (NAME=VALUE) with which a build
/// records its links there.
[[nodiscard]] Strings record_links(const fs::path& folder, Compilers compilers);

struct Layouts {
  Strings files;         ///< executables beside the program, since it may look for files there
  std::string why_none;  ///< a clause, if there are no files
};

/// The program `program` in `count` layouts, linked now in the same way as the build in `records`,
/// or found from an earlier time. Runs as many links at once as there are CPUs. `waiting` is called
/// now and then with the elapsed time. A program that cannot be linked again is not an error.
[[nodiscard]] Layouts link_layouts(const fs::path& records, const fs::path& program, int count,
                                   const std::stop_token& stop,
                                   const std::function<void(double elapsed_s)>& waiting);

/// The executables that match a command's pattern, if it is one and no file has its name:
/// "old/bench-*", "{a,b}/bench". Sorted by name.
[[nodiscard]] Strings layouts_by_pattern(const std::string& pattern);

/// The digest of a command's program, or of all executables if it is a pattern for several.
[[nodiscard]] std::string digest_of_command(const std::string& command);

/// The reorderable pieces in the map that GNU ld prints with -Map, as lines of a linker script:
/// those of .text, .rodata, .data and .bss.
struct LinkedPieces {
  std::string output;  ///< the name of their section
  Strings lines;       ///< "*(.text._Z3foov)"
};
[[nodiscard]] std::vector<LinkedPieces> pieces_of_map(std::string_view map);

/// GNU ld's own script, as printed by --verbose, with these pieces first in their sections, in an
/// order drawn from `seed`. Pieces that two programs share have the same order in both.
[[nodiscard]] std::string script_with(std::string_view own_script,
                                      const std::vector<LinkedPieces>& pieces, int seed);

}  // namespace taskbench::harness
