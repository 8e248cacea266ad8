#include "reports/files/file_content.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <vector>

namespace taskbench::reports::files {

FileContent read_file(const std::filesystem::path& path, std::uintmax_t most_bytes) {
  FileContent content;
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    content.error = fmt::format("cannot be opened: {}", std::strerror(errno));
    return content;
  }
  std::vector<char> block(std::size_t{1} << 16);
  while (file && content.bytes.size() <= most_bytes) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    content.bytes.append(block.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) content.error = fmt::format("cannot be read: {}", std::strerror(errno));
  return content;
}

}  // namespace taskbench::reports::files
