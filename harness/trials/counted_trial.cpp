#include "harness/trials/counted_trial.hpp"

#include <cmath>
#include <limits>

#include "harness/trials/attendance.hpp"
#include "reports/json/paired.hpp"
#include "reports/model/date.hpp"
#include "reports/perf/explain.hpp"
#include "reports/verdict/counted.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::harness {
namespace {

using model::InstructionSample;
using model::kBothSides;
using model::Side;
using verdict::all_equal;

/// If two counts agree, all do.
constexpr std::size_t kFirstCounts = verdict::kLeastExactCounts;
constexpr std::size_t kMostCounts = 5;
/// Number of benchmarks whose profiles are kept for explanations.
constexpr std::size_t kMostKept = 16;
constexpr double kBinutilsTimeout_s = 120;
constexpr const char* kNoTime = "no time is left of the budget";

bool is_enough(const InstructionSample& sample, std::size_t most) {
  const std::size_t counted = sample.per_iteration.size();
  if (counted < kFirstCounts) return false;
  const bool repeats =
      all_equal(sample.per_iteration) &&
      std::ranges::all_of(sample.kinds, [](const auto& kind) { return all_equal(kind.second); });
  return repeats || counted >= most;
}

const InstructionSample* sample_of(const model::PairedTrial& trial, Side side,
                                   const std::string& benchmark) {
  const auto found = std::ranges::find_if(trial.instructions, [&](const auto& sample) {
    return sample.side == side && sample.benchmark == benchmark;
  });
  return found == trial.instructions.end() ? nullptr : &*found;
}

/// Whether both sides of a benchmark have been counted, or cannot be.
bool is_counted(const model::PairedTrial& trial, const std::string& benchmark) {
  const InstructionSample* base = sample_of(trial, Side::base, benchmark);
  return sample_of(trial, Side::head, benchmark) != nullptr ||
         (base != nullptr && !base->unavailable.empty());
}

/// The names of the failing benchmarks, those with the largest growth in wall or CPU time first.
Strings failing(const model::PairedTrial& trial) {
  std::vector<verdict::BenchmarkVerdict> rows = verdict::judge(trial).benchmarks;
  std::erase_if(rows, [](const verdict::BenchmarkVerdict& row) { return !verdict::fails(row); });
  std::ranges::stable_sort(rows, std::ranges::greater{}, [](const verdict::BenchmarkVerdict& row) {
    const bool by_cpu = row.cpu && row.cpu->verdict == verdict::Verdict::fail;
    return by_cpu ? std::max(row.change, row.cpu->change) : row.change;
  });
  return each_of(rows, &verdict::BenchmarkVerdict::name);
}

/// How much a benchmark has grown: growth of one kind ranks above that of all instructions.
std::pair<bool, double> growth_of(const model::PairedTrial& trial, const std::string& benchmark) {
  const verdict::Counted counted = verdict::judge_counted(trial, benchmark);
  const bool is_of_kind = std::ranges::any_of(
      counted.kinds, [](const verdict::KindVerdict& kind) { return kind.is_worse(); });
  const auto& of_all = counted.instructions;
  const bool has_grown = of_all && of_all->exact && of_all->exact->is_worse();
  return {is_of_kind, has_grown ? of_all->exact->change : 0};
}

double scatter_of(const InstructionSample& sample) {
  const auto [least, most] = std::ranges::minmax(sample.per_iteration);
  return most / least - 1;
}

}  // namespace

/// Counts one more process. False if that fails; the sample then has a reason and no counts.
bool CountedTrial::count_once(CountedSide& side) {
  InstructionSample& sample = side.sample;
  CallgrindCount counted;
  if (left_s() > 0) {
    counted = count_by_callgrind(of(programs_, sample.side), sample.benchmark, trial_.setup.seed,
                                 std::min(left_s(), bench_.timeout_s), bench_);
  }
  sample.unavailable = left_s() > 0 ? counted.failure : kNoTime;
  if (!sample.unavailable.empty()) {
    sample.per_iteration.clear();
    sample.kinds.clear();
    return false;
  }
  sample.per_iteration.push_back(counted.per_iteration());
  const double patience_s = std::clamp(left_s(), 1.0, kBinutilsTimeout_s);
  for (const auto& [kind, executed] : binutils_.kinds(counted, patience_s)) {
    sample.kinds[kind].push_back(executed);
  }
  sample.no_kinds = binutils_.why_no_instructions();
  // A kind that objdump failed to report for one process is unknown for the benchmark.
  std::erase_if(sample.kinds, [&](const auto& kind) {
    return kind.second.size() != sample.per_iteration.size();
  });
  if (!side.first) side.first = std::move(counted);
  return true;
}

void CountedTrial::count_repeatedly(CountedSide& side, std::size_t most) {
  while (!is_enough(side.sample, most) && count_once(side)) {
  }
}

/// Counts both sides once, and a second time if they differ.
void CountedTrial::count_in_turn(Pair& pair) {
  for (CountedSide* side : {&pair.base, &pair.head}) {
    if (side->sample.per_iteration.empty() && !count_once(*side)) return;
  }
  if (verdict::agree(pair.base.sample, pair.head.sample)) return;
  for (CountedSide* side : {&pair.base, &pair.head}) {
    // A count from the journal stays as it is.
    if (side->first) count_repeatedly(*side, kFirstCounts);
    if (!side->sample.unavailable.empty()) return;
  }
}

/// Both sides, with the counts that the trial already has.
CountedTrial::Pair CountedTrial::pair_of(const std::string& benchmark) const {
  Pair pair;
  for (const Side side : kBothSides) {
    InstructionSample& sample = of(pair, side).sample;
    if (const auto* known = sample_of(trial_, side, benchmark)) sample = *known;
    sample.side = side;
    sample.benchmark = benchmark;
  }
  return pair;
}

/// Keeps the profile of a changed benchmark, unless many others have grown by more.
void CountedTrial::keep(Pair pair) {
  if (!pair.base.first || !pair.head.first) return;
  if (!verdict::judge_counted(trial_, pair.base.sample.benchmark).has_moved()) return;
  moved_.push_back(std::move(pair));
  std::ranges::stable_sort(moved_, std::ranges::greater{}, [&](const Pair& each) {
    return growth_of(trial_, each.base.sample.benchmark);
  });
  if (moved_.size() > kMostKept) moved_.pop_back();
}

void CountedTrial::count(double budget_s) {
  if (trial_.setup.counts_instructions) {
    count_all_asked();
  } else if (trial_.setup.counts_first && trial_.uncounted.reason.empty() &&
             trial_.samples.empty()) {
    count_first(budget_s);
  }
  explain_moved();
}

void CountedTrial::count_all_asked() {
  end_s_ = std::numeric_limits<double>::infinity();
  const auto& names = trial_.setup.benchmarks;
  const std::size_t all = 2 * names.size();
  if (trial_.instructions.size() == all) return;
  const std::string missing = why_no_valgrind(bench_.stop);
  Pair pair;
  while (trial_.instructions.size() < all && !bench_.stop.stop_requested()) {
    const std::size_t done = trial_.instructions.size();
    const Side side = kBothSides[done % 2];
    if (side == Side::base) pair = {};
    InstructionSample& sample = of(pair, side).sample;
    sample.side = side;
    sample.benchmark = names[done / 2];
    progress_(fmt::format("counting instructions, {} of {}: {}, {}", done + 1, all, name_of(side),
                          sample.benchmark));
    sample.unavailable = missing;
    if (missing.empty()) count_repeatedly(of(pair, side), kMostCounts);
    if (bench_.stop.stop_requested()) return;  // a stop request is not a failure
    journal_.append(json::journal_line(sample));
    trial_.instructions.push_back(sample);
    if (side == Side::head) keep(std::move(pair));
  }
}

/// Why no benchmark is counted unless the user asks; empty if they are.
std::string CountedTrial::why_nothing_counts(double budget_s) const {
  if (budget_s < kLeastBudgetToCount_s) {
    return fmt::format("a budget below {} is not enough",
                       model::duration_text(kLeastBudgetToCount_s));
  }
  for (const Side side : kBothSides) {
    const ProgramKind& kind = of(programs_, side).kind();
    // A command's start depends on its path's length and other things that are no change.
    if (kind.is_counted_whole()) {
      return fmt::format("a whole command is counted if --counters {} asks for it",
                         model::kInstructionsExact);
    }
    std::string why = kind.why_not_counted();
    if (!why.empty()) return why;
    why = why_interpreted(of(programs_, side));
    if (!why.empty()) return fmt::format("{} is {}", name_of(side), why);
  }
  return why_no_valgrind(bench_.stop);
}

void CountedTrial::count_first(double budget_s) {
  const double share_s = kCountingShare * budget_s;
  end_s_ = seconds_since(start_) + share_s;
  for (const InstructionSample& sample : trial_.instructions) end_s_ -= sample.took_s;
  Strings names = trial_.setup.benchmarks;
  std::ranges::stable_sort(
      names, {}, [&](const std::string& name) { return wanted_turn(trial_.setup, name); });
  std::string why = why_nothing_counts(budget_s);
  std::string failure;  // of the first benchmark
  double lost_s = 0;
  double last_s = 0;  // that the previous benchmark took
  for (std::size_t i = 0; i < names.size() && why.empty(); ++i) {
    if (is_counted(trial_, names[i])) continue;
    progress_(fmt::format("counting instructions, {} of {}: {}", i + 1, names.size(), names[i]));
    const double before_s = left_s();
    Pair pair = pair_of(names[i]);
    if (before_s > last_s) count_in_turn(pair);
    if (bench_.stop.stop_requested()) return;
    const std::string& failed = pair.base.sample.unavailable.empty() ? pair.head.sample.unavailable
                                                                     : pair.base.sample.unavailable;
    if (before_s <= last_s || failed == kNoTime) {
      if (before_s > last_s) lost_s = before_s - left_s();
      why = fmt::format("a fifth of the budget, {}, was used up", model::duration_text(share_s));
      break;
    }
    last_s = before_s - left_s();
    for (const Side side : kBothSides) {
      InstructionSample& sample = of(pair, side).sample;
      const bool is_known = sample_of(trial_, side, names[i]) != nullptr;
      if (is_known || (sample.per_iteration.empty() && sample.unavailable.empty())) continue;
      if (side == Side::head || !sample.unavailable.empty()) sample.took_s = before_s - left_s();
      journal_.append(json::journal_line(sample));
      trial_.instructions.push_back(sample);
    }
    // If the first two fail in the same way, all would.
    if (!failed.empty() && failed == failure && failed != kSeveralThreads) why = failed;
    failure = i == 0 ? failed : std::string();
    keep(std::move(pair));
  }
  if (why.empty()) return;
  trial_.uncounted = {why, lost_s};
  journal_.append(json::journal_line(trial_.uncounted));
}

void CountedTrial::explain_moved() {
  std::size_t explained = 0;
  for (Pair& pair : moved_) {
    const std::string& name = pair.base.sample.benchmark;
    const auto [is_of_kind, change] = growth_of(trial_, name);
    if ((!is_of_kind && change <= 0) || explained == kMostExplained) return;
    if (bench_.stop.stop_requested()) return;
    explain(name, pair);
    ++explained;
  }
}

void CountedTrial::explain_failures(double left_s) {
  Strings names = failing(trial_);
  names.resize(std::min(names.size(), kMostExplained));
  std::erase_if(names, [&](const std::string& name) {
    return contains(trial_.explanations, name, &model::Explanation::benchmark);
  });
  if (names.empty()) return;
  end_s_ = seconds_since(start_) + std::min(left_s, kMostExplaining_s);
  for (const std::string& name : names) {
    progress_(fmt::format("counting what {} executes, by function", name));
    const auto kept = std::ranges::find(moved_, name, [](const Pair& pair) -> const std::string& {
      return pair.base.sample.benchmark;
    });
    Pair pair = kept == moved_.end() ? pair_of(name) : std::move(*kept);
    explain(name, pair);
    if (bench_.stop.stop_requested()) return;
  }
}

/// Explains one benchmark from the known profiles and, if these do not suffice, further processes.
void CountedTrial::explain(const std::string& benchmark, Pair& pair) {
  const double before_s = left_s();
  model::Explanation explanation;
  explanation.benchmark = benchmark;
  fill_in(pair, explanation);
  if (bench_.stop.stop_requested()) return;
  if (trial_.setup.counts_first && !trial_.end) explanation.took_s = before_s - left_s();
  journal_.append(json::journal_line(explanation));
  trial_.explanations.push_back(std::move(explanation));
}

void CountedTrial::fill_in(Pair& pair, model::Explanation& explanation) {
  const auto needs = [&](bool has_it, std::size_t most) {
    if (has_it) return;
    explanation.unavailable = why_no_valgrind(bench_.stop);
    for (CountedSide* side : {&pair.base, &pair.head}) {
      InstructionSample& sample = side->sample;
      if (!explanation.unavailable.empty()) return;
      if (sample.unavailable.empty()) {
        while (sample.per_iteration.size() < most && count_once(*side)) {
        }
        if (!side->first && sample.unavailable.empty()) (void)count_once(*side);
      }
      if (sample.unavailable.empty()) continue;
      explanation.unavailable =
          sample.unavailable == kNoTime
              ? sample.unavailable
              : fmt::format("of {}: {}", name_of(sample.side), sample.unavailable);
    }
  };
  needs(!pair.base.sample.per_iteration.empty() && !pair.head.sample.per_iteration.empty(),
        kFirstCounts);
  if (!explanation.unavailable.empty()) return;
  const InstructionSample& base = pair.base.sample;
  const InstructionSample& head = pair.head.sample;
  explanation.base = base.per_iteration.front();
  explanation.head = head.per_iteration.front();
  explanation.scatter = std::max(scatter_of(base), scatter_of(head));
  for (const verdict::KindVerdict& kind : verdict::judge_kinds(base, head)) {
    if (!kind.is_worse() && !kind.is_better()) continue;
    explanation.kinds.push_back({kind.kind, kind.base, kind.head});
  }
  const double change = std::abs(explanation.head / explanation.base - 1);
  const bool has_moved = change > 3 * explanation.scatter;  // else functions mean nothing
  if (!has_moved && explanation.kinds.empty()) return;
  // Counts from a journal do not have functions.
  needs(pair.base.first && pair.head.first, 1);
  if (!explanation.unavailable.empty()) return;
  name_functions(*pair.base.first, *pair.head.first, has_moved, explanation);
}

void CountedTrial::name_functions(const CallgrindCount& base, const CallgrindCount& head,
                                  bool has_moved, model::Explanation& explanation) {
  const double patience_s = std::clamp(left_s(), 1.0, kBinutilsTimeout_s);
  const auto profiled = [&](const CallgrindCount& count) {
    return perf::ProfiledSide{count.profile, count.iterations,
                              binutils_.sources(count, patience_s)};
  };
  perf::ProfiledSide before = profiled(base);
  perf::ProfiledSide after = profiled(head);
  constexpr std::size_t kMostFunctions = 3;
  if (has_moved) explanation.functions = perf::grown_functions(before, after, kMostFunctions);
  for (model::MovedKind& kind : explanation.kinds) {
    before.profile = binutils_.only_of(kind.kind, base);
    after.profile = binutils_.only_of(kind.kind, head);
    for (const auto& grown : perf::grown_functions(before, after, 1)) {
      kind.function = grown.function;
      kind.file = grown.file;
      kind.line = grown.line;
    }
  }
}

}  // namespace taskbench::harness
