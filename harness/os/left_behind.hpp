// Temporary files and folders that are removed even if their process is killed: by the next process
// of its kind.
#pragma once

#include "harness/os/descriptor.hpp"
#include "harness/os/names.hpp"

namespace taskbench::harness {

/// Locks a folder until the descriptor is closed, or the process ends in any way. The result is not
/// open if another process has the lock.
[[nodiscard]] Descriptor lock_folder(const fs::path& folder);

/// Likewise for an open file, until `file` and the returned descriptor are closed.
[[nodiscard]] Descriptor lock_file(const Descriptor& file);

/// Removes the unlocked folders, or files, in `parent` whose names begin and end like that:
/// leftovers of killed processes. Keeps young ones, since a new one is unlocked for an instant.
void remove_left_behind(const fs::path& parent, std::string_view begin, std::string_view end,
                        fs::file_type type = fs::file_type::directory);

}  // namespace taskbench::harness
