#include "cli/equal_files.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

namespace taskbench::cli {
namespace {

/// Of two files of one size.
bool have_equal_bytes(const std::filesystem::path& a, const std::filesystem::path& b) {
  if (std::filesystem::equivalent(a, b)) return true;
  std::ifstream one(a, std::ios::binary);
  std::ifstream other(b, std::ios::binary);
  std::array<char, 4096> block{};
  std::array<char, 4096> others{};
  do {
    one.read(block.data(), block.size());
    other.read(others.data(), others.size());
    const auto size = static_cast<std::size_t>(one.gcount());
    if (other.gcount() != one.gcount()) return false;
    if (std::memcmp(block.data(), others.data(), size) != 0) return false;
  } while (one && other);
  return true;
}

}  // namespace

std::optional<std::pair<std::string, std::string>> first_equal_files(
    const std::vector<std::string>& paths) {
  std::map<std::uintmax_t, std::vector<std::string>> by_size;  // of hundreds, few have one size
  for (const std::string& path : paths) {
    if (!std::filesystem::is_regular_file(path)) continue;
    std::vector<std::string>& alike = by_size[std::filesystem::file_size(path)];
    for (const std::string& other : alike) {
      if (have_equal_bytes(path, other)) return std::pair{other, path};
    }
    alike.push_back(path);
  }
  return std::nullopt;
}

}  // namespace taskbench::cli
