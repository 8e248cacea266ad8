// Programs built from git revisions, each in a worktree of its own below a cache folder.
//
//   CACHE/<repository and build command>/<commit>-<environment>/source     the worktree
//                                                              /build.log
//                                                              /links      see layouts.hpp
//                                                              /lock       held while building
//                                                              /used       held while in use
//                                                              /built      written last: complete
//
// The environment consists of the variables that compilers and build tools read, and of the tool
// chains that are installed: a build by another compiler, or with other flags, is another one. A
// worktree without the stamp `built` was interrupted or failed, and the next build deletes it.
// The most recently used builds of each repository and build command are kept, and all that are in
// use; the stamp's time records the last use. The whole cache may be deleted at any time.
#pragma once

#include "harness/files/names.hpp"
#include "harness/os/descriptor.hpp"
#include "harness/programs/git.hpp"
#include "harness/programs/layouts.hpp"

namespace taskbench::harness {

/// What to build for the user, and where.
struct BuildRecipe {
  std::string build;    ///< a command for `sh -c`, run in the worktree's root
  std::string program;  ///< a path below that root, and arguments
  fs::path cache;       ///< absolute
  /// Whether a program that the worktree lacks may be an interpreter in PATH that runs files of it.
  bool may_be_in_path = false;
};

// The default recipe builds taskbench itself, so that equal sources give equal bytes. It does not
// call scripts/build, since an old revision's script takes no cache variables. As in that script,
// Ninja is used if it is installed: scripts/install-deps installs it, and not make.
inline constexpr std::string_view kDefaultBuild =
    "if command -v ninja >/dev/null; then export CMAKE_GENERATOR=Ninja; fi; "
    "cmake --preset release -DTASKBENCH_BUILD_TESTS=OFF -DTASKBENCH_COMPARABLE=ON && "
    "cmake --build build/release --target taskbench --parallel \"$(nproc)\"";
inline constexpr std::string_view kDefaultProgram = "build/release/cli/taskbench";

/// Number of builds kept for each repository and build command.
inline constexpr std::size_t kKeptRevisions = 16;

/// ${XDG_CACHE_HOME:-$HOME/.cache}/taskbench/revisions. Throws UsageError if neither is set.
[[nodiscard]] fs::path default_cache();

/// A revision that could not be built, or that `is_built` but has no program at the expected place.
/// what() names the revision, the reason, and the log.
struct BuildError : std::runtime_error {
  explicit BuildError(const std::string& what, Strings of_log = {}, bool built = false)
      : std::runtime_error(what), last_lines(std::move(of_log)), is_built(built) {}
  Strings last_lines;  ///< of the log
  bool is_built;
};

struct BuiltRevision {
  std::string command;  ///< with arguments
  fs::path source;      ///< the root of the checkout
  Descriptor use;       ///< while it is open, no other taskbench removes the build
};

/// The program of `commit`, built now or taken from the cache. Messages call it `name` ("base
/// 1a2b3c4d5e6f"); `waiting` is called now and then with the current activity. Throws UsageError,
/// and BuildError, also if `stop` was requested.
[[nodiscard]] BuiltRevision build_revision(
    const GitRepository& repository, const BuildRecipe& recipe, const std::string& name,
    const std::string& commit, const std::stop_token& stop,
    const std::function<void(const std::string& text)>& waiting);

/// The program of `commit`, which build_revision() has just returned, in `count` layouts. Throws
/// BuildError if `stop` was requested.
[[nodiscard]] Layouts link_revision(const GitRepository& repository, const BuildRecipe& recipe,
                                    const std::string& name, const std::string& commit, int count,
                                    const std::stop_token& stop,
                                    const std::function<void(const std::string& text)>& waiting);

/// Whether a user's own build gets no CFLAGS and CXXFLAGS: they would contain the path of the
/// cache, and it has a blank or a quote.
[[nodiscard]] bool lacks_flags(const BuildRecipe& recipe);

/// Whether build_revision() would take the program of `commit` from the cache.
[[nodiscard]] bool is_cached(const GitRepository& repository, const BuildRecipe& recipe,
                             const std::string& commit);

/// Why `program`, which messages call `name`, cannot be run; empty if it can.
[[nodiscard]] std::string why_not_runnable(const fs::path& program, const std::string& name);

}  // namespace taskbench::harness
