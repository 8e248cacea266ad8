#include "harness/trials/measured_process.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "harness/machine/drift.hpp"
#include "harness/trials/line_file.hpp"
#include "harness/trials/near_miss.hpp"
#include "harness/trials/stored.hpp"
#include "reports/json/journal_lines.hpp"
#include "reports/json/reader.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::harness {
namespace {

bool is_meant(const std::string& given, const std::string& benchmark) {
  return benchmark == given || benchmark.starts_with(given + '/');
}

double median_real_ns(const Program& program, const model::Run& result, const std::string& name) {
  const auto found = std::ranges::find(result.cases, name, &model::Case::name);
  std::vector<double> times;
  if (found != result.cases.end()) {
    for (const auto& repetition : found->repetitions) times.push_back(repetition.real_ns);
  }
  const double median = times.empty() ? 0 : stats::median(times);
  if (std::isfinite(median) && median > 0) return median;
  throw BenchmarkError(
      fmt::format("'{}' {} '{}', which it had measured before", program.command().front(),
                  times.empty() ? "left out" : "gave no time above 0 of", name),
      name);
}

}  // namespace

void make_room_for_journal(const fs::path& path, bool is_named, bool is_replaced,
                           std::string_view what, const std::function<bool()>& has_ended) {
  if (!fs::exists(path)) return;
  bool ended = false;
  try {
    ended = has_ended();
  } catch (const json::JournalError&) {  // not ours to remove
    refuse("{} exists, and is not the journal of a {}; remove it, or name another by --journal",
           path.string(), what);
  }
  if (!is_replaced && (is_named || !ended)) {
    refuse("{} exists{}; continue it with --resume, remove it, or name another by --journal",
           path.string(), ended ? "" : fmt::format(", and its {} has not ended", what));
  }
  fs::remove(path);
}

void refuse_rebuilt(std::string_view command, const fs::path& journal) {
  refuse(
      "'{}' is not the program that {} was started with: it was built anew, or a library that it "
      "loads was; start again",
      command, journal.string());
}

model::Run run_once(const Program& program, const SampleRequest& request, const Bench& bench) {
  const fs::path file = bench.scratch.path() / "result.json";
  std::error_code ignored;
  fs::remove(file, ignored);  // what an earlier process wrote is not this one's
  const std::optional<double> queued_s = program.measure(request, file, bench.stop);
  if (!fs::exists(file, ignored)) {
    const std::string command = joined(program.command(), " ");
    throw ProgramError(
        fmt::format("'{}' ended well and wrote no result: it is no benchmark, or leaves out "
                    "--benchmark_out; {}",
                    command, why_no_benchmark(program.command())));
  }
  try {
    model::Run result = read_result_file(file, json::UnusableRows::noted);
    result.queued_s = queued_s;
    return result;
  } catch (const json::ReadError& error) {
    throw ProgramError(
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

std::int64_t trial_repetitions(const Program& program) {
  return program.kind() == Program::Kind::taskbench ? 1 : 2;
}

void sort_as_listed(const Program& program, model::Run& result) {
  const Strings& listed = program.listed();
  std::ranges::stable_sort(result.cases, {}, [&](const model::Case& benchmark) {
    return std::ranges::find(listed, benchmark.name) - listed.begin();
  });
}

void require_sound(const Program& program, const model::Run& result) {
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

model::Run measure_once(const Program& program, const SampleRequest& request, const Bench& bench) {
  model::Run result = run_once(program, request, bench);
  require_sound(program, result);
  return result;
}

std::optional<MeasuredProcess> measure_next(const Program& program, SampleRequest& request,
                                            const BlockPlan& drawn, const Bench& bench) {
  using Clock = std::chrono::steady_clock;
  request.seed = drawn.order_seed;
  request.padding_bytes = drawn.padding_bytes;
  MeasuredProcess process;
  const auto before = read_machine("/", false);
  const Clock::time_point start = Clock::now();
  try {
    process.result = measure_once(program, request, bench);
  } catch (const ProgramError&) {
    if (bench.stop.stop_requested()) return std::nullopt;
    throw;
  }
  process.took_s = std::chrono::duration<double>(Clock::now() - start).count();
  process.machine = use_between(before, read_machine("/", false));
  for (const std::string& name : request.benchmarks) {
    process.real_ns[name] = median_real_ns(program, process.result, name);
  }
  return process;
}

bool is_chosen(const Strings& given, const std::string& benchmark) {
  return given.empty() || std::ranges::any_of(given, [&](const std::string& name) {
           return is_meant(name, benchmark);
         });
}

Strings chosen_benchmarks(const Strings& given, const Strings& benchmarks) {
  std::set<std::string> beginnings;  // each with its benchmarks' names, too
  for (const std::string& each : benchmarks) {
    beginnings.insert(each);
    for (auto end = each.find('/'); end != std::string::npos; end = each.find('/', end + 1)) {
      beginnings.insert(each.substr(0, end));
    }
  }
  for (const std::string& name : given) {
    const auto meant = [&](const std::string& each) { return is_meant(name, each); };
    if (std::ranges::none_of(benchmarks, meant)) {
      const Names known = nearest(name, beginnings) ? Names(beginnings) : Names(benchmarks);
      throw UsageError("--workload: " + unknown_name("benchmark", name, known));
    }
  }
  Strings chosen;
  for (const std::string& each : benchmarks) {
    if (is_chosen(given, each)) chosen.push_back(each);
  }
  return chosen;
}

}  // namespace taskbench::harness
