#include "reports/verdict/files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "reports/stats/multiplicity.hpp"
#include "reports/stats/shift.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::verdict {
namespace {

using model::ResultFile;

constexpr const char* kOtherMachine = "measured on different machines";
constexpr std::size_t kLeastValues = 3;  // of a counter on each side: two have no spread to trust

/// Google Benchmark's own rates say again what the times say.
bool is_rate(const std::string& counter) {
  return counter == "items_per_second" || counter == "bytes_per_second";
}

/// What the files of one side have of one benchmark.
struct Side {
  std::vector<double> x;  ///< ln of the median, one a file that has repetitions
  bool only_aggregates = true;
};

Side side_of(const std::vector<ResultFile>& files, const std::string& name) {
  Side side;
  for (const ResultFile& file : files) {
    for (const auto& benchmark : file.benchmarks) {
      if (benchmark.run_name != name || !benchmark.error.empty()) continue;
      std::vector<double> times;
      for (const auto& repetition : benchmark.repetitions) times.push_back(repetition.real_ns);
      if (times.empty()) continue;
      side.only_aggregates = false;
      side.x.push_back(std::log(stats::median(times)));
    }
  }
  return side;
}

/// One file a side: its repetitions are the values, and for events its counting processes. Several
/// files: the median of each is one.
CounterValues counters_of(const std::vector<ResultFile>& files, const std::string& name) {
  CounterValues counters;
  for (const ResultFile& file : files) {
    CounterValues of_file;
    for (const auto& benchmark : file.benchmarks) {
      if (benchmark.run_name != name || !benchmark.error.empty()) continue;
      for (const auto& repetition : benchmark.repetitions) {
        for (const auto& [counter, value] : repetition.counters) {
          if (!is_rate(counter)) of_file[counter].push_back(value);
        }
      }
      for (const auto& event : benchmark.events) {
        if (event.event == model::kInstructionsExact) continue;  // it has a verdict of its own
        // What is counted in user mode only is another counter: it is not compared with all of it.
        std::string counter = event.event;
        if (!event.unit.empty()) counter += ", " + event.unit;
        if (event.user_only) counter += ", user only";
        auto& values = of_file[counter];
        values.insert(values.end(), event.per_iteration.begin(), event.per_iteration.end());
      }
    }
    for (auto& [counter, values] : of_file) {
      if (files.size() == 1) {
        counters[counter] = std::move(values);
      } else if (!values.empty()) {
        counters[counter].push_back(stats::median(values));
      }
    }
  }
  return counters;
}

/// Of counts per iteration, the coarsest of all files; 0 for counters of other programs, of which
/// nobody knows what they are.
double resolution_of_counters(const std::vector<ResultFile>& files, const std::string& name) {
  double resolution = 0;
  for (const ResultFile& file : files) {
    for (const auto& benchmark : file.benchmarks) {
      if (benchmark.run_name != name || benchmark.workload.empty()) continue;
      for (const auto& repetition : benchmark.repetitions) {
        resolution = std::max(resolution, resolution_of(repetition.iterations));
      }
    }
  }
  return resolution;
}

void add_instructions(const ResultFile& file, const std::string& name,
                      std::vector<double>& counts) {
  for (const auto& benchmark : file.benchmarks) {
    if (benchmark.run_name != name || !benchmark.error.empty()) continue;
    for (const auto& event : benchmark.events) {
      if (event.event != model::kInstructionsExact) continue;
      counts.insert(counts.end(), event.per_iteration.begin(), event.per_iteration.end());
    }
  }
}

std::vector<double> instructions_of(const std::vector<ResultFile>& files, const std::string& name) {
  std::vector<double> counts;
  for (const ResultFile& file : files) add_instructions(file, name, counts);
  return counts;
}

/// Why a side has no counts that can be compared.
std::string why_not_counted(const std::vector<ResultFile>& files, const std::string& name) {
  for (const ResultFile& file : files) {
    for (const auto& benchmark : file.benchmarks) {
      if (benchmark.run_name != name) continue;
      for (const auto& event : benchmark.events) {
        if (event.event == model::kInstructionsExact && !event.unavailable.empty()) {
          return event.unavailable;
        }
      }
    }
  }
  return instructions_of(files, name).empty() ? "not asked for" : "too few counts";
}

bool has_instructions(const std::vector<ResultFile>& files, const std::string& name) {
  return std::ranges::any_of(files, [&](const ResultFile& file) {
    return std::ranges::any_of(file.benchmarks, [&](const model::Benchmark& benchmark) {
      return benchmark.run_name == name &&
             std::ranges::any_of(benchmark.events, [](const model::EventCount& event) {
               return event.event == model::kInstructionsExact;
             });
    });
  });
}

/// Those that the counts of the benchmark were made with, as far as the files tell.
std::set<std::uint64_t> seeds_of(const std::vector<ResultFile>& files, const std::string& name) {
  std::set<std::uint64_t> seeds;
  for (const ResultFile& file : files) {
    std::vector<double> counts;
    add_instructions(file, name, counts);
    if (file.seed && !counts.empty()) seeds.insert(*file.seed);
  }
  return seeds;
}

std::string seeds_text(const std::set<std::uint64_t>& seeds) {
  return seeds.empty() ? "a seed that is not known"
                       : fmt::format("--seed {}", fmt::join(seeds, " and "));
}

/// Empty where the counts of both sides are of one schedule. The workers' turns are drawn from the
/// seed: with another, the same program takes other turns, and so another number of instructions.
std::string why_other_schedules(const std::vector<ResultFile>& base,
                                const std::vector<ResultFile>& head, const std::string& name) {
  const std::set<std::uint64_t> of_base = seeds_of(base, name);
  const std::set<std::uint64_t> of_head = seeds_of(head, name);
  std::set<std::uint64_t> all = of_base;
  all.insert(of_head.begin(), of_head.end());
  if (all.size() < 2) return {};
  return fmt::format(
      "for one seed: base was counted with {}, head with {}; count both with the same --seed",
      seeds_text(of_base), seeds_text(of_head));
}

/// Nothing where neither side was to count them; no PASS where one has and the other has not. Of
/// another machine's libraries other variants may run, so that its counts say nothing.
std::optional<InstructionsVerdict> compared_instructions(const std::vector<ResultFile>& base,
                                                         const std::vector<ResultFile>& head,
                                                         bool same_machine,
                                                         const std::string& name) {
  if (!has_instructions(base, name) && !has_instructions(head, name)) return {};
  const std::vector<double> of_base = instructions_of(base, name);
  const std::vector<double> of_head = instructions_of(head, name);
  InstructionsVerdict result;
  if (of_base.size() < kLeastExactCounts) {
    result.reason = fmt::format("of base: {}", why_not_counted(base, name));
  } else if (of_head.size() < kLeastExactCounts) {
    result.reason = fmt::format("of head: {}", why_not_counted(head, name));
  } else {
    result = judge_instructions(of_base, of_head);
    if (std::string why = why_other_schedules(base, head, name); !why.empty()) {
      result.verdict = Verdict::inconclusive;
      result.reason = std::move(why);
    }
  }
  if (!same_machine) {
    result.verdict = Verdict::inconclusive;
    result.reason = kOtherMachine;
  }
  return result;
}

std::vector<std::string> names_of(const std::vector<ResultFile>& files) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const ResultFile& file : files) {
    for (const auto& benchmark : file.benchmarks) {
      if (seen.insert(benchmark.run_name).second) names.push_back(benchmark.run_name);
    }
  }
  return names;
}

/// What decides speed and does not jitter, as far as the file tells. Not the measured clock rate.
std::map<std::string, std::string> machine_of(const ResultFile& file) {
  std::map<std::string, std::string> facts;
  if (!file.host_name.empty()) facts["host_name"] = file.host_name;
  if (file.cpu_count > 0) facts["num_cpus"] = std::to_string(file.cpu_count);
  for (const char* key : {"cpu_model", "cpu_microcode", "cpu_governor", "kernel", "hypervisor"}) {
    const auto found = file.environment.find(key);
    if (found != file.environment.end()) facts[key] = found->second;
  }
  return facts;
}

/// Of all files: each fact that two of them have and do not agree on.
std::vector<std::string> differences(const std::vector<const ResultFile*>& files) {
  std::map<std::string, std::vector<std::string>> values;  // each once, in the order of the files
  for (const ResultFile* file : files) {
    for (const auto& [key, value] : machine_of(*file)) {
      std::vector<std::string>& known = values[key];
      if (std::ranges::find(known, value) == known.end()) known.push_back(value);
    }
  }
  std::vector<std::string> result;
  for (const auto& [key, known] : values) {
    if (known.size() > 1) {
      result.push_back(fmt::format("{}: '{}'", key, fmt::join(known, "' and '")));
    }
  }
  return result;
}

/// The least p that so many files a side can have: that of complete separation.
double least_p(std::size_t base, std::size_t head) {
  double orders = 1;
  for (std::size_t k = 1; k <= head; ++k) {
    orders *= static_cast<double>(base + k) / static_cast<double>(k);
  }
  return 1 / orders;
}

/// Whether the row could fail with these files, whatever they held: the other rows' p being what
/// they are, Holm asks more of it the more of them there are.
bool can_fail(const FilesRow& row, std::size_t number, std::vector<double> p,
              const FilesPolicy& policy) {
  p[number] = least_p(row.base_files, row.head_files);
  return stats::holm(p)[number] < policy.alpha;
}

std::string why_undecided(const FilesRow& row, const Side& base, const Side& head, bool can_fail,
                          std::size_t rows, const FilesPolicy& policy) {
  if (base.only_aggregates || head.only_aggregates) return "aggregates only, no repetitions";
  if (row.base_files == 1 && row.head_files == 1) {
    return "one process a side: its repetitions are no independent samples";
  }
  const bool bounded = row.high && std::isfinite(*row.high);
  if (!can_fail || !bounded) {
    const std::size_t needed = std::max(files_needed(policy.alpha / static_cast<double>(rows)),
                                        files_needed(policy.pass_error));
    return fmt::format("too few processes: {} and {}, about {} a side are needed{}", row.base_files,
                       row.head_files, needed,
                       rows > 1 ? fmt::format(" for {} benchmarks", rows) : "");
  }
  return "the interval holds changes that matter and changes that do not";
}

std::optional<double> finite_change(double log_ratio) {
  return std::isfinite(log_ratio) ? std::optional(std::expm1(log_ratio)) : std::nullopt;
}

void fill_failures(const std::vector<ResultFile>& files, std::string_view side,
                   FilesReport& report) {
  for (const ResultFile& file : files) {
    for (const auto& benchmark : file.benchmarks) {
      if (benchmark.error.empty()) continue;
      report.failed.push_back(
          fmt::format("{} of {}: {}", benchmark.run_name, side, benchmark.error));
    }
  }
}

}  // namespace

std::size_t files_needed(double alpha) {
  double orders = 1;  // C(2k, k): the p of complete separation is its reciprocal
  for (std::size_t k = 1;; ++k) {
    const auto each = static_cast<double>(k);
    orders *= (2 * each) * (2 * each - 1) / (each * each);
    if (1 / orders < alpha) return k;
  }
}

FilesReport compare_files(const std::vector<ResultFile>& base, const std::vector<ResultFile>& head,
                          const FilesPolicy& policy) {
  FilesReport report;
  std::vector<const ResultFile*> all;
  for (const auto* files : {&base, &head}) {
    for (const ResultFile& file : *files) all.push_back(&file);
  }
  report.machine_differs = differences(all);
  fill_failures(base, "base", report);
  fill_failures(head, "head", report);

  const std::vector<std::string> head_names = names_of(head);
  const auto in = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  std::vector<Side> base_sides;
  std::vector<Side> head_sides;
  std::vector<double> p;
  std::vector<double> p_faster;
  const double floor = std::log1p(policy.epsilon);
  for (const std::string& name : names_of(base)) {
    if (!in(head_names, name)) {
      report.only_base.push_back(name);
      continue;
    }
    Side of_base = side_of(base, name);
    Side of_head = side_of(head, name);
    FilesRow row;
    row.name = name;
    row.base_files = of_base.x.size();
    row.head_files = of_head.x.size();
    double faster = 1;
    if (!of_base.x.empty() && !of_head.x.empty()) {
      row.base_ns = std::exp(stats::median(of_base.x));
      row.head_ns = std::exp(stats::median(of_head.x));
      row.change = std::expm1(stats::shift(of_base.x, of_head.x));
      const auto interval = stats::shift_interval(of_base.x, of_head.x, kIntervalLevel);
      row.low = finite_change(interval.low);
      row.high = finite_change(interval.high);
      row.p = stats::shift_p(of_base.x, of_head.x, floor);
      faster = stats::shift_p(of_head.x, of_base.x, floor);
    }
    row.instructions = compared_instructions(base, head, report.machine_differs.empty(), name);
    row.counters = most_moved(
        counters_of(base, name), counters_of(head, name), kLeastValues,
        std::max(resolution_of_counters(base, name), resolution_of_counters(head, name)));
    p.push_back(row.p);
    p_faster.push_back(faster);
    base_sides.push_back(std::move(of_base));
    head_sides.push_back(std::move(of_head));
    report.rows.push_back(std::move(row));
  }
  for (const std::string& name : head_names) {
    if (!in(names_of(base), name)) report.only_head.push_back(name);
  }
  if (report.rows.empty()) return report;

  const std::vector<double> adjusted = stats::holm(p);
  const std::vector<double> adjusted_faster = stats::holm(p_faster);
  bool any_fail = false;
  bool any_undecided = false;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    FilesRow& row = report.rows[i];
    row.p_adjusted = adjusted[i];
    if (row.base_files > 0 && row.head_files > 0 && report.machine_differs.empty()) {
      const double effect = std::log1p(row.change);
      const double bound =
          stats::shift_upper_bound(base_sides[i].x, head_sides[i].x, policy.pass_error);
      const Decision decision = decide({.effect = effect,
                                        .p_slower_adjusted = adjusted[i],
                                        .p_faster_adjusted = adjusted_faster[i],
                                        .upper_bound = std::max(bound, effect)},
                                       {.epsilon = policy.epsilon,
                                        .delta = std::max(policy.delta, policy.epsilon),
                                        .alpha = policy.alpha});
      row.verdict = decision.verdict;
      row.improved = decision.improved;
    }
    if (row.verdict == Verdict::inconclusive) {
      row.reason = report.machine_differs.empty()
                       ? why_undecided(row, base_sides[i], head_sides[i],
                                       can_fail(row, i, p, policy), p.size(), policy)
                       : kOtherMachine;
    }
    any_fail = any_fail || row.verdict == Verdict::fail ||
               (row.instructions && row.instructions->verdict == Verdict::fail);
    any_undecided = any_undecided || row.verdict == Verdict::inconclusive ||
                    (row.instructions && row.instructions->verdict == Verdict::inconclusive);
  }
  report.overall = any_fail ? Verdict::fail : any_undecided ? Verdict::inconclusive : Verdict::pass;
  return report;
}

}  // namespace taskbench::reports::verdict
