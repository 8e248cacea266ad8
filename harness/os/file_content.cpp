#include "harness/os/file_content.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <random>

#include "harness/os/descriptor.hpp"

namespace taskbench::harness {
namespace {

FileContent refused(std::string why) { return {{}, std::move(why)}; }

/// A nameless file that keeps as many bytes in memory as were freed, and a random number more. The
/// kernel's allocator often reuses first the pages that were freed last.
Descriptor fill_page_cache(std::uintmax_t freed_bytes) {
  constexpr std::uintmax_t kMostBytes = 16 << 20;
  constexpr std::uintmax_t kMostMore = 2 << 20;
  std::error_code none;
  const fs::path folder = fs::temp_directory_path(none);
  Descriptor file(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  std::random_device random;
  const std::string bytes(std::min(freed_bytes, kMostBytes) + random() % kMostMore, 'x');
  // A full disk is not an error: the kernel then chooses the file's place.
  if (file.is_open()) static_cast<void>(write_all(file.get(), bytes));
  return file;
}

}  // namespace

FileContent read_file(const fs::path& path, std::uintmax_t most_bytes) {
  std::error_code failed;
  const auto status = fs::status(path, failed);
  if (status.type() == fs::file_type::not_found) return refused("does not exist");
  if (fs::is_directory(status)) return refused("is a folder, not a file");
  const bool is_regular = fs::is_regular_file(status);
  const std::uintmax_t size = is_regular ? fs::file_size(path, failed) : 0;
  if (!failed && size > most_bytes) {
    return refused(fmt::format("is larger than {} MiB: no such file should be", most_bytes >> 20));
  }
  FileContent content;
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return refused(fmt::format("cannot be opened: {}", std::strerror(errno)));
  // Growing a string may allocate up to twice its size, and copies it.
  if (!failed) content.bytes.reserve(static_cast<std::size_t>(size) + 1);
  std::vector<char> block(std::size_t{1} << 16);
  while (file && content.bytes.size() <= most_bytes) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    content.bytes.append(block.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) content.error = fmt::format("cannot be read: {}", std::strerror(errno));
  // A pipe or a device has no known size, and may never end.
  if (content.bytes.size() > most_bytes) {
    content.error = fmt::format("does not end after {} MiB", most_bytes >> 20);
  }
  return content;
}

FileContent read_regular_file(const fs::path& path, std::uintmax_t most_bytes) {
  std::error_code failed;
  const auto status = fs::status(path, failed);
  if (fs::exists(status) && !fs::is_regular_file(status)) return refused("is not a regular file");
  return read_file(path, most_bytes);
}

bool have_equal_bytes(const fs::path& a, const fs::path& b) {
  std::error_code failed;
  if (fs::equivalent(a, b, failed)) return true;
  const auto size = fs::file_size(a, failed);
  if (failed || size != fs::file_size(b, failed) || failed) return false;
  const FileContent content = read_file(a);
  const FileContent other = read_file(b);
  return content.ok() && other.ok() && content.bytes == other.bytes;
}

void place_anew(const fs::path& path) {
  std::error_code ignored;
  const std::uintmax_t size = fs::file_size(path, ignored);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0 || ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED) != 0) return;
  const Descriptor others = fill_page_cache(size);
  std::vector<char> block(std::size_t{1} << 20);
  while (::read(file.get(), block.data(), block.size()) > 0) continue;
}

}  // namespace taskbench::harness
