#include "reports/render/counts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "reports/model/run.hpp"
#include "reports/render/verdict_table.hpp"
#include "reports/verdict/counted.hpp"

namespace taskbench::reports::render {
namespace {

using verdict::KindVerdict;
using verdict::Verdict;

/// "system calls"
std::string words_of_kind(std::string kind) {
  std::ranges::replace(kind, '-', ' ');
  return kind;
}

/// An exact count: whole, unless it varies between iterations.
std::string count_text(double count) {
  return count == std::floor(count) ? with_separators(count, 0) : three_digits(count);
}

/// "0 → 999"
std::string counts_moved(double base, double head) {
  return fmt::format("{} → {}", count_text(base), count_text(head));
}

VerdictText::Row row_of_kind(const KindVerdict& kind, const Cells& titles) {
  VerdictText::Row row = counted_row(titles, words_of_kind(kind.kind), kind.verdict,
                                     kind.acknowledged, kind.is_better());
  Cells& cells = row.cells;
  cells[2] = count_text(kind.base);
  cells[3] = count_text(kind.head);
  if (kind.base > 0) cells[4] = percent_change(kind.head / kind.base - 1);
  cells[5] = kind.repeats ? "exact" : fmt::format("± {}", three_digits(kind.threshold));
  return row;
}

/// "c/d.cpp" of "/a/b/c/d.cpp"
std::string short_path(const std::string& path) {
  const std::size_t name = path.rfind('/');
  if (name == std::string::npos || name == 0) return path;
  const std::size_t folder = path.rfind('/', name - 1);
  return folder == std::string::npos ? path : path.substr(folder + 1);
}

/// " in push, queue/local_queue.hpp:120"
std::string place_text(const std::string& function, const std::string& file, int line) {
  constexpr std::size_t kMostColumns = 90;
  if (function.empty()) return {};
  return fmt::format(" in {}", shortened(function, kMostColumns)) +
         (line > 0 ? fmt::format(", {}:{}", short_path(file), line) : "");
}

/// "  +480 in push, queue/local_queue.hpp:120 (100 → 580; called 10 → 58 times)"
std::string function_line(const model::GrownFunction& grown) {
  std::string text = fmt::format("  +{}{} ({}", count_text(grown.head - grown.base),
                                 place_text(grown.function, grown.file, grown.line),
                                 counts_moved(grown.base, grown.head));
  if (grown.base_calls != grown.head_calls) {
    text += fmt::format("; called {} times", counts_moved(grown.base_calls, grown.head_calls));
  }
  return text + ')';
}

/// What may slow down a benchmark that executes no more instructions.
std::string what_is_left(const model::Explanation& explanation,
                         const verdict::BenchmarkVerdict& row) {
  std::vector<std::string> more;
  for (const model::MovedKind& kind : explanation.kinds) {
    if (kind.head > kind.base) more.push_back(words_of_kind(kind.kind));
  }
  if (!more.empty()) return fmt::format("but there are more {}", fmt::join(more, " and "));
  const bool waits = row.cpu && row.cpu->change < row.change / 2;
  return waits ? "nor did its CPU time by as much; what is left is the kernel, or waiting"
               : "so that what is left is the cache, the layout of the code, or the kernel";
}

/// The first line on a benchmark.
std::string summary_line(const model::Explanation& explanation,
                         const verdict::BenchmarkVerdict& row) {
  if (!explanation.unavailable.empty()) {
    return fmt::format("{}: its instructions could not be counted: {}", explanation.benchmark,
                       explanation.unavailable);
  }
  const double change = explanation.head / explanation.base - 1;
  std::string text = fmt::format("{}: ", explanation.benchmark);
  const std::string counts =
      fmt::format("{} → {} an iteration, {:+.2f} %", with_separators(explanation.base, 0),
                  with_separators(explanation.head, 0), 100 * change);
  if (change > std::max(verdict::kExactDelta, 3 * explanation.scatter)) {
    text += fmt::format("it executes more instructions, {}", counts);
  } else {
    text += fmt::format("its instructions did not grow ({}), {}", counts,
                        what_is_left(explanation, row));
  }
  if (explanation.scatter > 0) {
    text += fmt::format("; counts of one side differ by up to {:.2g} %", 100 * explanation.scatter);
  }
  return text;
}

/// "  fences 0 → 999 in push; in the trial, per iteration parks 1.00 → 2.00"
std::string moved_line(const model::Explanation& explanation,
                       const verdict::BenchmarkVerdict& row) {
  std::vector<std::string> kinds;
  for (const model::MovedKind& kind : explanation.kinds) {
    add(kinds, "{} {}{}", words_of_kind(kind.kind), counts_moved(kind.base, kind.head),
        place_text(kind.function, kind.file, kind.line));
  }
  std::vector<std::string> parts;
  if (!kinds.empty()) add(parts, "{}", fmt::join(kinds, "; "));
  if (std::string moved = moved_counters(row.counters); !moved.empty()) {
    add(parts, "in the trial, {}", moved);
  }
  return parts.empty() ? std::string() : fmt::format("  {}", fmt::join(parts, "; "));
}

}  // namespace

void add_kinds(std::vector<KindVerdict> kinds, const Cells& titles,
               VerdictText::Benchmark& benchmark) {
  const auto growth = [](const KindVerdict& kind) {
    return (kind.head - kind.base) / std::max(kind.base, 1.0);
  };
  std::ranges::stable_sort(kinds, std::ranges::greater{}, growth);
  for (const KindVerdict& kind : kinds) {
    if (!kind.is_worse() && !kind.is_better()) continue;
    benchmark.rows.push_back(row_of_kind(kind, titles));
    if (kind.verdict != Verdict::fail) continue;
    add(benchmark.counts, "{}: {} an iteration", words_of_kind(kind.kind),
        counts_moved(kind.base, kind.head));
    benchmark.counts_change = std::max(benchmark.counts_change, growth(kind));
  }
  if (benchmark.counts.empty() || benchmark.verdict == Verdict::fail) return;
  benchmark.fail_by(Metric::counts, benchmark.counts_change, {});
}

std::string counts_basis(const model::PairedSetup& setup) {
  constexpr std::string_view kKinds =
      "fences, locked instructions, divisions, system calls, allocations or allocated bytes";
  std::string text;
  if (setup.counts_instructions) {
    text = fmt::format(" {} So do more {}.", instructions_remark(), kKinds);
  } else if (setup.counts_first) {
    text = fmt::format(
        " Before the first block, what both execute was counted. Where the counts repeat, more {} "
        "fail, whatever the times say.",
        kKinds);
  }
  if (setup.acknowledged.empty()) return text;
  return text + fmt::format(" Acknowledged, so these may increase: {}.",
                            fmt::join(each_of(setup.acknowledged, words_of_kind), ", "));
}

Sentences uncounted_remarks(const model::PairedTrial& trial, const verdict::PairedReport& report) {
  Sentences sentences;
  if (!trial.setup.counts_first) return sentences;
  std::vector<std::string> more;
  NamesAndReasons failed;
  std::size_t counted = 0;
  for (const verdict::BenchmarkVerdict& row : report.benchmarks) {
    failed.push_back({row.name, verdict::judge_counted(trial, row.name).reason});
    if (!row.instructions) continue;
    ++counted;
    if (!row.instructions->exact->is_worse()) continue;
    add(more, "{} {:+.2f} %", row.name, 100 * row.instructions->exact->change);
  }
  if (!more.empty()) {
    add(sentences,
        "More instructions, which alone fail nothing: {}. --workload and a longer --budget time {} "
        "longer; --counters {} makes more instructions a FAIL.",
        names_text(more), more.size() == 1 ? "it" : "them", model::kInstructionsExact);
  }
  add_shared(sentences, failed, "not counted exactly: ");
  if (!trial.uncounted.reason.empty()) {
    const std::size_t all = trial.setup.benchmarks.size();
    add(sentences, "{} counted exactly: {}.",
        counted == 0 ? "Nothing was" : fmt::format("Only {} of {} benchmarks were", counted, all),
        trial.uncounted.reason);
  }
  return sentences;
}

Sentences missing_kinds(const model::PairedTrial& trial) {
  std::set<std::string> reasons;
  for (const auto& sample : trial.instructions) {
    if (!sample.no_kinds.empty()) reasons.insert(sample.no_kinds);
  }
  Sentences sentences;
  for (const std::string& reason : reasons) {
    add(sentences, "Instructions were not told apart by kind: {}.", reason);
  }
  return sentences;
}

Sentences explanation_lines(const model::PairedTrial& trial, const verdict::PairedReport& report) {
  Sentences lines;
  for (const model::Explanation& explanation : trial.explanations) {
    const auto* const row = model::element_of(report.benchmarks, explanation.benchmark,
                                              &verdict::BenchmarkVerdict::name);
    if (row == nullptr) continue;
    lines.push_back(summary_line(explanation, *row));
    const double scatter = std::max(verdict::kExactDelta, 3 * explanation.scatter);
    if (explanation.head > explanation.base * (1 + scatter)) {
      for (const auto& function : explanation.functions) lines.push_back(function_line(function));
    }
    if (std::string moved = moved_line(explanation, *row); !moved.empty()) {
      lines.push_back(std::move(moved));
    }
  }
  return lines;
}

}  // namespace taskbench::reports::render
