// Queries to git: the commit that a name means, the differences between two commits, and a checkout
// in another folder.
#pragma once

#include <map>

#include "harness/files/names.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::harness {

/// For the environment of git: it must not ask for a password on the terminal, where a process in
/// the background would wait for ever.
inline constexpr std::string_view kNoPrompt = "GIT_TERMINAL_PROMPT=0";

/// A failed git command about something that exists: for example, the disk is full. what() ends in
/// git's own words.
struct GitError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One of the files in which two commits differ.
struct ChangedFile {
  std::string path;           ///< from the root of the repository
  bool is_submodule = false;  ///< on either side
};

class GitRepository {
 public:
  /// Opens the repository of the current directory. Unsets the environment variables that would
  /// direct git to another one. Throws UsageError if there is no repository, or no git.
  explicit GitRepository(const std::stop_token& stop);

  /// The folder that all worktrees of the repository share: its identity.
  [[nodiscard]] const fs::path& common_folder() const { return common_folder_; }

  /// The root of the working tree of the current directory; empty in a bare repository.
  [[nodiscard]] fs::path working_tree() const;

  /// The full hash of the commit that `revision` means. Throws UsageError, with the nearest branch
  /// or tag, if there is none. `option` is for the message.
  [[nodiscard]] std::string commit_of(const std::string& option, const std::string& revision) const;

  /// Like commit_of(), for a revision that need not exist.
  [[nodiscard]] std::optional<std::string> find_commit(const std::string& revision) const;

  /// The files of the current working tree that differ from its HEAD; with `untracked`, also the
  /// files that git neither tracks nor ignores.
  [[nodiscard]] Strings uncommitted_files(bool untracked) const;

  /// The differences between the files of two commits, including submodules, links and permissions.
  /// Throws GitError, also if the output is too long.
  [[nodiscard]] std::vector<ChangedFile> changes(const std::string& base,
                                                 const std::string& head) const;

  /// The symbolic links of a commit, by their paths. Throws GitError, also for more than
  /// kMostLinks.
  [[nodiscard]] std::map<fs::path, fs::path> links(const std::string& commit) const;

  /// Checks `commit` out at `folder`, which must not exist, without running the user's hooks.
  /// Throws GitError.
  void add_worktree(const fs::path& folder, const std::string& commit) const;

  /// Makes git forget the worktrees whose folders have been deleted.
  void prune_worktrees() const;

 private:
  /// The whole output of a git command. Throws GitError.
  [[nodiscard]] std::string list(Strings words) const;

  std::stop_token stop_;
  fs::path common_folder_;
};

/// Limit on the symbolic links of a commit: reading each takes git a moment.
inline constexpr std::size_t kMostLinks = 200;

using model::abbreviated;

}  // namespace taskbench::harness
