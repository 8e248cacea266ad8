#include "cli/options/result_files.hpp"

#include <cstdint>
#include <map>

#include "harness/os/file_content.hpp"
#include "reports/json/reader.hpp"
#include "reports/model/fingerprint.hpp"

namespace taskbench::cli {
namespace {

/// The first two of the files, in their order, with the same bytes: one file under two names, or a
/// copy. Skips files that are not regular, since they can be read only once, and files that do not
/// exist, cannot be reached or are too large: reading them later reports that.
std::optional<std::pair<std::string, std::string>> first_equal_files(const Strings& paths) {
  std::map<std::uintmax_t, int> of_size;
  std::vector<std::optional<std::uintmax_t>> sizes;
  for (const std::string& path : paths) {
    sizes.emplace_back();
    std::error_code failed;
    if (!fs::is_regular_file(path, failed)) continue;
    const std::uintmax_t size = fs::file_size(path, failed);
    if (failed || size > json::kMaxResultBytes) continue;
    sizes.back() = size;
    ++of_size[*sizes.back()];
  }
  std::map<std::pair<std::uintmax_t, std::uint64_t>, Strings> alike;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!sizes[i] || of_size[*sizes[i]] < 2) continue;
    // Uses a hash of the bytes: files of a history often have the same size, and comparing all
    // pairs would read each a thousand times.
    Strings& others = alike[{*sizes[i], model::fingerprint(read_file(paths[i]).bytes)}];
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
    refuse("{}{} and {} are the same result; leave one out", prefix, equal->first, equal->second);
  }
}

}  // namespace taskbench::cli
