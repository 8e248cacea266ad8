#include "cli/run_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include "cli/near_miss.hpp"
#include "cli/parameters.hpp"
#include "cli/usage_error.hpp"
#include "cli/values.hpp"

namespace taskbench::cli {
namespace {

using workloads::Workload;
using workloads::measure::Case;
using workloads::measure::Scheduler;

constexpr double kMinRepetitionS = 0.01;      // of a time budget; a shorter one is never planned
constexpr double kMaxMeasuringS = 24 * 3600;  // a longer run is a slip of the keyboard

template <class Table>
std::vector<std::string_view> names_of(const Table& table) {
  std::vector<std::string_view> names;
  for (const auto& row : table) names.push_back(row.name);
  return names;
}

std::vector<const Workload*> choose_workloads(const std::vector<std::string>& names) {
  std::vector<const Workload*> chosen;
  for (const std::string& name : names) {
    const Workload* workload = workloads::find(name);
    if (workload == nullptr) {
      throw UsageError(unknown_name("workload", name, names_of(workloads::all())));
    }
    if (std::ranges::find(chosen, workload) != chosen.end()) {
      throw UsageError(fmt::format("workload '{}' is given twice", name));
    }
    chosen.push_back(workload);
  }
  if (chosen.empty()) {
    for (const Workload& workload : workloads::all()) chosen.push_back(&workload);
  }
  return chosen;
}

std::vector<const Scheduler*> choose_schedulers(const std::vector<std::string>& given) {
  std::vector<const Scheduler*> chosen;
  for (const std::string& name : parse_list("--scheduler", given)) {
    const Scheduler* scheduler = workloads::measure::find_scheduler(name);
    if (scheduler == nullptr) {
      throw UsageError("--scheduler: " +
                       unknown_name("scheduler", name, names_of(workloads::measure::schedulers())));
    }
    chosen.push_back(scheduler);
  }
  if (chosen.empty()) chosen.push_back(&workloads::measure::schedulers().front());
  return chosen;
}

std::vector<unsigned> worker_counts(const std::vector<std::string>& given) {
  std::vector<unsigned> counts;
  for (const std::string& item : parse_list("--workers", given)) {
    const auto count = static_cast<unsigned>(parse_whole_number("--workers", item, 1, kMaxWorkers));
    if (std::ranges::find(counts, count) != counts.end()) {  // "2,02" passes as two items
      throw UsageError(fmt::format("--workers: {} is given twice", count));
    }
    counts.push_back(count);
  }
  return counts;
}

struct Pairing {
  const Scheduler* scheduler;
  unsigned workers;
};

/// Every scheduler with every count that it can have; those that were not asked for are as many as
/// there are CPUs. What cannot be is told in `left_out`. Throws where nothing else was asked for.
std::vector<Pairing> pairings(std::span<const Scheduler* const> schedulers,
                              std::vector<unsigned> counts, unsigned cpus,
                              std::vector<std::string>& left_out) {
  const bool asked_for = !counts.empty();
  if (!asked_for) counts.push_back(std::clamp(cpus, 1U, kMaxWorkers));
  std::vector<Pairing> possible;
  for (const Scheduler* scheduler : schedulers) {
    if (scheduler->single_worker && !asked_for) {
      possible.push_back({scheduler, 1});
      continue;
    }
    std::vector<unsigned> impossible;
    for (const unsigned count : counts) {
      if (scheduler->single_worker && count != 1) {
        impossible.push_back(count);
      } else {
        possible.push_back({scheduler, count});
      }
    }
    if (impossible.empty()) continue;
    left_out.push_back(fmt::format("{} with {} workers: it has only one", scheduler->name,
                                   fmt::join(impossible, ", ")));
  }
  if (possible.empty()) {
    throw UsageError(fmt::format(
        "--workers: scheduler '{}' has one worker and cannot have {}; give --workers 1 or leave "
        "--workers out",
        schedulers.front()->name, counts.front()));
  }
  return possible;
}

/// Found out before anything is started.
void check_extent(std::span<const Case> all) {
  const std::uint64_t cases = all.size();
  std::uint64_t workers = 0;
  for (const Case& each : all) workers += each.workers;
  if (cases > kMaxCases) {
    throw UsageError(
        fmt::format("these are {} cases (workloads × schedulers × worker counts); the limit is {}: "
                    "give fewer --workers, or choose some by --filter",
                    cases, kMaxCases));
  }
  if (workers > kMaxWorkersInAll) {
    throw UsageError(
        fmt::format("these cases have {} workers in all, each a thread, and all exist at once; the "
                    "limit is {}: give fewer --workers, or measure the cases in several runs",
                    workers, kMaxWorkersInAll));
  }
}

std::vector<Case> all_cases(std::span<const Workload* const> chosen,
                            const std::vector<std::string>& assignments,
                            std::span<const Pairing> paired) {
  const auto values = parse_parameters(chosen, assignments);
  std::vector<Case> cases;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    for (const Pairing& each : paired) {
      cases.push_back({chosen[i], each.scheduler, each.workers, values[i]});
    }
  }
  return cases;
}

/// What is wrong with the pattern, and where in it.
std::string why_no_expression(const RE2& expression) {
  std::string reason = expression.error();  // ends in ": " and what error_arg() is
  const std::string& culprit = expression.error_arg();
  if (!culprit.empty() && reason.ends_with(culprit)) {
    reason.resize(reason.size() - culprit.size());
    reason.resize(reason.find_last_not_of(": ") + 1);
  }
  const auto at = expression.pattern().find(culprit);
  const bool is_part = !culprit.empty() && culprit != expression.pattern();
  if (!is_part || at == std::string::npos) return reason;
  return fmt::format("{}: '{}', at byte {}", reason, shortened(culprit), at + 1);
}

std::vector<Case> keep_matching(std::vector<Case> cases, const std::string& pattern) {
  constexpr std::int64_t kMaxExpressionBytes = 64 << 20;
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxExpressionBytes);
  const RE2 expression(pattern, options);
  if (!expression.ok()) {
    throw UsageError(fmt::format("--filter: '{}' is not a regular expression: {}",
                                 shortened(pattern), why_no_expression(expression)));
  }
  std::vector<Case> kept;
  for (const Case& each : cases) {
    if (RE2::PartialMatch(each.name(), expression)) kept.push_back(each);
  }
  if (!kept.empty()) return kept;
  throw UsageError(fmt::format("--filter: '{}' matches none of the {} cases; the first is '{}'",
                               shortened(pattern), cases.size(), cases.front().name()));
}

void plan_time(const RunArguments& arguments, std::size_t case_count,
               workloads::measure::Settings& settings) {
  const auto min_time = parse_single("--min-time", arguments.min_time);
  const auto budget = parse_single("--time-budget", arguments.time_budget);
  if (min_time && budget) {
    throw UsageError(
        "--min-time and --time-budget exclude each other: the budget decides how long a repetition "
        "takes");
  }
  if (static_cast<std::uint64_t>(settings.repetitions) * case_count > kMaxRepetitionsInAll) {
    throw UsageError(
        fmt::format("--repetitions: {} of {} cases are more than {} in all; give fewer",
                    settings.repetitions, case_count, kMaxRepetitionsInAll));
  }
  const auto repetitions =
      static_cast<double>(settings.repetitions) * static_cast<double>(case_count);
  if (budget) {
    const double budget_s =
        parse_duration_s("--time-budget", *budget, kMinTimeBudgetS, kMaxTimeBudgetS);
    if (budget_s < repetitions * kMinRepetitionS) {
      throw UsageError(fmt::format(
          "--time-budget: {} is too short for {} repetitions of {} cases; give at least {}, or ask "
          "for less",
          *budget, settings.repetitions, case_count,
          duration_limit_text(repetitions * kMinRepetitionS)));
    }
    settings.time_budget_s = budget_s;
    return;
  }
  if (min_time) {
    settings.min_time_s = parse_duration_s("--min-time", *min_time, kMinMinTimeS, kMaxMinTimeS);
    settings.warmup_s = std::min(settings.warmup_s, settings.min_time_s);
  }
  const double measuring_s = repetitions * settings.min_time_s;
  if (measuring_s > kMaxMeasuringS) {
    throw UsageError(
        fmt::format("{} repetitions of {} cases at --min-time {} take {}; the limit is {}",
                    settings.repetitions, case_count, duration_limit_text(settings.min_time_s),
                    duration_limit_text(measuring_s), duration_limit_text(kMaxMeasuringS)));
  }
}

void plan_iterations(const RunArguments& arguments, RunPlan& plan) {
  if (!arguments.iterations.empty() && plan.settings.time_budget_s) {
    throw UsageError(
        "--iterations and --time-budget exclude each other: both decide how long it takes");
  }
  std::vector<std::string> case_names;
  for (const Case& each : plan.cases) case_names.push_back(each.name());
  const std::vector<std::string_view> names(case_names.begin(), case_names.end());
  for (const std::string& text : arguments.iterations) {
    const auto equals = text.rfind('=');
    if (equals == std::string::npos) {
      throw UsageError(fmt::format("--iterations: '{}' is not CASE=N", text));
    }
    const std::string name = text.substr(0, equals);
    if (std::ranges::find(names, name) == names.end()) {
      throw UsageError("--iterations: " + unknown_name("case", name, names));
    }
    const std::uint64_t count =
        parse_whole_number("--iterations", text.substr(equals + 1), 1, kMaxIterations);
    if (!plan.settings.iterations.emplace(name, static_cast<std::int64_t>(count)).second) {
      throw UsageError(fmt::format("--iterations: '{}' is given twice", name));
    }
  }
}

std::vector<PlantedDelay> parse_plants(const std::vector<std::string>& given) {
  std::vector<PlantedDelay> planted;
  for (const std::string& each : given) {
    const auto equals = each.find('=');
    const std::string_view site = std::string_view(each).substr(0, equals);
    const auto found = std::ranges::find(rt::kDelaySites, site);
    if (found == rt::kDelaySites.end()) {
      throw UsageError("--plant: " + unknown_name("place", site, rt::kDelaySites));
    }
    const char* const end = each.data() + each.size();
    double ns = 0;
    const auto parsed =
        std::from_chars(equals == std::string::npos ? end : each.data() + equals + 1, end, ns);
    const bool fits = ns >= 0 && ns <= rt::kMaxPlantedDelay_ns;
    if (parsed.ec != std::errc{} || parsed.ptr != end || !fits) {
      throw UsageError(fmt::format("--plant: '{}' does not say PLACE=NS, with 0 to {} ns", each,
                                   rt::kMaxPlantedDelay_ns));
    }
    planted.push_back({static_cast<rt::DelaySite>(found - rt::kDelaySites.begin()), ns});
  }
  return planted;
}

std::optional<std::filesystem::path> parse_file(std::string_view name,
                                                const std::vector<std::string>& given) {
  const auto path = parse_path(name, given);
  if (path == std::filesystem::path("-")) {
    throw UsageError(fmt::format("{}: '-' is no file; name one, or /dev/stdout", name));
  }
  return path;
}

// Where a write to `path` ends up. Follows a symbolic link also when it leads to no file yet, which
// weakly_canonical() does not. A path that cannot be resolved stays as it is: writing will tell.
std::filesystem::path resolved(const std::filesystem::path& path) {
  constexpr int kMostLinks = 40;  // Linux's own limit
  std::error_code failed;
  std::filesystem::path target = std::filesystem::absolute(path);
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(target, failed); ++i) {
    target = target.parent_path() / std::filesystem::read_symlink(target, failed);
    if (failed) return path;
  }
  target = std::filesystem::weakly_canonical(target, failed);
  return failed ? path : target;
}

void plan_output(const RunArguments& arguments, RunPlan& plan) {
  plan.quiet = arguments.quiet;
  plan.json = parse_file("--json", arguments.json);
  plan.json_flat = parse_file("--json-flat", arguments.json_flat);
  if (plan.json && plan.json_flat && resolved(*plan.json) == resolved(*plan.json_flat)) {
    throw UsageError(fmt::format("--json and --json-flat name the same file, '{}'; give two",
                                 plan.json_flat->string()));
  }
  plan.report = parse_path("--report", arguments.report);
  const auto format = parse_single("--format", arguments.format);
  plan.format = &output_formats().front();
  if (format) {
    const auto found = std::ranges::find(output_formats(), *format, &OutputFormat::name);
    if (found == output_formats().end()) {
      throw UsageError("--format: " + unknown_name("format", *format, names_of(output_formats())));
    }
    plan.format = &*found;
  }
  if (plan.quiet && format) {
    throw UsageError("--quiet and --format exclude each other: --quiet prints no result");
  }
  if (plan.quiet && !plan.json && !plan.json_flat && !plan.report) {
    throw UsageError(
        "--quiet without --json or --json-flat or --report would throw the result away; add one "
        "of them");
  }
}

void check_pinning(const RunPlan& plan, unsigned cpus) {
  if (!plan.settings.pin) return;
  for (const Case& each : plan.cases) {
    if (each.workers > cpus) {
      throw UsageError(
          fmt::format("--pin gives every worker a CPU of its own, but this process may use {} and "
                      "{} workers are asked for",
                      cpus, each.workers));
    }
  }
}

}  // namespace

RunPlan plan_run(const RunArguments& arguments, unsigned cpus) {
  std::vector<std::string> names;
  std::vector<std::string> assignments = arguments.parameters;
  for (const std::string& word : arguments.workloads) {
    (word.find('=') == std::string::npos ? names : assignments).push_back(word);
  }
  const auto chosen = choose_workloads(names);
  const auto schedulers = choose_schedulers(arguments.schedulers);
  RunPlan plan;
  const auto paired = pairings(schedulers, worker_counts(arguments.workers), cpus, plan.left_out);
  plan.cases = all_cases(chosen, assignments, paired);
  if (const auto pattern = parse_single("--filter", arguments.filter)) {
    plan.cases = keep_matching(std::move(plan.cases), *pattern);
  }
  check_extent(plan.cases);
  if (const auto text = parse_single("--repetitions", arguments.repetitions)) {
    plan.settings.repetitions =
        static_cast<std::int64_t>(parse_whole_number("--repetitions", *text, 1, kMaxRepetitions));
  }
  if (const auto text = parse_single("--seed", arguments.seed)) {
    plan.settings.seed =
        parse_whole_number("--seed", *text, 0, std::numeric_limits<std::uint64_t>::max());
  }
  plan.settings.pin = arguments.pin;
  plan.planted = parse_plants(arguments.plant);
  plan.counters = parse_counters(arguments.counters);
  plan_time(arguments, plan.cases.size(), plan.settings);
  plan_iterations(arguments, plan);
  plan_output(arguments, plan);
  check_pinning(plan, cpus);
  return plan;
}

}  // namespace taskbench::cli
