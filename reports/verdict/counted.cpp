#include "reports/verdict/counted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>

#include "reports/model/lookup.hpp"

namespace taskbench::reports::verdict {
namespace {

using model::InstructionSample;
using Counts = std::vector<double>;

/// A program's own counter that corresponds to one of callgrind's kinds.
struct OwnCount {
  std::string_view counter;
  std::string_view kind;
};
/// The counters of Go's benchmarks.
constexpr std::array<OwnCount, 2> kOwnCounts{
    {{"allocs/op", "allocations"}, {"B/op", "allocated-bytes"}}};

/// Whether it can be a count: a program may report anything by that name.
bool is_count(double reported) { return std::isfinite(reported) && reported >= 0; }

/// The counts of a side; a single count that is equal on the other side stands for two.
Counts enough(const Counts& own, const Counts& other) {
  if (own.size() == 1 && own == other) return {own.front(), other.front()};
  return own;
}

/// Why a side could not be counted; empty if it was, or if counting was not attempted.
std::string why_unavailable(const InstructionSample* sample) {
  if (sample == nullptr || sample->unavailable.empty()) return {};
  return fmt::format("of {}: {}", name_of(sample->side), sample->unavailable);
}

/// Why the counts of a side cannot be judged; empty if they can.
std::string why_not(const InstructionSample* sample, const InstructionSample* other) {
  if (sample == nullptr) return "not counted yet";
  const Counts nothing;
  const Counts& of_other = other == nullptr ? nothing : other->per_iteration;
  if (enough(sample->per_iteration, of_other).size() < kLeastExactCounts) {
    return fmt::format("of {}: too few counts", name_of(sample->side));
  }
  return {};
}

/// Why counts do not repeat; empty if they do.
std::string why_inexact(const InstructionSample& sample) {
  if (all_equal(sample.per_iteration)) return {};
  const auto [least, most] = std::ranges::minmax(sample.per_iteration);
  return fmt::format(
      "the counts of {} differ by {:.2g} % from one process to the next: something in it depends "
      "on the clock, on addresses, or on another thread",
      name_of(sample.side), 100 * (most / least - 1));
}

}  // namespace

bool Counted::has_moved() const {
  const auto is_changed = [](const auto& of) { return of.is_worse() || of.is_better(); };
  return (instructions && instructions->exact && is_changed(*instructions->exact)) ||
         std::ranges::any_of(kinds, is_changed);
}

bool all_equal(const Counts& counts) {
  return std::ranges::adjacent_find(counts, std::ranges::not_equal_to{}) == counts.end();
}

bool agree(const InstructionSample& base, const InstructionSample& head) {
  return base.per_iteration == head.per_iteration && base.kinds == head.kinds;
}

std::vector<KindVerdict> judge_kinds(const InstructionSample& base, const InstructionSample& head,
                                     const std::vector<std::string>& acknowledged) {
  std::vector<KindVerdict> kinds;
  for (const auto& [kind, counts] : base.kinds) {
    const Counts* const of_head = model::find_in(head.kinds, kind);
    if (of_head == nullptr) continue;
    kinds.push_back(judge_kind(kind, enough(counts, *of_head), enough(*of_head, counts),
                               model::contains(acknowledged, kind)));
  }
  return kinds;
}

Counted judge_counted(const model::PairedTrial& trial, const std::string& benchmark) {
  const InstructionSample* base = nullptr;
  const InstructionSample* head = nullptr;
  for (const InstructionSample& sample : trial.instructions) {
    if (sample.benchmark != benchmark) continue;
    (sample.side == model::Side::base ? base : head) = &sample;
  }
  Counted result;
  const bool is_asked = trial.setup.counts_instructions;
  const bool is_tried = trial.setup.counts_first && (base != nullptr || head != nullptr);
  if (!is_asked && !is_tried) return result;
  for (const std::string& why :
       {why_unavailable(base), why_unavailable(head), why_not(base, head), why_not(head, base)}) {
    if (result.reason.empty()) result.reason = why;
  }
  if (result.reason.empty() && !is_asked) {
    result.reason = why_inexact(*base);
    if (result.reason.empty()) result.reason = why_inexact(*head);
  }
  if (!result.reason.empty()) {
    if (is_asked) result.instructions.emplace().reason = result.reason;
    return result;
  }
  result.instructions = judge_instructions(enough(base->per_iteration, head->per_iteration),
                                           enough(head->per_iteration, base->per_iteration));
  InstructionsVerdict& instructions = *result.instructions;
  instructions.only_shown = !is_asked;
  if (instructions.verdict == Verdict::fail) {
    instructions.acknowledged =
        is_asked && model::contains(trial.setup.acknowledged, model::kInstructions);
    if (instructions.acknowledged || !is_asked) instructions.verdict = Verdict::pass;
  }
  result.kinds = judge_kinds(*base, *head, trial.setup.acknowledged);
  if (!is_asked) std::erase_if(result.kinds, [](const KindVerdict& kind) { return !kind.repeats; });
  return result;
}

std::vector<KindVerdict> judge_own_counts(const model::PairedTrial& trial,
                                          const std::string& benchmark) {
  std::vector<KindVerdict> kinds;
  for (const auto& [counter, kind] : kOwnCounts) {
    Counts base;
    Counts head;
    for (const model::ProcessSample& sample : trial.samples) {
      const auto* const counters = model::find_in(sample.counters, benchmark);
      const auto* const count =
          counters == nullptr ? nullptr : model::find_in(*counters, std::string(counter));
      if (count != nullptr) (sample.side == model::Side::base ? base : head).push_back(*count);
    }
    if (std::min(base.size(), head.size()) < kLeastExactCounts) continue;
    if (!all_equal(base) || !all_equal(head)) continue;
    if (!is_count(base.front()) || !is_count(head.front())) continue;
    const std::string name(kind);
    kinds.push_back(judge_kind(name, base, head, model::contains(trial.setup.acknowledged, name)));
  }
  return kinds;
}

}  // namespace taskbench::reports::verdict
