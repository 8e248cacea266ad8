// Writes files completely or not at all.
//
// A regular file is replaced: a temporary file in the same folder is written, synced and renamed
// over it. So at every moment, even after kill -9 or a power cut, the path names either the old
// content or the new. The file keeps its permissions and, if the system permits, its owner; other
// hard links keep the old content. A symbolic link stays a link: its target is replaced. Anything
// but a regular file (/dev/stdout, /dev/null, a pipe, a terminal) is written to directly. Linux
// only.
//
// Nothing is synced for the one file that kScratchVariable names in the environment: the process
// that started this one reads it at once and removes it, and a sync takes longer than many a
// measurement.
//
// Not thread-safe against other writers of the same path: the last rename wins.
#pragma once

#include <cstddef>

#include "harness/os/names.hpp"

namespace taskbench::harness {

inline constexpr const char* kScratchVariable = "TASKBENCH_SCRATCH";

/// Why a file could not be written: `error` is a sentence that names the path and says what to do.
/// An empty message means success.
struct [[nodiscard]] WriteOutcome {
  std::string error;
  [[nodiscard]] bool ok() const { return error.empty(); }
};

/// Replaces `path` with `content`: temporary file in the same folder, fsync, rename, fsync of the
/// folder. On any failure the old file is unchanged and the temporary one is gone. A full disk, a
/// file size limit and a closed pipe are ordinary failures: no signal is raised.
WriteOutcome write_atomically(const fs::path& path, std::string_view content);

/// Whether write_atomically(path) replaces or creates a file, so that it may be called again.
/// Anything but a regular file is written to directly, and would receive both texts.
[[nodiscard]] bool is_replaced(const fs::path& path);

/// Removes the regular file that write_atomically(path) would replace, if there is one; empties it
/// if its folder does not permit that. Reports no failure: a remaining file was not ours to remove.
void remove_replaced(const fs::path& path);

/// Checks, before anything is measured, whether write_atomically(path) could work now: the folder
/// exists and accepts a new file of `expected_bytes`. Leaves nothing behind.
WriteOutcome check_writable(const fs::path& path, std::size_t expected_bytes);

}  // namespace taskbench::harness
