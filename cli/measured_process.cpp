#include "cli/measured_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/near_miss.hpp"
#include "cli/usage_error.hpp"
#include "reports/json/reader.hpp"

namespace taskbench::cli {
namespace {

bool is_meant(const std::string& given, const std::string& benchmark) {
  return benchmark == given || benchmark.starts_with(given + '/');
}

}  // namespace

reports::model::ResultFile run_once(const workloads::measure::Program& program,
                                    const workloads::measure::SampleRequest& request,
                                    const std::filesystem::path& scratch,
                                    const std::atomic<bool>& stop) {
  const std::filesystem::path file = scratch / "result.json";
  std::error_code ignored;
  std::filesystem::remove(file, ignored);  // what an earlier process wrote is not this one's
  program.measure(request, file, stop);
  return reports::json::read_result_file(file);
}

void require_sound(const workloads::measure::Program& program,
                   const reports::model::ResultFile& result) {
  const std::string& name = program.command().front();
  for (const auto& benchmark : result.benchmarks) {
    if (!benchmark.error.empty()) {
      throw BenchmarkError(
          fmt::format("'{}': {} failed: {}", name, benchmark.run_name, benchmark.error),
          benchmark.run_name);
    }
    if (benchmark.repetitions.empty()) {
      throw BenchmarkError(fmt::format("'{}' wrote no repetition of {}", name, benchmark.run_name),
                           benchmark.run_name);
    }
  }
}

reports::model::ResultFile measure_once(const workloads::measure::Program& program,
                                        const workloads::measure::SampleRequest& request,
                                        const std::filesystem::path& scratch,
                                        const std::atomic<bool>& stop) {
  reports::model::ResultFile result = run_once(program, request, scratch, stop);
  require_sound(program, result);
  return result;
}

bool is_chosen(const std::vector<std::string>& given, const std::string& benchmark) {
  return given.empty() || std::ranges::any_of(given, [&](const std::string& name) {
           return is_meant(name, benchmark);
         });
}

std::vector<std::string> chosen_benchmarks(const std::vector<std::string>& given,
                                           const std::vector<std::string>& benchmarks) {
  const std::vector<std::string_view> names(benchmarks.begin(), benchmarks.end());
  for (const std::string& name : given) {
    const auto meant = [&](const std::string& each) { return is_meant(name, each); };
    if (std::ranges::none_of(benchmarks, meant)) {
      throw UsageError("--workload: " + unknown_name("benchmark", name, names));
    }
  }
  std::vector<std::string> chosen;
  for (const std::string& each : benchmarks) {
    if (is_chosen(given, each)) chosen.push_back(each);
  }
  return chosen;
}

}  // namespace taskbench::cli
