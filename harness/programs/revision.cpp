#include "harness/programs/revision.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "harness/os/atomic_file.hpp"
#include "harness/os/descriptor.hpp"
#include "harness/os/process.hpp"
#include "harness/os/system_file.hpp"
#include "harness/programs/program.hpp"
#include "reports/model/date.hpp"

namespace taskbench::harness {
namespace {

using Waiting = std::function<void(const std::string& text)>;

constexpr double kBuildTimeout_s = 24 * 3600;
constexpr double kBuildGrace_s = 5;  // on SIGTERM, make and ninja end compilers
constexpr auto kLockInterval = std::chrono::milliseconds(100);
constexpr std::int64_t kSourceDate_s = 946'684'800;  // 2000-01-01, which archives can store, too
constexpr std::size_t kLogLines = 20;
constexpr std::size_t kLogLineBytes = 300;
constexpr std::streamoff kLogTailBytes = 16384;

// Changed when builds by an older taskbench lack something that this one needs.
constexpr std::string_view kFormat = "links are recorded, and code is optimised";

// Compiler drivers, make, CMake, pkg-config, Cargo, Go and Git LFS read these variables, and those
// that begin like this: another value means another build.
constexpr std::string_view kBuildVariables[] = {"CC",
                                                "CFLAGS",
                                                "CPATH",
                                                "CPLUS_INCLUDE_PATH",
                                                "CPPFLAGS",
                                                "CXX",
                                                "CXXFLAGS",
                                                "C_INCLUDE_PATH",
                                                "GIT_LFS_SKIP_SMUDGE",
                                                "GOAMD64",
                                                "GOARCH",
                                                "GOEXPERIMENT",
                                                "GOFLAGS",
                                                "GOTOOLCHAIN",
                                                "LDFLAGS",
                                                "LDLIBS",
                                                "LIBRARY_PATH",
                                                "PKG_CONFIG_PATH",
                                                "RUSTC",
                                                "RUSTC_WRAPPER",
                                                "RUSTFLAGS",
                                                "RUSTUP_TOOLCHAIN"};
constexpr std::string_view kBuildPrefixes[] = {"CARGO_BUILD_",  "CARGO_ENCODED_", "CARGO_PROFILE_",
                                               "CARGO_TARGET_", "CGO_",           "CMAKE_"};

// What autoconf, too, compiles with unless the user says otherwise.
constexpr std::string_view kUsualFlags = "-g -O2";

/// The file that lock_use() locks.
constexpr const char* kUsed = "used";

struct Places {
  fs::path folder;
  fs::path source;
  fs::path log;
  fs::path lock;
  fs::path use;
  fs::path stamp;
  fs::path links;
};

/// The variables that a build may depend on, as NAME=VALUE, sorted.
Strings build_variables() {
  Strings found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
    if (contains(kBuildVariables, name) || std::ranges::any_of(kBuildPrefixes, begins)) {
      found.emplace_back(text);
    }
  }
  std::ranges::sort(found);
  return found;
}

/// Adds the files that have a program's name, in the order of PATH: the first one is called, and
/// may be a wrapper, such as that of ccache, which calls the next. Sizes and times change when a
/// file is replaced; the name tells apart which of two compilers `cc` is.
void add_files_of(const std::string& program, Strings& tools) {
  const auto add = [&](const fs::path& named) {
    std::error_code failed;
    const fs::path file = fs::canonical(named, failed);
    if (!fs::is_regular_file(file, failed)) return;
    const auto size = fs::file_size(file, failed);
    const auto time = fs::last_write_time(file, failed).time_since_epoch().count();
    std::string tool = fmt::format("{} {} {} {}", program, file.string(), size, time);
    if (!contains(tools, tool)) tools.push_back(std::move(tool));
  };
  if (!is_looked_up(program)) return add(program);
  const std::string path = environment_value("PATH");
  for (const std::string_view folder : parts_of(path, ':')) add(fs::path(folder) / program);
}

/// The tool chains that a build may call.
Strings installed_tool_chains() {
  Strings programs{"c++", "cargo", "cc", "clang", "clang++", "g++", "gcc", "go", "rustc"};
  for (const char* variable : {"CC", "CXX"}) {
    const std::string command = environment_value(variable);  // "ccache gcc -m32"
    for (const std::string_view word : words_of(command)) programs.emplace_back(word);
  }
  // With rustup, one file in PATH stands for the programs of all its tool chains.
  fs::path rustup = environment_value("RUSTUP_HOME");
  if (rustup.empty()) rustup = fs::path(environment_value("HOME")) / ".rustup";
  Strings of_rustup{(rustup / "settings.toml").string()};
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(rustup / "toolchains", ignored)) {
    of_rustup.push_back((entry.path() / "bin/rustc").string());
  }
  std::ranges::sort(of_rustup);  // a folder has no order
  Strings tools;
  for (const std::string& program : programs) add_files_of(program, tools);
  for (const std::string& file : of_rustup) add_files_of(file, tools);
  return tools;
}

/// Those that were installed at first: a trial must find what it has built, whatever a build
/// installs.
const Strings& tool_chains() {
  static const Strings found = installed_tool_chains();
  return found;
}

Places places_of(const GitRepository& repository, const BuildRecipe& recipe,
                 const std::string& commit) {
  const std::string built = repository.common_folder().string() + '\0' + recipe.build;
  std::string environment(kFormat);
  for (const std::string& variable : build_variables()) environment += '\0' + variable;
  for (const std::string& tool : tool_chains()) environment += '\0' + tool;
  const fs::path folder =
      recipe.cache / digest_of(built) / fmt::format("{}-{}", commit, digest_of(environment));
  return {folder,         folder / "source", folder / "build.log", folder / "lock",
          folder / kUsed, folder / "built",  folder / "links"};
}

/// Locks a build against its removal, or for it. Not open if another process has a lock that
/// prevents that.
Descriptor lock_use(const fs::path& file, int how) {
  Descriptor use(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (use.is_open() && ::flock(use.get(), how) != 0 && errno == EWOULDBLOCK) {
    static_cast<void>(use.close());
  }
  return use;
}

/// Ensures that only one taskbench at a time builds a commit. The lock file stays: if it were
/// removed, a third process could lock another file of the same name.
class BuildLock {
 public:
  BuildLock(const fs::path& path, const std::string& name, const std::stop_token& stop,
            const Waiting& waiting)
      : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    const auto fail = [&] { refuse("{}: {}", path.string(), std::strerror(errno)); };
    if (!descriptor_.is_open()) fail();
    const auto start = Clock::now();
    while (::flock(descriptor_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) fail();
      if (stop.stop_requested()) throw BuildError("interrupted");
      waiting(fmt::format("waiting for another taskbench that builds {}, {}", name,
                          model::duration_text(seconds_since(start))));
      std::this_thread::sleep_for(kLockInterval);
    }
  }

 private:
  Descriptor descriptor_;
};

Strings last_lines_of(const fs::path& log) {
  std::ifstream file(log, std::ios::binary);
  file.seekg(0, std::ios::end);
  const std::streamoff size = file.tellg();
  file.seekg(std::max(std::streamoff{0}, size - kLogTailBytes));
  Strings lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line.substr(0, kLogLineBytes));
    if (lines.size() > kLogLines) lines.erase(lines.begin());
  }
  return lines;
}

[[noreturn]] void fail(const std::string& name, const std::string& how, const BuildRecipe& recipe,
                       const Places& places) {
  std::string hint;
  if (recipe.build == kDefaultBuild) hint = "; --build names another command to build with";
  if (fs::exists(places.source / ".gitmodules") && recipe.build.find("submodule") == hint.npos) {
    hint +=
        "; submodules are fetched only by a --build that does so itself: 'git submodule update "
        "--init --recursive && ...'";
  }
  throw BuildError(fmt::format("{} does not build: the command {}; its output is in {}{}", name,
                               how, places.log.string(), hint),
                   last_lines_of(places.log));
}

/// Whether the project's build calls compilers with its own -O before CFLAGS, whose -O would win.
bool optimises_before_cflags(const fs::path& source) {
  return fs::exists(source / "meson.build") || fs::exists(source / "Cargo.toml");
}

/// Variables by which a user's own build gets equal bytes from equal sources in every checkout:
/// they keep the folder out of debug information and __FILE__, and the time out of __DATE__. For
/// taskbench itself TASKBENCH_COMPARABLE does that. Functions get sections of their own, which can
/// be linked in any order.
Strings comparable_environment(const BuildRecipe& recipe, const fs::path& source) {
  if (recipe.build == kDefaultBuild) return {};
  Strings result;
  if (!lacks_flags(recipe)) {
    // `CFLAGS ?= -O2` in a Makefile, and what autoconf would choose, have no effect once the
    // variable is set: without flags in their place, nothing would be optimised.
    const std::string_view usual = optimises_before_cflags(source) ? "" : kUsualFlags;
    for (const char* variable : {"CFLAGS", "CXXFLAGS"}) {
      const char* given = std::getenv(variable);
      const std::string_view flags = given == nullptr ? usual : given;
      result.push_back(fmt::format("{}={}{}-ffunction-sections -ffile-prefix-map={}=.", variable,
                                   flags, flags.empty() ? "" : " ", source.string()));
    }
  }
  if (environment_value("SOURCE_DATE_EPOCH").empty()) {
    result.push_back(fmt::format("SOURCE_DATE_EPOCH={}", kSourceDate_s));
  }
  return result;
}

/// Whether there is a Rust crate in the checkout or in one of its folders.
bool has_crate(const fs::path& source) {
  constexpr const char* kManifest = "Cargo.toml";
  if (fs::exists(source / kManifest)) return true;
  for (const auto& entry : fs::directory_iterator(source)) {
    if (fs::exists(entry.path() / kManifest)) return true;
  }
  return false;
}

/// Checks out and builds a commit. Deletes the remains of an earlier attempt, which may be
/// incomplete.
void build(const GitRepository& repository, const BuildRecipe& recipe, const std::string& name,
           const std::string& commit, const Places& places, const std::stop_token& stop,
           const Waiting& waiting) {
  fs::remove_all(places.source);
  fs::remove_all(places.links);
  fs::remove(places.log);
  repository.add_worktree(places.source, commit);
  Strings environment = comparable_environment(recipe, places.source);
  environment.emplace_back(kNoPrompt);
  const Compilers compilers =
      has_crate(places.source) ? Compilers::also_rustc : Compilers::gcc_and_clang;
  for (std::string& variable : record_links(places.links, compilers)) {
    environment.push_back(std::move(variable));
  }
  constexpr const char* kScript = "cd \"$1\" && exec sh -c \"$2\" >\"$3\" 2>&1";
  const ProcessOutcome outcome = run_process(
      {.command = {"sh", "-c", kScript, "sh", places.source.string(), recipe.build,
                   places.log.string()},
       .environment = environment,
       .timeout_s = kBuildTimeout_s,
       .grace_s = kBuildGrace_s,
       .waiting =
           [&](double elapsed_s) {
             waiting(fmt::format("building {} …, {}", name, model::duration_text(elapsed_s)));
           }},
      stop);
  if (!outcome.ok()) fail(name, outcome.text(), recipe, places);
  const auto written = write_atomically(places.stamp, recipe.build + '\n');
  if (!written.ok()) throw UsageError(written.error);
}

/// Deletes the least recently used builds beyond kKeptRevisions, except those in use. A build in
/// progress by another taskbench has no stamp.
void forget_oldest(const GitRepository& repository, const fs::path& folder) {
  std::error_code ignored;
  std::vector<std::pair<fs::file_time_type, fs::path>> built;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto time = fs::last_write_time(entry.path() / "built", ignored);
    if (!ignored) built.emplace_back(time, entry.path());
  }
  if (built.size() <= kKeptRevisions) return;
  std::ranges::sort(built, std::greater{});
  for (const auto& [time, commit] : std::span(built).subspan(kKeptRevisions)) {
    const Descriptor use = lock_use(commit / kUsed, LOCK_EX | LOCK_NB);
    if (!use.is_open()) continue;
    fs::remove(commit / "built", ignored);
    fs::remove_all(commit / "source", ignored);
    fs::remove_all(commit / "links", ignored);
    fs::remove(commit / "build.log", ignored);
  }
  repository.prune_worktrees();
}

}  // namespace

fs::path default_cache() {
  // As the XDG specification says, a relative path is ignored.
  fs::path base = environment_value("XDG_CACHE_HOME");
  if (!base.is_absolute()) base = fs::path(environment_value("HOME")) / ".cache";
  if (!base.is_absolute()) {
    throw UsageError("neither XDG_CACHE_HOME nor HOME is set; name a folder by --cache");
  }
  return base / "taskbench" / "revisions";
}

std::string why_not_runnable(const fs::path& program, const std::string& name) {
  if (fs::is_directory(program)) {
    return fmt::format("{} is a folder; --program names the program in it", name);
  }
  if (fs::exists(program)) {
    if (::access(program.c_str(), X_OK) == 0) return {};
    return fmt::format("{} cannot be executed; --program names another, or chmod +x it", name);
  }
  std::string problem = fmt::format("leaves no program at {}; --program names another", name);
  if (is_looked_up(name) && !executable_of({name}).empty()) {
    problem += fmt::format(
        ": a file of the checkout, and not {}, which is a program in PATH; a script in the "
        "checkout can call that, and hand its arguments on to it: {} … \"$@\"",
        name, name);
  }
  return problem;
}

bool lacks_flags(const BuildRecipe& recipe) {
  return recipe.build != kDefaultBuild &&
         recipe.cache.string().find_first_of(" \t\n'\"") != std::string::npos;
}

bool is_cached(const GitRepository& repository, const BuildRecipe& recipe,
               const std::string& commit) {
  const Places places = places_of(repository, recipe, commit);
  return fs::exists(places.stamp) && fs::exists(places.source);
}

BuiltRevision build_revision(const GitRepository& repository, const BuildRecipe& recipe,
                             const std::string& name, const std::string& commit,
                             const std::stop_token& stop, const Waiting& waiting) {
  const Places places = places_of(repository, recipe, commit);
  std::error_code failed;
  fs::create_directories(places.folder, failed);
  if (failed) {
    refuse("{}: {}; name another folder by --cache", places.folder.string(), failed.message());
  }
  Descriptor use;
  {
    const BuildLock lock(places.lock, name, stop, waiting);
    use = lock_use(places.use, LOCK_SH);
    if (is_cached(repository, recipe, commit)) {
      fs::last_write_time(places.stamp, fs::file_time_type::clock::now(), failed);
    } else {
      fs::remove(places.stamp);
      try {
        build(repository, recipe, name, commit, places, stop, waiting);
        forget_oldest(repository, places.folder.parent_path());
      } catch (const GitError& error) {
        throw BuildError(error.what());
      } catch (const fs::filesystem_error& error) {
        throw BuildError(fmt::format("'{}': {}", error.path1().string(), error.code().message()));
      }
    }
  }
  Strings words = split_command(recipe.program);
  const fs::path program = places.source / words.front();
  if (recipe.may_be_in_path && is_looked_up(words.front()) && !fs::exists(program) &&
      !executable_of(words).empty()) {
    return {command_of(words), places.source, std::move(use)};
  }
  if (const std::string problem = why_not_runnable(program, words.front()); !problem.empty()) {
    throw BuildError(fmt::format("{} builds, but {}; to build it anew, remove {}", name, problem,
                                 places.folder.string()),
                     last_lines_of(places.log), true);
  }
  words.front() = program.string();
  return {command_of(words), places.source, std::move(use)};
}

Layouts link_revision(const GitRepository& repository, const BuildRecipe& recipe,
                      const std::string& name, const std::string& commit, int count,
                      const std::stop_token& stop, const Waiting& waiting) {
  const Places places = places_of(repository, recipe, commit);
  const BuildLock lock(places.lock, name, stop, waiting);
  return link_layouts(places.links, places.source / split_command(recipe.program).front(), count,
                      stop, [&](double elapsed_s) {
                        waiting(fmt::format("linking {} in {} layouts, {}", name, count,
                                            model::duration_text(elapsed_s)));
                      });
}

}  // namespace taskbench::harness
