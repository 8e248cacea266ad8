#include "reports/verdict/files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "reports/model/lookup.hpp"
#include "reports/stats/multiplicity.hpp"
#include "reports/stats/shift.hpp"
#include "reports/stats/summary.hpp"
#include "reports/verdict/digits.hpp"

namespace taskbench::reports::verdict {
namespace {

using model::Run;

constexpr const char* kOtherMachine = "measured on different machines";
constexpr std::size_t kLeastValues = 3;  // per side of a counter: two have no reliable spread

/// Whether a counter is a rate of Google Benchmark, which repeats the information in the times.
bool is_rate(const std::string& counter) {
  return counter == "items_per_second" || counter == "bytes_per_second";
}

/// A benchmark in one of the files.
struct Occurrence {
  const Run* file;
  const model::Case* benchmark;
};
using Occurrences = std::vector<Occurrence>;

/// The benchmarks of a side by name, which saves searching all files for each.
using Names = model::InOrder<Occurrences>;

Names names_of(const std::vector<Run>& files) {
  Names names;
  for (const Run& file : files) {
    for (const auto& benchmark : file.cases) names[benchmark.name].push_back({&file, &benchmark});
  }
  return names;
}

/// Medians of the times, one for each file with repetitions.
std::vector<double> median_times_of(const Occurrences& occurrences) {
  std::vector<double> medians;
  for (const auto& [file, benchmark] : occurrences) {
    if (const std::vector<double> times = times_of(*benchmark); !times.empty()) {
      medians.push_back(stats::median(times));
    }
  }
  return medians;
}

/// The noise floor that the last digit of printed times means; empty if no file has printed times.
std::optional<model::NoiseFloor> floor_of_printed(const Occurrences& base,
                                                  const Occurrences& head) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  double step_ns = kNone;
  double least_ns = kNone;
  for (const Occurrences* side : {&base, &head}) {
    for (const auto& [file, benchmark] : *side) {
      if (!benchmark->error.empty()) continue;
      if (benchmark->step_ns > 0) step_ns = std::min(step_ns, benchmark->step_ns);
      for (const auto& repetition : benchmark->repetitions) {
        least_ns = std::min(least_ns, repetition.real_ns);
      }
    }
  }
  return step_ns < kNone ? floor_of_digits(step_ns, least_ns) : std::nullopt;
}

/// Medians of a metric, one for each file whose repetitions report it.
std::vector<double> medians_of(const std::string& metric, const Occurrences& occurrences) {
  std::vector<double> medians;
  for (const auto& [file, benchmark] : occurrences) {
    if (!benchmark->error.empty()) continue;
    std::vector<double> values;
    for (const model::Repetition& repetition : benchmark->repetitions) {
      if (const auto* const value = model::find_in(repetition.counters, metric)) {
        values.push_back(*value);
      }
    }
    if (!values.empty()) medians.push_back(stats::median(values));
  }
  return medians;
}

/// The values of each counter. With one file per side, these are its repetitions or, for events,
/// its counting processes; with several files, the median of each.
CounterValues counters_of(const Occurrences& occurrences, bool is_one_file) {
  CounterValues counters;
  for (const auto& [file, benchmark] : occurrences) {
    if (!benchmark->error.empty()) continue;
    CounterValues of_file;
    for (const auto& repetition : benchmark->repetitions) {
      for (const auto& [counter, value] : repetition.counters) {
        if (!is_rate(counter)) of_file[counter].push_back(value);
      }
    }
    for (const auto& event : benchmark->events) {
      if (event.event == model::kInstructionsExact) continue;  // it has its own verdict
      // A count of user mode only is a different counter, not comparable with a full one.
      std::string counter = event.event;
      if (!event.unit.empty()) counter += ", " + event.unit;
      if (event.user_only) counter += ", user only";
      auto& values = of_file[counter];
      values.insert(values.end(), event.per_iteration.begin(), event.per_iteration.end());
    }
    for (auto& [counter, values] : of_file) {
      if (is_one_file) {
        counters[counter] = std::move(values);
      } else if (!values.empty()) {
        counters[counter].push_back(stats::median(values));
      }
    }
  }
  return counters;
}

/// The coarsest resolution of counts per iteration in all files; 0 for counters of other programs,
/// since their meaning is unknown.
double resolution_of_counters(const Occurrences& occurrences) {
  double resolution = 0;
  for (const auto& [file, benchmark] : occurrences) {
    if (benchmark->workload.empty()) continue;
    for (const auto& repetition : benchmark->repetitions) {
      resolution = std::max(resolution, resolution_of(repetition.iterations));
    }
  }
  return resolution;
}

/// The instruction counts of one benchmark on one side.
struct InstructionSide {
  bool was_asked = false;
  std::vector<double> counts;
  std::string unavailable;
  /// Seeds of the counts, if the files state them.
  std::set<std::uint64_t> seeds;
};

InstructionSide instructions_of(const Occurrences& occurrences) {
  InstructionSide side;
  for (const auto& [file, benchmark] : occurrences) {
    for (const auto& event : benchmark->events) {
      if (event.event != model::kInstructionsExact) continue;
      side.was_asked = true;
      if (side.unavailable.empty()) side.unavailable = event.unavailable;
      if (!benchmark->error.empty()) continue;
      const auto& counted = event.per_iteration;
      side.counts.insert(side.counts.end(), counted.begin(), counted.end());
      if (file->settings.seed && !counted.empty()) side.seeds.insert(*file->settings.seed);
    }
  }
  return side;
}

/// Why the counts of a side cannot be compared.
std::string why_not_counted(const InstructionSide& side) {
  if (!side.unavailable.empty()) return side.unavailable;
  return side.counts.empty() ? "not asked for" : "too few counts";
}

std::string seeds_text(const std::set<std::uint64_t>& seeds) {
  return seeds.empty() ? "an unknown seed" : fmt::format("--seed {}", fmt::join(seeds, " and "));
}

/// Why the counts of the two sides are from different schedules; empty if they are not. The
/// workers' turns are drawn from the seed: with another seed the same program takes other turns,
/// and so another number of instructions.
std::string why_other_schedules(const InstructionSide& base, const InstructionSide& head) {
  std::set<std::uint64_t> all = base.seeds;
  all.insert(head.seeds.begin(), head.seeds.end());
  if (all.size() < 2) return {};
  return fmt::format(
      "for one seed: base was counted with {}, head with {}; count both with the same --seed",
      seeds_text(base.seeds), seeds_text(head.seeds));
}

/// The verdict on the instructions: empty if neither side was to count them, no PASS if only one
/// did. Counts from different machines mean nothing, since libraries may run different variants of
/// their code.
std::optional<InstructionsVerdict> compared_instructions(const Occurrences& of_base,
                                                         const Occurrences& of_head,
                                                         bool same_machine) {
  const InstructionSide base = instructions_of(of_base);
  const InstructionSide head = instructions_of(of_head);
  if (!base.was_asked && !head.was_asked) return {};
  InstructionsVerdict result;
  if (base.counts.size() < kLeastExactCounts) {
    result.reason = fmt::format("of base: {}", why_not_counted(base));
  } else if (head.counts.size() < kLeastExactCounts) {
    result.reason = fmt::format("of head: {}", why_not_counted(head));
  } else {
    result = judge_instructions(base.counts, head.counts);
    if (std::string why = why_other_schedules(base, head); !why.empty()) {
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

/// The facts that determine speed and do not vary from run to run, if the file states them; not the
/// measured clock rate.
std::map<std::string, std::string> machine_of(const Run& file) {
  std::map<std::string, std::string> facts;
  if (!file.environment.host_name.empty()) facts["host_name"] = file.environment.host_name;
  if (file.environment.cpu_count > 0)
    facts["num_cpus"] = std::to_string(file.environment.cpu_count);
  for (const auto& [key, title, text] :
       std::span(model::kEnvironmentTexts).first<model::kMachineTexts>()) {
    if (!(file.environment.*text).empty()) facts[key] = file.environment.*text;
  }
  return facts;
}

/// Whether a row could fail with its number of files, whatever they contained, given the other
/// rows' p: the more rows there are, the more Holm's procedure requires.
class Attainable {
 public:
  explicit Attainable(std::vector<double> p) : ascending_(std::move(p)) {
    std::ranges::sort(ascending_);
    double greatest = 0;
    for (std::size_t i = 0; i < ascending_.size(); ++i) {
      greatest_before_.push_back(greatest);
      greatest = std::max(greatest, static_cast<double>(ascending_.size() - i) * ascending_[i]);
    }
  }

  /// Holm's adjusted p of a row whose p is `least`, the smallest that its number of files permits.
  [[nodiscard]] double adjusted(double least) const {
    constexpr double kSlack = 1e-9;  // rounding errors: p is computed in two ways
    const auto before = static_cast<std::size_t>(
        std::ranges::lower_bound(ascending_, least * (1 - kSlack)) - ascending_.begin());
    const auto left = static_cast<double>(ascending_.size() - before);
    return std::min(1.0, std::max(greatest_before_[before], left * least));
  }

 private:
  std::vector<double> ascending_;
  std::vector<double> greatest_before_;  ///< of the adjusted p of the preceding rows
};

/// A family of tests that are judged together: one metric of all benchmarks.
struct Family {
  double delta = 0;
  double epsilon = 0;
  bool more_is_better = false;
  std::string worse{};  ///< the smallest relevant change, "5 % more nodes"; empty for times
};

Family family_of(const model::JudgedMetric& metric, const FilesPolicy& policy) {
  const Thresholds asked_for =
      thresholds_asked_for(metric.delta, metric.more_is_better, policy.epsilon);
  return {asked_for.delta, asked_for.epsilon, metric.more_is_better,
          fmt::format("{:g} % {} {}", 100 * metric.delta, metric.more_is_better ? "less" : "more",
                      metric.name)};
}

std::string why_undecided(const FilesVerdict& row, const Family& family, bool can_fail,
                          std::size_t rows, const FilesPolicy& policy) {
  if (row.base_files == 0 || row.head_files == 0) {
    return fmt::format("no times of {}: it failed there, or reports only aggregates",
                       row.base_files > 0   ? "head"
                       : row.head_files > 0 ? "base"
                                            : "both sides");
  }
  if (!row.has_ratio) return "it is 0 or less in a file, which has no ratio";
  if (row.base_files == 1 && row.head_files == 1) {
    return "one file a side: its repetitions are not independent samples";
  }
  if (can_fail && row.high) {
    return fmt::format(
        "the files are consistent with {}, and with none; more files a side would tell",
        family.worse.empty() ? fmt::format("a slowdown of {:.3g} % or more", 100 * row.delta)
                             : family.worse);
  }
  const std::size_t needed = std::max(files_needed(policy.alpha / static_cast<double>(rows)),
                                      files_needed(policy.pass_error));
  return fmt::format("too few files: {} and {}; about {} a side are needed{}", row.base_files,
                     row.head_files, needed,
                     rows > 1 ? fmt::format(" for {} benchmarks", rows) : "");
}

/// A metric of a row before all rows are judged together, and the inputs to its verdict.
struct Candidate {
  std::size_t row;
  FilesVerdict verdict{};
  std::vector<double> base{};  ///< ln of the values, or of their inverses if more is better
  std::vector<double> head{};
  double epsilon = 0;  ///< the noise floor: that of the family, or of printed digits
  double p_faster = 1;
  bool is_one_value = false;  ///< all values of both sides are equal

  [[nodiscard]] bool has_both() const { return !base.empty() && !head.empty(); }
};

Candidate compared(std::size_t row, std::span<const double> base, std::span<const double> head,
                   const Family& family, double of_digits = 0) {
  Candidate candidate{row};
  candidate.epsilon = std::max(family.epsilon, of_digits);
  FilesVerdict& verdict = candidate.verdict;
  verdict.delta = std::max(family.delta, candidate.epsilon);
  verdict.base_files = base.size();
  verdict.head_files = head.size();
  if (base.empty() || head.empty()) {
    if (!base.empty()) verdict.base = stats::median(base);
    if (!head.empty()) verdict.head = stats::median(head);
    return candidate;
  }
  const double sign = family.more_is_better ? -1 : 1;
  const auto is_no_ratio = [](double value) { return !(value > 0); };
  if (std::ranges::any_of(base, is_no_ratio) || std::ranges::any_of(head, is_no_ratio)) {
    verdict.base = stats::median(base);
    verdict.head = stats::median(head);
    const auto is_another = [&](double value) { return value != base.front(); };
    candidate.is_one_value =
        std::ranges::none_of(base, is_another) && std::ranges::none_of(head, is_another);
    verdict.has_ratio = false;
    return candidate;
  }
  const auto logarithm = [&](double value) { return sign * std::log(value); };
  candidate.base = model::each_of(base, logarithm);
  candidate.head = model::each_of(head, logarithm);
  const double effect = stats::shift(candidate.base, candidate.head);
  const double middle = (stats::median(candidate.base) + stats::median(candidate.head)) / 2;
  verdict.base = std::exp(sign * (middle - effect / 2));
  verdict.head = std::exp(sign * (middle + effect / 2));
  verdict.change = std::expm1(effect);
  const auto interval = stats::shift_interval(candidate.base, candidate.head, kIntervalLevel);
  verdict.low = finite_change(interval.low);
  verdict.high = finite_change(interval.high);
  const double floor = std::log1p(candidate.epsilon);
  verdict.p = stats::shift_p(candidate.base, candidate.head, floor);
  candidate.p_faster = stats::shift_p(candidate.head, candidate.base, floor);
  return candidate;
}

/// The slowdown that would fail if it were measured: the test's bound at this alpha is that far
/// below the estimate, wherever the estimate is. Empty for too few files.
std::optional<double> detectable(const Candidate& candidate, double alpha) {
  if (!candidate.has_both()) return std::nullopt;
  const double margin = std::log1p(candidate.verdict.change) +
                        stats::shift_upper_bound(candidate.head, candidate.base, alpha);
  return finite_change(std::max(std::log1p(candidate.verdict.delta),
                                std::log1p(candidate.epsilon) + std::max(0.0, margin)));
}

/// Judges a metric of all rows together.
void judge_together(const Family& family, const FilesPolicy& policy, std::vector<Candidate>& all,
                    FilesReport& report) {
  const bool same_machine = report.machine_differs.empty();
  const auto p = model::each_of(all, [](const Candidate& each) { return each.verdict.p; });
  const std::vector<double> adjusted = stats::holm(p);
  const auto adjusted_faster = stats::holm(model::each_of(all, &Candidate::p_faster));
  const Attainable attainable(p);
  std::set<std::string> blind(report.blind.begin(), report.blind.end());  // by another metric
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Candidate& candidate = all[i];
    FilesVerdict& verdict = all[i].verdict;
    verdict.p_adjusted = adjusted[i];
    if (candidate.has_both() && same_machine) {
      const double effect = std::log1p(verdict.change);
      const double bound =
          stats::shift_upper_bound(candidate.base, candidate.head, policy.pass_error);
      const Decision decision =
          decide({.effect = effect,
                  .p_slower_adjusted = adjusted[i],
                  .p_faster_adjusted = adjusted_faster[i],
                  .upper_bound = std::max(bound, effect)},
                 {.epsilon = candidate.epsilon, .delta = verdict.delta, .alpha = policy.alpha});
      verdict.verdict = decision.verdict;
      verdict.improved = decision.improved;
    }
    const double least_p = stats::least_shift_p(verdict.base_files, verdict.head_files);
    if (candidate.is_one_value && same_machine && least_p < policy.pass_error) {
      verdict.verdict = Verdict::pass;
    }
    const bool can_fail = verdict.has_ratio && attainable.adjusted(least_p) < policy.alpha;
    report.could_fail = report.could_fail || can_fail;
    if (verdict.verdict != Verdict::inconclusive) continue;
    verdict.reason =
        same_machine ? why_undecided(verdict, family, can_fail, all.size(), policy) : kOtherMachine;
    if (!verdict.has_ratio) continue;  // more files would not help
    const double alpha = policy.alpha / static_cast<double>(all.size());
    const std::string& name = report.rows[candidate.row].name;
    if (is_blind(verdict.verdict, detectable(candidate, alpha), verdict.high, family.delta) &&
        blind.insert(name).second) {
      report.blind.push_back(name);
    }
  }
}

/// Judges a requested metric of all benchmarks for which both sides report it.
void judge_asked_for(const model::JudgedMetric& metric, const Names& base_names,
                     const Names& head_names, const FilesPolicy& policy, FilesReport& report) {
  const Family family = family_of(metric, policy);
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const std::string& name = report.rows[i].name;
    const auto of_base = medians_of(metric.name, *base_names.find(name));
    const auto of_head = medians_of(metric.name, *head_names.find(name));
    if (of_base.empty() || of_head.empty()) continue;
    candidates.push_back(compared(i, of_base, of_head, family));
  }
  if (candidates.empty()) return;
  judge_together(family, policy, candidates, report);
  for (const Candidate& each : candidates) {
    report.rows[each.row].judged.push_back({each.verdict, metric.name, metric.more_is_better});
  }
}

}  // namespace

std::vector<double> times_of(const model::Case& benchmark) {
  if (!benchmark.error.empty()) return {};
  return model::each_of(benchmark.repetitions, &model::Repetition::real_ns);
}

void add_failures(const std::vector<Run>& files, std::string_view side,
                  std::vector<std::string>& failed) {
  for (const Run& file : files) {
    for (const auto& benchmark : file.cases) {
      if (benchmark.error.empty()) continue;
      failed.push_back(fmt::format("{} of {}: {}", benchmark.name, side, benchmark.error));
    }
  }
}

std::set<std::string> metrics_of(const std::vector<Run>& base, const std::vector<Run>& head) {
  const auto known_to = [](const std::vector<Run>& files) {
    std::set<std::string> metrics;
    for (const Run& file : files) {
      for (const model::Case& benchmark : file.cases) {
        if (!benchmark.error.empty()) continue;
        for (const model::Repetition& repetition : benchmark.repetitions) {
          for (const auto& [metric, value] : repetition.counters) metrics.insert(metric);
        }
      }
    }
    return metrics;
  };
  const std::set<std::string> of_base = known_to(base);
  const std::set<std::string> of_head = known_to(head);
  std::set<std::string> both;
  std::ranges::set_intersection(of_base, of_head, std::inserter(both, both.end()));
  return both;
}

std::size_t files_needed(double alpha) {
  for (std::size_t k = 1;; ++k) {
    if (stats::least_shift_p(k, k) < alpha) return k;
  }
}

std::vector<std::string> machine_differences(const std::vector<const Run*>& files) {
  std::map<std::string, std::vector<std::string>> values;  // each once, in the order of the files
  for (const Run* file : files) {
    for (const auto& [key, value] : machine_of(*file)) {
      std::vector<std::string>& known = values[key];
      if (!model::contains(known, value)) known.push_back(value);
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

FilesReport compare_files(const std::vector<Run>& base, const std::vector<Run>& head,
                          const FilesPolicy& policy, const RowObserver& observer) {
  FilesReport report;
  report.policy = policy;
  std::vector<const Run*> all = model::pointers_to(base);
  for (const Run& file : head) all.push_back(&file);
  report.machine_differs = machine_differences(all);
  const bool same_machine = report.machine_differs.empty();
  add_failures(base, "base", report.failed);
  add_failures(head, "head", report.failed);

  const Names base_names = names_of(base);
  const Names head_names = names_of(head);
  const Family times{.delta = policy.delta, .epsilon = policy.epsilon};
  std::vector<Candidate> candidates;
  for (const auto& [name, in_base] : base_names) {
    const Occurrences* in_head = head_names.find(name);
    if (in_head == nullptr) {
      report.only_base.emplace_back(name);
      continue;
    }
    if (observer) observer(candidates.size(), base_names.size());
    auto printed = floor_of_printed(in_base, *in_head);
    candidates.push_back(compared(candidates.size(), median_times_of(in_base),
                                  median_times_of(*in_head), times,
                                  printed ? printed->epsilon : 0));
    if (printed && printed->epsilon > times.epsilon) {
      report.noise_floors[name] = *std::move(printed);
    }
    FilesRow& row = report.rows.emplace_back();
    row.name = name;
    row.instructions = compared_instructions(in_base, *in_head, same_machine);
    row.counters = most_moved(
        counters_of(in_base, base.size() == 1), counters_of(*in_head, head.size() == 1),
        kLeastValues, std::max(resolution_of_counters(in_base), resolution_of_counters(*in_head)));
  }
  for (const auto& [name, in_head] : head_names) {
    if (base_names.find(name) == nullptr) report.only_head.emplace_back(name);
  }
  if (candidates.empty()) return report;

  judge_together(times, policy, candidates, report);
  for (const Candidate& each : candidates) {
    static_cast<FilesVerdict&>(report.rows[each.row]) = each.verdict;
  }
  for (const model::JudgedMetric& metric : policy.judged) {
    judge_asked_for(metric, base_names, head_names, policy, report);
  }
  bool any_fail = false;
  bool any_undecided = false;
  for (const FilesRow& row : report.rows) {
    const auto any_is = [&](Verdict verdict) {
      return row.verdict == verdict || (row.instructions && row.instructions->verdict == verdict) ||
             model::contains(row.judged, verdict, &JudgedFilesVerdict::verdict);
    };
    any_fail = any_fail || any_is(Verdict::fail);
    any_undecided = any_undecided || any_is(Verdict::inconclusive);
    report.could_fail = report.could_fail || (row.instructions && row.instructions->reason.empty());
  }
  report.overall = any_fail ? Verdict::fail : any_undecided ? Verdict::inconclusive : Verdict::pass;
  return report;
}

}  // namespace taskbench::reports::verdict
