#include "harness/programs/measured_process.hpp"

#include <cmath>
#include <set>

#include "harness/files/near_miss.hpp"
#include "harness/machine/drift.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::harness {
namespace {

/// Whether every bracket of a name is closed. "Fx<int" is only part of a name.
bool is_closed(std::string_view name) {
  int open = 0;
  for (const char each : name) {
    if (std::string_view("<([{").find(each) != std::string_view::npos) ++open;
    if (std::string_view(">)]}").find(each) != std::string_view::npos) --open;
  }
  return open == 0;
}

/// Takes the first name off a list: the longest known one, or else the shortest with all brackets
/// closed.
std::string take_name(std::string_view& list, const Strings& known) {
  std::size_t end = list.size();
  for (std::size_t comma = end; comma != std::string_view::npos && comma > 0;
       comma = list.rfind(',', comma - 1)) {
    const std::string name(list.substr(0, comma));
    const bool found = means_any(name, known);
    if (found || is_closed(name)) end = comma;
    if (found) break;
  }
  std::string name(list.substr(0, end));
  list.remove_prefix(std::min(end + 1, list.size()));
  return name;
}

/// A repetition below this share of the requested time is cut short.
constexpr double kCutShort = 0.5;
constexpr int kMostAgain = 2;

/// A process that spends more than this share of its time in the run queue has to share its CPU.
constexpr double kBusy = 0.02;
/// The quantile of the waiting in the repetitions of a process that queued which is taken for the
/// benchmark's own: its sleeps are in every repetition, waiting for a CPU is not.
constexpr double kOwnWaiting = 0.25;

double real_ns_of(const Program& program, const MeasuredProcess& process, const std::string& name) {
  const auto* const found = model::element_of(process.result.cases, name, &model::Case::name);
  std::vector<double> times;
  if (found != nullptr) times = each_of(found->repetitions, &model::Repetition::real_ns);
  double time = times.empty() ? 0 : stats::median(times);
  if (time > 0 && !has_part(name, "manual_time") &&
      process.result.queued_s.value_or(0) > kBusy * process.took_s) {
    time = std::min(time, wanted_ns(*found));
  }
  if (std::isfinite(time) && time > 0) return time;
  throw BenchmarkError(
      fmt::format("'{}' {} '{}', which it had measured before", program.command().front(),
                  times.empty() ? "left out" : "gave no time above 0 of", name),
      name);
}

/// Whether a benchmark's repetitions are far shorter than requested: a disturbance while the
/// process chose the number of iterations, such as losing its CPU, was taken for their time. Such
/// repetitions mostly measure a cold start.
bool is_cut_short(const model::Case& benchmark, const SampleRequest& request) {
  // The names of Google Benchmark say so if it sets its own length.
  const auto says = [&](std::string_view text) { return benchmark.name.find(text) != text.npos; };
  if (says("/iterations:") || says("/min_time:") || has_part(benchmark.name, "manual_time")) {
    return false;
  }
  if (benchmark.repetitions.empty()) return false;
  const auto* const own = model::find_in(request.own_iterations, benchmark.name);
  if (own != nullptr && own->contains(benchmark.repetitions.front().iterations)) return false;
  const auto lengths_ns = each_of(benchmark.repetitions, [](const model::Repetition& repetition) {
    return static_cast<double>(repetition.iterations) *
           std::max(repetition.real_ns, repetition.cpu_ns);
  });
  return stats::median(lengths_ns) < kCutShort * 1e9 * request.min_time_s;
}

Strings cut_short(const model::Run& result, const SampleRequest& request) {
  Strings names;
  for (const auto& benchmark : result.cases) {
    if (is_cut_short(benchmark, request)) names.push_back(benchmark.name);
  }
  return names;
}

/// Measures the benchmarks that were cut short again, in further processes. What has the same
/// number of iterations in all of them has set it itself, and is noted in `own_iterations`.
void lengthen(const Program& program, SampleRequest request, const Bench& bench,
              std::map<std::string, std::set<std::int64_t>>& own_iterations, model::Run& result) {
  constexpr std::int64_t kDiffers = 0;
  std::map<std::string, std::int64_t> counts;
  for (int again = 0; again < kMostAgain; ++again) {
    request.benchmarks = cut_short(result, request);
    if (request.benchmarks.empty()) return;
    model::Run better = measure_once(program, request, bench);
    for (model::Case& benchmark : better.cases) {
      const auto old = std::ranges::find(result.cases, benchmark.name, &model::Case::name);
      if (old == result.cases.end()) continue;
      const auto count = counts.emplace(old->name, old->repetitions.front().iterations).first;
      if (count->second != benchmark.repetitions.front().iterations) count->second = kDiffers;
      *old = std::move(benchmark);
    }
    if (result.queued_s) {
      result.queued_s =
          better.queued_s ? std::optional(*result.queued_s + *better.queued_s) : std::nullopt;
    }
  }
  for (const std::string& name : cut_short(result, request)) {
    const auto* const count = model::find_in(counts, name);
    if (count != nullptr && *count != kDiffers) own_iterations[name].insert(*count);
  }
}

}  // namespace

double wanted_ns(const model::Case& benchmark) {
  const auto cpu = each_of(benchmark.repetitions, &model::Repetition::cpu_ns);
  const auto waiting = each_of(benchmark.repetitions, [](const model::Repetition& repetition) {
    return std::max(0.0, repetition.real_ns - repetition.cpu_ns);
  });
  return stats::median(cpu) + stats::quantile(waiting, kOwnWaiting);
}

bool has_part(const std::string& benchmark, std::string_view part) {
  return (benchmark + '/').find(fmt::format("/{}/", part)) != std::string::npos;
}

void refuse_rebuilt(std::string_view command, const fs::path& journal) {
  refuse(
      "'{}' is not the program that {} was started with: it, or a library that it loads, was "
      "rebuilt; start again",
      command, journal.string());
}

Program named_program(const std::string& command, const std::string& kind, const Bench& bench) {
  try {
    Strings words = command.empty() ? Strings{fs::canonical("/proc/self/exe").string()}
                                    : split_command(command);
    return Program::find_out(std::move(words), bench.stop,
                             {.timeout_s = bench.timeout_s, .kind = named_kind(kind)});
  } catch (const std::invalid_argument& error) {
    refuse("--program '{}': {}", command, error.what());
  } catch (const NotMeasurable& error) {
    throw NotMeasurable(fmt::format("--program: {}", error.what()), error.has_failed);
  } catch (const fs::filesystem_error& error) {
    refuse("this taskbench cannot be found; name it by --program: {}", error.code().message());
  }
}

model::Run run_once(const Program& program, SampleRequest request, const Bench& bench) {
  request.timeout_s = limit_s(request.timeout_s, bench.deadline);
  const fs::path file = bench.scratch.path() / "result.json";
  std::error_code ignored;
  fs::remove(file, ignored);  // an earlier process may have left one
  return program.measure(request, file, bench.stop);
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

void sort_as_listed(const Program& program, model::Run& result) {
  const Strings& listed = program.listed();
  std::ranges::stable_sort(result.cases, {}, [&](const model::Case& benchmark) {
    return std::ranges::find(listed, benchmark.name) - listed.begin();
  });
}

model::Run first_run(const Program& program, SampleRequest request, const Bench& bench,
                     const Listener& listener) {
  request.repetitions = program.kind().trial_repetitions();
  model::Run result = run_once(program, std::move(request), bench);
  std::erase_if(result.cases, [&](const model::Case& benchmark) {
    const std::string reason = why_left_out(benchmark);
    if (reason.empty()) return false;
    listener.note(fmt::format("{} is left out: the program {}", benchmark.name, reason));
    return true;
  });
  if (result.cases.empty()) {
    throw ProgramError(fmt::format("'{}' wrote no result", program.command().front()));
  }
  sort_as_listed(program, result);
  return result;
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
  request.seed = drawn.order_seed;
  request.padding_bytes = drawn.padding_bytes;
  MeasuredProcess process;
  const auto before = read_machine("/", false);
  const auto start = Clock::now();
  try {
    process.result = measure_once(program, request, bench);
    if (program.kind().finds_iterations()) {
      lengthen(program, request, bench, request.own_iterations, process.result);
    }
  } catch (const ProgramError&) {
    if (bench.is_over()) return std::nullopt;
    throw;
  }
  process.took_s = seconds_since(start);
  process.machine = use_between(before, read_machine("/", false));
  for (const std::string& name : request.benchmarks) {
    process.real_ns[name] = real_ns_of(program, process, name);
  }
  return process;
}

Strings benchmark_names(const Strings& given, const Strings& known) {
  Strings names;
  for (std::string_view list : given) {
    while (!list.empty()) {
      std::string name = take_name(list, known);
      if (contains(names, name)) refuse("--workload: '{}' is given twice", shortened(name));
      names.push_back(std::move(name));
    }
  }
  return names;
}

bool is_meant(const std::string& given, const std::string& benchmark) {
  return benchmark == given || benchmark.starts_with(given + '/');
}

bool is_chosen(const Strings& given, const std::string& benchmark) {
  const auto is_by = [&](const std::string& name) { return is_meant(name, benchmark); };
  return given.empty() || std::ranges::any_of(given, is_by);
}

void refuse_unknown(const Strings& given, const Strings& benchmarks) {
  std::set<std::string> beginnings;  // each beginning includes the benchmark's full name
  for (const std::string& each : benchmarks) {
    beginnings.insert(each);
    for (auto end = each.find('/'); end != std::string::npos; end = each.find('/', end + 1)) {
      beginnings.insert(each.substr(0, end));
    }
  }
  for (const std::string& name : given) {
    if (!means_any(name, benchmarks)) {
      const Names known = nearest(name, beginnings) ? Names(beginnings) : Names(benchmarks);
      throw UsageError("--workload: " + unknown_name("benchmark", name, known));
    }
  }
}

Strings chosen_benchmarks(const Strings& given, const Strings& benchmarks) {
  refuse_unknown(given, benchmarks);
  Strings chosen = benchmarks;
  std::erase_if(chosen, [&](const std::string& each) { return !is_chosen(given, each); });
  return chosen;
}

}  // namespace taskbench::harness
