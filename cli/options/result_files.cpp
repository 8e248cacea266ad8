#include "cli/options/result_files.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>

#include "reports/model/fingerprint.hpp"

namespace taskbench::cli {
namespace {

/// Whether two files of equal size have equal bytes.
bool have_equal_bytes(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  if (fs::equivalent(a, b, ignored)) return true;
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

/// A hash of a file's bytes. Files of a history often have the same size, and comparing each with
/// each other would read them a thousand times.
std::uint64_t fingerprint_of(const fs::path& path) {
  std::uint64_t value = model::fingerprint("");
  std::ifstream file(path, std::ios::binary);
  std::array<char, 65536> block{};
  while (file) {
    file.read(block.data(), block.size());
    value = model::fingerprint({block.data(), static_cast<std::size_t>(file.gcount())}, value);
  }
  return value;
}

/// The first two of the files, in their order, that have the same bytes: one file by two names, or
/// a copy. Files that are not regular are skipped, since they can be read only once, as are those
/// that do not exist or cannot be reached: whoever reads them reports that.
std::optional<std::pair<std::string, std::string>> first_equal_files(const Strings& paths) {
  std::map<std::uintmax_t, int> of_size;
  std::vector<std::optional<std::uintmax_t>> sizes;
  for (const std::string& path : paths) {
    sizes.emplace_back();
    std::error_code failed;
    if (!fs::is_regular_file(path, failed)) continue;
    const std::uintmax_t size = fs::file_size(path, failed);
    if (failed) continue;
    sizes.back() = size;
    ++of_size[*sizes.back()];
  }
  std::map<std::pair<std::uintmax_t, std::uint64_t>, Strings> alike;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!sizes[i] || of_size[*sizes[i]] < 2) continue;
    Strings& others = alike[{*sizes[i], fingerprint_of(paths[i])}];
    for (const std::string& other : others) {
      if (have_equal_bytes(paths[i], other)) return std::pair{other, paths[i]};
    }
    others.push_back(paths[i]);
  }
  return std::nullopt;
}

}  // namespace

void refuse_equal_results(std::string_view prefix, const Strings& paths) {
  if (const auto equal = first_equal_files(paths)) {
    refuse(
        "{}{} and {} are the same result, of one process; leave one out, or name a "
        "file of another process",
        prefix, equal->first, equal->second);
  }
}

}  // namespace taskbench::cli
