#include "reports/tools/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/json/parse.hpp"
#include "reports/json/reader.hpp"
#include "reports/tools/catch2.hpp"
#include "reports/tools/printed.hpp"
#include "reports/tools/recorded.hpp"

namespace taskbench::reports::tools {
namespace {

constexpr std::size_t kBeginning_bytes = 4096;

bool begins_with(std::string_view text, std::string_view part) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text.substr(first).starts_with(part);
}

bool has_early(std::string_view text, std::string_view part) {
  return text.substr(0, kBeginning_bytes).find(part) != text.npos;
}

/// A tool's results: how they are recognised, and how they are read.
struct Format {
  bool (*is_it)(std::string_view text);
  model::Run (*parse)(const std::filesystem::path& path, std::string_view text);
};

constexpr std::array<Format, 7> kFormats{{
    {[](std::string_view text) { return begins_with(text, "<"); }, parse_catch2},
    {[](std::string_view text) { return begins_with(text, "["); }, parse_jmh},
    {[](std::string_view text) { return json::begins_with_key(text, "results"); }, parse_hyperfine},
    {[](std::string_view text) { return json::begins_with_key(text, "machine_info"); },
     parse_pytest_benchmark},
    {[](std::string_view text) {
       return (json::begins_with_key(text, "benchmarks") ||
               json::begins_with_key(text, "version")) &&
              (has_early(text, "\"runs\"") || has_early(text, "\"inner_loops\""));
     },
     parse_pyperf},
    {[](std::string_view text) {
       return !begins_with(text, "{") && text.find("ns/op") != text.npos;
     },
     [](const std::filesystem::path&, std::string_view text) { return parse_go(text); }},
    {[](std::string_view text) {
       return !begins_with(text, "{") && text.find(" ... bench:") != text.npos;
     },
     [](const std::filesystem::path&, std::string_view text) { return parse_libtest(text); }},
}};

}  // namespace

model::Run parse_result(const std::filesystem::path& path, std::string_view text) {
  const auto* const format =
      std::ranges::find_if(kFormats, [&](const Format& each) { return each.is_it(text); });
  if (format == kFormats.end()) return json::parse_result_file(path, text);
  return usable(path, format->parse(path, text));
}

model::Run usable(const std::filesystem::path& path, model::Run run) {
  for (const model::Case& each : run.cases) {
    if (each.unusable.empty()) continue;
    throw json::ReadError(fmt::format("{}: '{}' {}", path.string(), each.name, each.unusable));
  }
  if (!run.cases.empty()) return run;
  throw json::ReadError(fmt::format("{}: has no benchmark", path.string()));
}

}  // namespace taskbench::reports::tools
