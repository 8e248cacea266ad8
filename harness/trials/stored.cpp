#include "harness/trials/stored.hpp"

#include "harness/os/file_content.hpp"
#include "harness/trials/line_file.hpp"
#include "reports/json/baseline.hpp"
#include "reports/json/paired.hpp"
#include "reports/json/reader.hpp"

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
