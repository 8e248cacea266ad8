#include "cli/tools/git.hpp"

#include <cstdlib>

#include "cli/options/near_miss.hpp"
#include "workloads/machine/system_file.hpp"
#include "workloads/measure/process.hpp"

namespace taskbench::cli {
namespace {

using measure::ProcessOutcome;

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
    throw UsageError(fmt::format("git, which revisions need, {}", outcome.text()));
  }
  const std::string folder = first_line_of(outcome);
  if (folder.empty()) {
    throw UsageError(
        fmt::format("revisions are those of the repository of the current directory, but git {}",
                    outcome.text()));
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

}  // namespace taskbench::cli
