#include "harness/programs/git.hpp"

#include <cstdlib>

#include "harness/files/near_miss.hpp"
#include "harness/os/process.hpp"
#include "harness/os/system_file.hpp"

namespace taskbench::harness {
namespace {

constexpr double kQuestionTimeout_s = 60;
constexpr double kCheckoutTimeout_s = 3600;  // a large repository on a slow disk

ProcessOutcome run_git(Strings words, double timeout_s, const std::stop_token& stop,
                       std::size_t most_output_bytes = 1 << 20) {
  words.insert(words.begin(), "git");
  return run_process({.command = std::move(words),
                      .environment = {"LC_ALL=C", std::string(kNoPrompt)},
                      .timeout_s = timeout_s,
                      .most_output_bytes = most_output_bytes},
                     stop);
}

/// The first line of git's output; empty if git failed.
std::string first_line_of(const ProcessOutcome& outcome) {
  return outcome.ok() ? outcome.output.substr(0, outcome.output.find('\n')) : std::string();
}

}  // namespace

GitRepository::GitRepository(const std::stop_token& stop) : stop_(stop) {
  // A git hook that calls taskbench has these set. They would direct git, and the build's git, to a
  // folder other than the current one.
  for (const char* variable : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}) {
    ::unsetenv(variable);
  }
  const ProcessOutcome outcome =
      run_git({"rev-parse", "--git-common-dir"}, kQuestionTimeout_s, stop);
  if (outcome.end == ProcessOutcome::End::not_started) {
    refuse("revisions need git, but it {}", outcome.text());
  }
  const std::string folder = first_line_of(outcome);
  if (folder.empty()) {
    refuse("revisions are looked up in the repository of the current directory, but git {}",
           outcome.text());
  }
  // Not by --path-format, which git before 2.31 takes for a word to be repeated.
  std::error_code failed;
  common_folder_ = fs::canonical(folder, failed);
  if (failed) refuse("{}: {}", folder, failed.message());
}

fs::path GitRepository::working_tree() const {
  return first_line_of(run_git({"rev-parse", "--show-toplevel"}, kQuestionTimeout_s, stop_));
}

std::optional<std::string> GitRepository::find_commit(const std::string& revision) const {
  // A revision that begins with a dash would be taken for a git option.
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
  if (const auto near = nearest(revision, lines_of(names.output)))
    problem += fmt::format("; did you mean '{}'?", *near);
  const ProcessOutcome shallow =
      run_git({"rev-parse", "--is-shallow-repository"}, kQuestionTimeout_s, stop_);
  if (shallow.output.starts_with("true")) {
    problem += "; this clone is shallow: `git fetch --unshallow` fetches the rest";
  }
  throw UsageError(problem);
}

Strings GitRepository::uncommitted_files(bool untracked) const {
  const ProcessOutcome outcome =
      run_git({"status", "--porcelain", "-z", "--no-renames",
               untracked ? "--untracked-files=normal" : "--untracked-files=no"},
              kQuestionTimeout_s, stop_);
  Strings files;
  if (!outcome.ok()) return files;
  constexpr std::size_t kState = 3;  // "M  path"
  for (const std::string& entry : entries_of(outcome.output)) {
    if (entry.size() > kState) files.push_back(entry.substr(kState));
  }
  return files;
}

std::vector<ChangedFile> GitRepository::changes(const std::string& base,
                                                const std::string& head) const {
  // The user's configuration must not hide submodules or files of other folders.
  const Strings parts = entries_of(
      list({"-c", "diff.relative=false", "diff-tree", "-r", "-z", "--raw", "--no-renames",
            "--ignore-submodules=none", base + "^{tree}", head + "^{tree}"}));
  std::vector<ChangedFile> result;
  // Each entry is ":100644 100644 <id> <id> M", followed by an entry with its path.
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
    const bool is_submodule =
        parts[i].starts_with(":160000") || parts[i].substr(7, 8) == " 160000 ";
    result.push_back({parts[i + 1], is_submodule});
  }
  return result;
}

std::map<fs::path, fs::path> GitRepository::links(const std::string& commit) const {
  std::map<fs::path, fs::path> result;
  for (const std::string& entry :
       entries_of(list({"ls-tree", "-r", "-z", "--full-tree", commit}))) {
    const auto tab = entry.find('\t');  // "120000 blob <id>\t<path>"
    if (!entry.starts_with("120000 ") || tab == std::string::npos) continue;
    if (result.size() >= kMostLinks) {
      throw GitError(fmt::format("it has more than {} symbolic links", kMostLinks));
    }
    const auto id = entry.find_last_of(' ', tab) + 1;
    result[entry.substr(tab + 1)] = list({"cat-file", "blob", entry.substr(id, tab - id)});
  }
  return result;
}

std::string GitRepository::list(Strings words) const {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  const std::string name = words.front() == "-c" ? words[2] : words.front();
  ProcessOutcome outcome = run_git(std::move(words), kQuestionTimeout_s, stop_, kMostBytes);
  if (!outcome.ok()) throw GitError(fmt::format("git {} {}", name, outcome.text()));
  if (outcome.output.size() >= kMostBytes) {
    throw GitError(fmt::format("git {} lists more than {} MiB", name, kMostBytes >> 20));
  }
  return std::move(outcome.output);
}

void GitRepository::add_worktree(const fs::path& folder, const std::string& commit) const {
  // --force: git may still know a worktree of this name whose folder was deleted; the second one:
  // it is locked if git was killed while it checked it out.
  const ProcessOutcome outcome =
      run_git({"-c", "core.hooksPath=/dev/null", "worktree", "add", "--quiet", "--force", "--force",
               "--detach", folder.string(), commit},
              kCheckoutTimeout_s, stop_);
  if (outcome.ok()) return;
  throw GitError(fmt::format("commit {} cannot be checked out at {}: git {}", abbreviated(commit),
                             folder.string(), outcome.text()));
}

void GitRepository::prune_worktrees() const {
  // A worktree that cannot be pruned now is pruned later, at the latest by git itself.
  static_cast<void>(run_git({"worktree", "prune"}, kQuestionTimeout_s, stop_));
}

}  // namespace taskbench::harness
