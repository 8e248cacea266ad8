// Temporary files and folders that are removed even if their process is killed: by the next one of
// its kind.
#pragma once

#include "harness/os/descriptor.hpp"
#include "harness/os/names.hpp"

namespace taskbench::harness {

/// Locks a folder until the descriptor is closed, or the process ends, however that happens. Not
/// open if another process has the lock.
[[nodiscard]] Descriptor lock_folder(const fs::path& folder);

/// Likewise for a file that is open, until `file` and the descriptor returned are closed.
[[nodiscard]] Descriptor lock_file(const Descriptor& file);

/// Removes the folders, or the files, in `parent` whose names begin and end like that and that
/// nobody has locked: killed processes have left them. Young ones stay: one that is being created
/// has no lock for an instant.
void remove_left_behind(const fs::path& parent, std::string_view begin, std::string_view end,
                        fs::file_type type = fs::file_type::directory);

}  // namespace taskbench::harness
