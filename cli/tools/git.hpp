// What taskbench asks of git: which commit a name means, and a checkout of it in another folder.
#pragma once

#include <stdexcept>

#include "cli/names.hpp"

namespace taskbench::cli {

/// A git command that failed though what was asked for exists: no room on the disk, say. what()
/// ends in git's own words.
class GitError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class GitRepository {
 public:
  /// The repository of the current directory. Takes out of this process's environment what would
  /// name another one to git. Throws UsageError when there is none, or no git.
  explicit GitRepository(const std::stop_token& stop);

  /// The folder that all worktrees of the repository share: its identity.
  [[nodiscard]] const fs::path& common_folder() const { return common_folder_; }

  /// The commit that `revision` means, all forty digits of it. Throws UsageError, with the nearest
  /// branch or tag, when there is none. `option` is for the message.
  [[nodiscard]] std::string commit_of(const std::string& option, const std::string& revision) const;

  /// The same where a revision may well not exist.
  [[nodiscard]] std::optional<std::string> find_commit(const std::string& revision) const;

  /// Whether tracked files of the current working tree differ from its HEAD.
  [[nodiscard]] bool has_uncommitted_changes() const;

  /// Checks `commit` out at `folder`, which must not exist, without running the user's hooks.
  /// Throws GitError.
  void add_worktree(const fs::path& folder, const std::string& commit) const;

  /// Makes git forget the worktrees whose folders have been deleted.
  void prune_worktrees() const;

 private:
  std::stop_token stop_;
  fs::path common_folder_;
};

/// As people write a commit: its first twelve digits.
[[nodiscard]] std::string abbreviated(const std::string& commit);

}  // namespace taskbench::cli
