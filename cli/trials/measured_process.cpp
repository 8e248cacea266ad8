#include "cli/trials/measured_process.hpp"

#include <algorithm>

#include "cli/options/near_miss.hpp"
#include "cli/output/streams.hpp"
#include "reports/json/reader.hpp"

namespace taskbench::cli {
namespace {

bool is_meant(const std::string& given, const std::string& benchmark) {
  return benchmark == given || benchmark.starts_with(given + '/');
}

}  // namespace

ExitCode fail_measurement(const measure::ProgramError& error) {
  if (dynamic_cast<const measure::NotMeasurable*>(&error) != nullptr) {
    throw UsageError(error.what());
  }
  print_error(error.what());
  return ExitCode::measured_program_failed;
}

model::Run run_once(const measure::Program& program, const measure::SampleRequest& request,
                    const fs::path& scratch, const std::stop_token& stop) {
  const fs::path file = scratch / "result.json";
  std::error_code ignored;
  fs::remove(file, ignored);  // what an earlier process wrote is not this one's
  program.measure(request, file, stop);
  try {
    return json::read_result_file(file, json::UnusableRows::noted);
  } catch (const json::ReadError& error) {
    throw measure::ProgramError(
        fmt::format("'{}' wrote an unusable result: {}", program.command().front(), error.what()));
  }
}

std::string why_left_out(const model::Case& benchmark) {
  if (benchmark.skipped) return fmt::format("skips it: {}", benchmark.error);
  if (!benchmark.unusable.empty()) {
    return fmt::format("gives it no usable time: its result {}", benchmark.unusable);
  }
  if (benchmark.error.empty() && benchmark.repetitions.empty() && benchmark.has_aggregates) {
    return "reports only aggregates of it (ReportAggregatesOnly), and no single repetitions";
  }
  return {};
}

std::int64_t trial_repetitions(const measure::Program& program) {
  return program.kind() == measure::Program::Kind::taskbench ? 1 : 2;
}

void require_sound(const measure::Program& program, const model::Run& result) {
  const std::string& name = program.command().front();
  for (const auto& benchmark : result.cases) {
    if (!benchmark.error.empty()) {
      throw BenchmarkError(
          fmt::format("'{}': {} failed: {}", name, benchmark.name, benchmark.error),
          benchmark.name);
    }
    if (const std::string reason = why_left_out(benchmark); !reason.empty()) {
      throw BenchmarkError(fmt::format("'{}' {}", name, reason), benchmark.name);
    }
    if (benchmark.repetitions.empty()) {
      throw BenchmarkError(fmt::format("'{}' wrote no repetition of {}", name, benchmark.name),
                           benchmark.name);
    }
  }
}

model::Run measure_once(const measure::Program& program, const measure::SampleRequest& request,
                        const fs::path& scratch, const std::stop_token& stop) {
  model::Run result = run_once(program, request, scratch, stop);
  require_sound(program, result);
  return result;
}

bool is_chosen(const Strings& given, const std::string& benchmark) {
  return given.empty() || std::ranges::any_of(given, [&](const std::string& name) {
           return is_meant(name, benchmark);
         });
}

Strings chosen_benchmarks(const Strings& given, const Strings& benchmarks) {
  const std::vector<std::string_view> names(benchmarks.begin(), benchmarks.end());
  std::vector<std::string_view> beginnings;  // each with its benchmarks' names, too
  for (const std::string_view each : names) {
    for (auto end = each.find('/');; end = each.find('/', end + 1)) {
      const std::string_view beginning = each.substr(0, end);
      if (std::ranges::find(beginnings, beginning) == beginnings.end()) {
        beginnings.push_back(beginning);
      }
      if (end == std::string_view::npos) break;
    }
  }
  for (const std::string& name : given) {
    const auto meant = [&](const std::string& each) { return is_meant(name, each); };
    if (std::ranges::none_of(benchmarks, meant)) {
      const auto& known = nearest(name, beginnings) ? beginnings : names;
      throw UsageError("--workload: " + unknown_name("benchmark", name, known));
    }
  }
  Strings chosen;
  for (const std::string& each : benchmarks) {
    if (is_chosen(given, each)) chosen.push_back(each);
  }
  return chosen;
}

}  // namespace taskbench::cli
