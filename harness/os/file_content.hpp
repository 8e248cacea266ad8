// Reads whole files.
#pragma once

#include <cstdint>
#include <limits>

#include "harness/os/names.hpp"

namespace taskbench::harness {

/// The bytes of a file, or why it could not be read, in words that follow its name: "does not
/// exist", "cannot be opened: Permission denied". An empty `error` means success.
struct FileContent {
  std::string bytes;
  std::string error;
  [[nodiscard]] bool ok() const { return error.empty(); }
};

inline constexpr auto kAnySize = std::numeric_limits<std::uintmax_t>::max();

/// Reads a whole file, which need not be a regular one. Reads blocks: byte by byte, a large file
/// would take seconds in an unoptimised build.
[[nodiscard]] FileContent read_file(const fs::path& path, std::uintmax_t most_bytes = kAnySize);

/// Like read_file(), but refuses anything but a regular file: reading a pipe could block.
[[nodiscard]] FileContent read_regular_file(const fs::path& path,
                                            std::uintmax_t most_bytes = kAnySize);

/// Whether two files have the same bytes; false if one of them cannot be read.
[[nodiscard]] bool have_equal_bytes(const fs::path& a, const fs::path& b);

/// Reads a file into memory again, at different physical addresses: meanwhile, a nameless file of
/// random size occupies the freed pages. Has no effect if a process has the file mapped, and in
/// file systems that are in memory themselves.
void place_anew(const fs::path& path);

}  // namespace taskbench::harness
