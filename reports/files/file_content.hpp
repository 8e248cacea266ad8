// Reads whole files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

namespace taskbench::reports::files {

/// `error` says why a file could not be read: "cannot be opened: No such file or directory". An
/// empty one means success.
struct FileContent {
  std::string bytes;
  std::string error;
  [[nodiscard]] bool ok() const { return error.empty(); }
};

/// All of a file, which need not be a regular one. Of one that has more than `most_bytes`, or never
/// ends, the first of them and some more. In blocks: byte by byte, a large one would take seconds
/// where nothing is optimised.
[[nodiscard]] FileContent read_file(
    const std::filesystem::path& path,
    std::uintmax_t most_bytes = std::numeric_limits<std::uintmax_t>::max());

}  // namespace taskbench::reports::files
