#include "harness/files/stored.hpp"

#include <algorithm>

#include "harness/files/line_file.hpp"
#include "harness/os/file_content.hpp"
#include "reports/json/baseline.hpp"
#include "reports/json/paired.hpp"
#include "reports/json/reader.hpp"
#include "reports/tools/recorded.hpp"
#include "reports/tools/result.hpp"

namespace taskbench::harness {
namespace {

std::string text_of(const fs::path& path, FileContent content) {
  if (!content.ok()) throw json::ReadError(fmt::format("{}: {}", path.string(), content.error));
  return std::move(content.bytes);
}

}  // namespace

std::string read_result_text(const fs::path& path) {
  return text_of(path, read_file(path, json::kMaxResultBytes));
}

model::Run read_result_file(const fs::path& path, json::UnusableRows unusable) {
  return json::parse_result_file(path, read_result_text(path), unusable);
}

model::Run read_criterion(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failed;
  auto each = fs::recursive_directory_iterator(folder, failed);
  for (; !failed && each != fs::end(each); each.increment(failed)) {
    const fs::path& path = each->path();
    if (path.filename() == "sample.json" && path.parent_path().filename() == "new") {
      found.push_back(path.parent_path());
    }
  }
  std::ranges::sort(found);
  model::Run run;
  for (const fs::path& one : found) {
    model::Case benchmark = reports::tools::parse_criterion(
        one, read_result_text(one / "benchmark.json"), read_result_text(one / "sample.json"));
    const auto other = std::ranges::find(run.cases, benchmark.name, &model::Case::name);
    if (other == run.cases.end()) {
      run.cases.push_back(std::move(benchmark));
    } else {
      other->unusable =
          "is there twice: two benchmarks have that name, or one is left from an earlier run";
    }
  }
  if (!run.cases.empty()) return run;
  throw json::ReadError(
      fmt::format("{}: is a folder without samples of Criterion, which are in "
                  "files new/sample.json",
                  folder.string()));
}

model::Run read_any_result(const fs::path& path) {
  std::error_code failed;
  if (fs::is_directory(path, failed)) return reports::tools::usable(path, read_criterion(path));
  return reports::tools::parse_result(path, read_result_text(path));
}

model::Series read_baseline(const fs::path& path) {
  return json::parse_baseline(path,
                              text_of(path, read_regular_file(path, json::kMaxBaselineBytes)));
}

model::NoiseCalibration read_noise(const fs::path& path) {
  return json::parse_noise(path, text_of(path, read_file(path)));
}

model::Series read_series_journal(const fs::path& path) {
  return json::parse_series_journal(path, journal_text(path));
}

model::PairedTrial read_journal(const fs::path& path) {
  return json::parse_journal(path, journal_text(path));
}

}  // namespace taskbench::harness
