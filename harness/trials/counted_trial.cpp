#include "harness/trials/counted_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <vector>

#include "harness/trials/callgrind.hpp"
#include "reports/json/paired.hpp"
#include "reports/perf/explain.hpp"
#include "reports/verdict/exact.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::harness {
namespace {

using model::Side;
using verdict::Verdict;

/// If two counts agree, so do all.
constexpr std::size_t kFirstCounts = 2;
constexpr std::size_t kMostCounts = 5;
constexpr double kBinutilsTimeout_s = 120;

bool all_equal(const std::vector<double>& counts) {
  return std::ranges::adjacent_find(counts, std::ranges::not_equal_to{}) == counts.end();
}

bool is_enough(const model::InstructionSample& sample) {
  const std::size_t counted = sample.per_iteration.size();
  if (counted < kFirstCounts) return false;
  const bool repeats =
      all_equal(sample.per_iteration) &&
      std::ranges::all_of(sample.kinds, [](const auto& kind) { return all_equal(kind.second); });
  return repeats || counted >= kMostCounts;
}

/// Fills in the counts, or why there are none.
void count(const Program& program, const model::PairedSetup& setup, const Bench& bench,
           Binutils& binutils, model::InstructionSample& sample) {
  while (!is_enough(sample)) {
    const CallgrindCount counted =
        count_by_callgrind(program, sample.benchmark, setup.seed, bench.timeout_s, bench);
    sample.unavailable = counted.failure;
    if (!counted.failure.empty()) {
      sample.per_iteration.clear();
      sample.kinds.clear();
      return;
    }
    sample.per_iteration.push_back(counted.per_iteration());
    for (const auto& [kind, executed] : binutils.kinds(counted)) {
      sample.kinds[kind].push_back(executed);
    }
    sample.no_kinds = binutils.why_no_instructions();
  }
  // What objdump failed to say of one process is not known of the benchmark.
  std::erase_if(sample.kinds, [&](const auto& kind) {
    return kind.second.size() != sample.per_iteration.size();
  });
}

/// The names of the benchmarks that fail, those that are slower by most first.
Strings failing(const model::PairedTrial& trial) {
  std::vector<verdict::BenchmarkVerdict> rows = verdict::judge(trial).benchmarks;
  std::erase_if(rows, [](const verdict::BenchmarkVerdict& row) { return !verdict::fails(row); });
  std::ranges::stable_sort(rows, std::ranges::greater{}, &verdict::BenchmarkVerdict::change);
  Strings names;
  for (const auto& row : rows) names.push_back(row.name);
  return names;
}

/// Explains one benchmark at a time, until there is no more time.
class Explainer {
 public:
  Explainer(const TrialPrograms& programs, const Bench& bench, std::uint64_t seed, double most_s)
      : programs_(programs), bench_(bench), seed_(seed), most_s_(most_s) {}

  [[nodiscard]] model::Explanation explain(const std::string& benchmark) {
    model::Explanation result;
    result.benchmark = benchmark;
    result.unavailable = missing_;
    if (!missing_.empty()) return result;
    Counted base;
    Counted head;
    if (!count(Side::base, base, result) || !count(Side::head, head, result)) return result;
    result.base = base.front().per_iteration();
    result.head = head.front().per_iteration();
    Binutils binutils(bench_, std::max(1.0, left_s()));
    perf::ProfiledSide before = profiled(binutils, base.front());
    perf::ProfiledSide after = profiled(binutils, head.front());
    const double change = std::abs(result.head / result.base - 1);
    if (change > 3 * result.scatter) {  // else those of functions would mean nothing either
      constexpr std::size_t kMostFunctions = 3;
      result.functions = perf::grown_functions(before, after, kMostFunctions);
    }
    result.kinds = moved_kinds(binutils, base, head);
    for (model::MovedKind& kind : result.kinds) {
      before.profile = binutils.only_of(kind.kind, base.front());
      after.profile = binutils.only_of(kind.kind, head.front());
      for (const auto& grown : perf::grown_functions(before, after, 1)) {
        kind.function = grown.function;
        kind.file = grown.file;
        kind.line = grown.line;
      }
    }
    return result;
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Counted = std::vector<CallgrindCount>;

  [[nodiscard]] double left_s() const {
    return most_s_ - std::chrono::duration<double>(Clock::now() - start_).count();
  }

  /// Counts one side twice. False, with the reason, if that fails.
  bool count(Side side, Counted& counted, model::Explanation& result) {
    while (counted.size() < kFirstCounts) {
      CallgrindCount& count = counted.emplace_back();
      if (const double left = left_s(); left > 0) {
        count = count_by_callgrind(of(programs_, side), result.benchmark, seed_,
                                   std::min(left, bench_.timeout_s), bench_);
        if (!count.failure.empty()) {
          result.unavailable = fmt::format("of {}: {}", name_of(side), count.failure);
        }
      }
      if (left_s() <= 0) result.unavailable = "no time is left of the budget";
      if (!result.unavailable.empty()) return false;
    }
    const auto [least, most] = std::ranges::minmax(counted, {}, &CallgrindCount::per_iteration);
    result.scatter = std::max(result.scatter, most.per_iteration() / least.per_iteration() - 1);
    return true;
  }

  using Kinds = std::map<std::string, std::vector<double>>;

  static Kinds kinds_of(Binutils& binutils, const Counted& side) {
    Kinds kinds;
    for (const CallgrindCount& each : side) {
      for (const auto& [kind, executed] : binutils.kinds(each)) kinds[kind].push_back(executed);
    }
    return kinds;
  }

  static std::vector<model::MovedKind> moved_kinds(Binutils& binutils, const Counted& base,
                                                   const Counted& head) {
    std::vector<model::MovedKind> moved;
    const Kinds before = kinds_of(binutils, base);
    for (const auto& [kind, counts] : kinds_of(binutils, head)) {
      const auto then = before.find(kind);
      // What objdump failed to say of one process is not known of the benchmark.
      if (then == before.end() || then->second.size() != kFirstCounts ||
          counts.size() != kFirstCounts) {
        continue;
      }
      const auto judged = verdict::judge_kind(kind, then->second, counts, false);
      if (judged.is_worse() || judged.is_better()) {
        moved.push_back({kind, judged.base, judged.head});
      }
    }
    return moved;
  }

  static perf::ProfiledSide profiled(Binutils& binutils, const CallgrindCount& count) {
    return {count.profile, count.iterations, binutils.sources(count)};
  }

  const TrialPrograms& programs_;
  const Bench& bench_;
  std::uint64_t seed_;
  double most_s_;
  Clock::time_point start_ = Clock::now();
  std::string missing_ = why_no_valgrind(bench_.stop);
};

}  // namespace

void count_instructions(const TrialPrograms& programs, const Bench& bench,
                        const std::function<void(const std::string&)>& progress, LineFile& journal,
                        model::PairedTrial& trial) {
  if (!trial.setup.counts_instructions) return;
  const auto& names = trial.setup.benchmarks;
  const std::size_t all = 2 * names.size();
  const std::string missing = why_no_valgrind(bench.stop);
  Binutils binutils(bench, kBinutilsTimeout_s);
  while (trial.instructions.size() < all && !bench.stop.stop_requested()) {
    const std::size_t done = trial.instructions.size();
    model::InstructionSample sample;
    sample.side = kBothSides[done % 2];
    sample.benchmark = names[done / 2];
    progress(fmt::format("counting instructions, {} of {}: {}, {}", done + 1, all,
                         name_of(sample.side), sample.benchmark));
    sample.unavailable = missing;
    if (missing.empty()) count(of(programs, sample.side), trial.setup, bench, binutils, sample);
    if (bench.stop.stop_requested()) return;  // what was told to stop has not failed
    journal.append(json::journal_line(sample));
    trial.instructions.push_back(std::move(sample));
  }
}

void explain_failures(const TrialPrograms& programs, const Bench& bench, double left_s,
                      const std::function<void(const std::string&)>& progress, LineFile& journal,
                      model::PairedTrial& trial) {
  constexpr std::size_t kMostExplained = 2;
  Strings names = failing(trial);
  if (names.empty()) return;
  names.resize(std::min(names.size(), kMostExplained));
  Explainer explainer(programs, bench, trial.setup.seed, std::min(left_s, kMostExplaining_s));
  for (const std::string& name : names) {
    progress(fmt::format("counting what {} executes, by function", name));
    model::Explanation explanation = explainer.explain(name);
    if (bench.stop.stop_requested()) return;
    journal.append(json::journal_line(explanation));
    trial.explanations.push_back(std::move(explanation));
  }
}

}  // namespace taskbench::harness
