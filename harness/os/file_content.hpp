// Reads whole files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

namespace taskbench::harness {

/// `error` says why a file could not be read, as what is said of it: "does not exist", "cannot be
/// opened: Permission denied". An empty one means success.
struct FileContent {
  std::string bytes;
  std::string error;
  [[nodiscard]] bool ok() const { return error.empty(); }
};

inline constexpr auto kAnySize = std::numeric_limits<std::uintmax_t>::max();

/// All of a file, which need not be a regular one. In blocks: byte by byte, a large one would take
/// seconds where nothing is optimised.
[[nodiscard]] FileContent read_file(const std::filesystem::path& path,
                                    std::uintmax_t most_bytes = kAnySize);

/// What was written as a regular file is not waited for as one would wait for a pipe.
[[nodiscard]] FileContent read_regular_file(const std::filesystem::path& path,
                                            std::uintmax_t most_bytes = kAnySize);

}  // namespace taskbench::harness
