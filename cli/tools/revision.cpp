#include "cli/tools/revision.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <thread>

#include "cli/options/near_miss.hpp"
#include "cli/output/progress_line.hpp"
#include "reports/files/atomic_file.hpp"
#include "workloads/machine/system_file.hpp"
#include "workloads/measure/process.hpp"
#include "workloads/measure/program.hpp"

namespace taskbench::cli {
namespace {

using measure::ProcessOutcome;
using Waiting = std::function<void(const std::string& text)>;

constexpr double kQuestionTimeout_s = 60;
constexpr double kCheckoutTimeout_s = 3600;  // a large repository on a slow disk
constexpr std::size_t kAbbreviatedDigits = 12;

ProcessOutcome run_git(Strings words, double timeout_s, const std::stop_token& stop) {
  words.insert(words.begin(), "git");
  return measure::run_process(
      {.command = std::move(words), .environment = {"LC_ALL=C"}, .timeout_s = timeout_s}, stop);
}

/// Empty where git failed.
std::string first_line_of(const ProcessOutcome& outcome) {
  return outcome.ok() ? outcome.output.substr(0, outcome.output.find('\n')) : std::string();
}

constexpr double kBuildTimeout_s = 24 * 3600;
constexpr double kBuildGrace_s = 5;  // make and ninja end their compilers on a SIGTERM
constexpr auto kLockInterval = std::chrono::milliseconds(100);
constexpr std::int64_t kSourceDate_s = 946'684'800;  // 2000-01-01, which archives can hold, too
constexpr std::size_t kLogLines = 20;
constexpr std::size_t kLogLineBytes = 300;
constexpr std::streamoff kLogTailBytes = 16384;

struct Places {
  fs::path folder;
  fs::path source;
  fs::path log;
  fs::path lock;
  fs::path stamp;
};

Places places_of(const GitRepository& repository, const BuildRecipe& recipe,
                 const std::string& commit) {
  std::string identity = repository.common_folder().string() + '\0' + recipe.build;
  // Read by compilers' drivers, make and CMake: another value is another build.
  for (const char* variable : {"CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr) identity += fmt::format("{}{}={}", '\0', variable, value);
  }
  const std::string key = measure::digest_of(identity);
  const fs::path folder = recipe.cache / key / commit;
  return {folder, folder / "source", folder / "build.log", folder / "lock", folder / "built"};
}

/// One taskbench at a time builds a commit. The file stays: to remove it would let a third one lock
/// another file of its name.
class BuildLock {
 public:
  BuildLock(const fs::path& path, const std::string& name, const std::stop_token& stop,
            const Waiting& waiting)
      : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) {
      refuse("{}: {}", path.string(), std::strerror(errno));
    }
    const auto start = std::chrono::steady_clock::now();
    while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) {
        const int error = errno;
        ::close(descriptor_);
        refuse("{}: {}", path.string(), std::strerror(error));
      }
      if (stop.stop_requested()) {
        ::close(descriptor_);
        throw BuildError("interrupted");
      }
      const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
      waiting(fmt::format("waiting for another taskbench that builds {}, {}", name,
                          duration_text(waited.count())));
      std::this_thread::sleep_for(kLockInterval);
    }
  }
  BuildLock(const BuildLock&) = delete;
  BuildLock& operator=(const BuildLock&) = delete;
  ~BuildLock() { ::close(descriptor_); }

 private:
  int descriptor_;
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
                       const fs::path& log) {
  std::string hint;
  if (recipe.build == kDefaultBuild) hint = "; --build names another command to build with";
  throw BuildError(fmt::format("{} does not build: the command {}; its output is in {}{}", name,
                               how, log.string(), hint),
                   last_lines_of(log));
}

/// What a build of somebody's own needs so that equal sources give equal bytes in every checkout:
/// the folder must not get into debug information and __FILE__, nor the hour into __DATE__. Of
/// taskbench itself TASKBENCH_COMPARABLE sees to that.
Strings comparable_environment(const BuildRecipe& recipe, const fs::path& source) {
  if (recipe.build == kDefaultBuild) return {};
  const auto value_of = [](const char* variable) {
    const char* value = std::getenv(variable);
    return std::string(value != nullptr ? value : "");
  };
  Strings result;
  if (source.string().find_first_of(" \t\n'\"") == std::string::npos) {
    for (const char* variable : {"CFLAGS", "CXXFLAGS"}) {
      const std::string given = value_of(variable);
      result.push_back(fmt::format("{}={}{}-ffile-prefix-map={}=.", variable, given,
                                   given.empty() ? "" : " ", source.string()));
    }
  }
  if (value_of("SOURCE_DATE_EPOCH").empty()) {
    result.push_back(fmt::format("SOURCE_DATE_EPOCH={}", kSourceDate_s));
  }
  return result;
}

/// What is there of an earlier try is thrown away: nobody knows how far it had come.
void build(const GitRepository& repository, const BuildRecipe& recipe, const std::string& name,
           const std::string& commit, const Places& places, const std::stop_token& stop,
           const Waiting& waiting) {
  fs::remove_all(places.source);
  fs::remove(places.log);
  repository.add_worktree(places.source, commit);
  constexpr const char* kScript = "cd \"$1\" && exec sh -c \"$2\" >\"$3\" 2>&1";
  const ProcessOutcome outcome = measure::run_process(
      {.command = {"sh", "-c", kScript, "sh", places.source.string(), recipe.build,
                   places.log.string()},
       .environment = comparable_environment(recipe, places.source),
       .timeout_s = kBuildTimeout_s,
       .grace_s = kBuildGrace_s,
       .waiting =
           [&](double elapsed_s) {
             waiting(fmt::format("building {} …, {}", name, duration_text(elapsed_s)));
           }},
      stop);
  if (!outcome.ok()) fail(name, outcome.text(), recipe, places.log);
  const auto written = files::write_atomically(places.stamp, recipe.build + '\n');
  if (!written.ok()) throw UsageError(written.error);
}

/// Deletes what was used longest ago, beyond kKeptRevisions. What another taskbench builds right
/// now has no stamp, and what one has just asked for is among the last.
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
    fs::remove(commit / "built", ignored);
    fs::remove_all(commit / "source", ignored);
    fs::remove(commit / "build.log", ignored);
  }
  repository.prune_worktrees();
}

}  // namespace

GitRepository::GitRepository(const std::stop_token& stop) : stop_(stop) {
  // A hook of git's that calls taskbench has them set. They would lead git, and that of a build, to
  // another folder than the one it is called in.
  for (const char* variable : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}) {
    ::unsetenv(variable);
  }
  const ProcessOutcome outcome = run_git(
      {"rev-parse", "--path-format=absolute", "--git-common-dir"}, kQuestionTimeout_s, stop);
  if (outcome.end == ProcessOutcome::End::not_started) {
    refuse("git, which revisions need, {}", outcome.text());
  }
  const std::string folder = first_line_of(outcome);
  if (folder.empty()) {
    refuse("revisions are those of the repository of the current directory, but git {}",
           outcome.text());
  }
  common_folder_ = folder;
}

std::optional<std::string> GitRepository::find_commit(const std::string& revision) const {
  // What begins with a dash would be an option of git's.
  if (revision.empty() || revision.starts_with('-')) return std::nullopt;
  const ProcessOutcome outcome = run_git(
      {"rev-parse", "--quiet", "--verify", revision + "^{commit}"}, kQuestionTimeout_s, stop_);
  const std::string commit = first_line_of(outcome);
  return commit.empty() ? std::nullopt : std::optional(commit);
}

std::string GitRepository::commit_of(const std::string& option, const std::string& revision) const {
  if (auto commit = find_commit(revision)) return *commit;
  std::string problem = fmt::format("{}: unknown revision '{}'", option, revision);
  const ProcessOutcome names = run_git(
      {"for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes"},
      kQuestionTimeout_s, stop_);
  if (const auto near = nearest(revision, measure::lines_of(names.output)))
    problem += fmt::format("; did you mean '{}'?", *near);
  const ProcessOutcome shallow =
      run_git({"rev-parse", "--is-shallow-repository"}, kQuestionTimeout_s, stop_);
  if (shallow.output.starts_with("true")) {
    problem += "; this clone is shallow: `git fetch --unshallow` brings what it lacks";
  }
  throw UsageError(problem);
}

bool GitRepository::has_uncommitted_changes() const {
  const ProcessOutcome outcome =
      run_git({"status", "--porcelain", "--untracked-files=no"}, kQuestionTimeout_s, stop_);
  return outcome.ok() && !outcome.output.empty();
}

void GitRepository::add_worktree(const fs::path& folder, const std::string& commit) const {
  // --force: git may still know a worktree of this name whose folder was deleted.
  const ProcessOutcome outcome =
      run_git({"-c", "core.hooksPath=/dev/null", "worktree", "add", "--quiet", "--force",
               "--detach", folder.string(), commit},
              kCheckoutTimeout_s, stop_);
  if (outcome.ok()) return;
  throw GitError(fmt::format("commit {} cannot be checked out at {}: git {}", abbreviated(commit),
                             folder.string(), outcome.text()));
}

void GitRepository::prune_worktrees() const {
  // What cannot be pruned now is pruned another time, by git itself at the latest.
  static_cast<void>(run_git({"worktree", "prune"}, kQuestionTimeout_s, stop_));
}

std::string abbreviated(const std::string& commit) { return commit.substr(0, kAbbreviatedDigits); }

fs::path default_cache() {
  const auto folder = [](const char* variable) {
    const char* text = std::getenv(variable);
    return text != nullptr ? fs::path(text) : fs::path();
  };
  // As the XDG specification says: a relative path is as good as none.
  fs::path base = folder("XDG_CACHE_HOME");
  if (!base.is_absolute()) base = folder("HOME") / ".cache";
  if (!base.is_absolute()) {
    throw UsageError("neither XDG_CACHE_HOME nor HOME is set; name a folder by --cache");
  }
  return base / "taskbench" / "revisions";
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
  {
    const BuildLock lock(places.lock, name, stop, waiting);
    const bool is_built = fs::exists(places.stamp) && fs::exists(places.source);
    if (is_built) {
      fs::last_write_time(places.stamp, fs::file_time_type::clock::now(), failed);
    } else {
      fs::remove(places.stamp);
      try {
        build(repository, recipe, name, commit, places, stop, waiting);
        forget_oldest(repository, places.folder.parent_path());
      } catch (const GitError& error) {
        throw BuildError(error.what());
      } catch (const fs::filesystem_error& error) {
        throw BuildError(error.what());
      }
    }
  }
  Strings words = measure::split_command(recipe.program);
  const fs::path program = places.source / words.front();
  if (!fs::is_regular_file(program) || ::access(program.c_str(), X_OK) != 0) {
    throw BuildError(
        fmt::format("{} builds, but leaves no program at {}; --program names another, and to build "
                    "it anew, remove {}",
                    name, words.front(), places.folder.string()),
        last_lines_of(places.log), true);
  }
  words.front() = program.string();
  std::string command;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + quoted(word);
  return {command, places.source};
}

std::string quoted(const std::string& word) {
  if (word.find_first_of(" \t\n'\"\\$`*?&|;<>()") == std::string::npos && !word.empty())
    return word;
  std::string result = "'";
  for (const char each : word) result += each == '\'' ? std::string("'\\''") : std::string(1, each);
  return result + "'";
}

}  // namespace taskbench::cli
