// The content, order and wording of a report of verdicts, for pairs, files, and baselines.
// verdict_table.hpp has its layout.
//
// Readers need, in this order: what fails, and why; what is undecided, and what would decide it;
// what passes. Within each group benchmarks are in the order of the program, so that two reports
// with the same verdicts have the same order, however their figures differ.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/render/bars.hpp"
#include "reports/render/columns.hpp"
#include "reports/render/sentences.hpp"
#include "reports/verdict/decision.hpp"

namespace taskbench::reports::render {

/// The cells of a row.
using Cells = std::vector<std::string>;

/// The subject of a benchmark's verdict, if it fails or is undecided.
enum class Metric { time, time_since_anchor, cpu_time, instructions, counts, asked_for };
inline constexpr std::size_t kMetrics = 6;

/// The contents of such a report, piece by piece.
struct VerdictText {
  static constexpr double kNoThreshold = std::numeric_limits<double>::infinity();

  /// A line of the table: a benchmark's times, or below them its CPU time or instructions.
  struct Row {
    Cells cells;
    verdict::Verdict verdict = verdict::Verdict::inconclusive;
    std::optional<Bar> bar{};  ///< for a comment: times have one
  };

  struct Benchmark {
    std::string name;
    verdict::Verdict verdict = verdict::Verdict::inconclusive;  ///< FAIL if one of its metrics does
    bool improved = false;                                      ///< whether it passes and is faster
    Metric metric = Metric::time;                               ///< the subject of the verdict
    std::string metric_name{};                                  ///< of a requested metric
    bool more_is_better = false;                                ///< of this metric
    double change = 0;                                          ///< of this metric
    double threshold = kNoThreshold;                            ///< a lesser change is irrelevant
    std::optional<double> low{};
    std::optional<double> high{};
    std::string levels{};      ///< "4.100 → 4.600 ms"; may be empty
    Sentences counts{};        ///< "fences: 0 → 999 an iteration", for each kind that fails
    double counts_change = 0;  ///< the greatest of these changes, relative to base's count, or to 1
    /// For a failure: the reason, as a sentence without its full stop; may be empty. If undecided:
    /// what would decide it; benchmarks with the same text share it.
    std::string reason{};
    double effort = 0;  ///< undecided benchmarks with less effort come first
    std::vector<Row> rows{};

    void add_reason(std::string_view clause) {
      if (!reason.empty() && !clause.empty()) reason += "; ";
      reason += clause;
    }

    /// Makes the verdict a failure because of a count that has grown.
    void fail_by(Metric counted, double by, std::string moved);

    /// Withdraws a PASS, since this metric is not known.
    void leave_open(Metric unknown, std::string why);
  };

  std::string headline;               ///< the verdict in one sentence, without its full stop
  Cells titles;                       ///< "benchmark", "verdict", and the figures
  std::vector<Benchmark> benchmarks;  ///< in_reading_order()
  std::string legend{};               ///< explains the titles and the words of the figures
  std::string too_few{};              ///< "3 blocks", if these could not show any slowdown
  Sentences remarks;
  std::string basis{};          ///< how it was measured and judged; may be empty
  Sentences explanation{};      ///< of what fails: lines; one that begins with a blank belongs to
                                ///< the line before
  double interval_level = 0.9;  ///< of each interval
};

/// Sorts benchmarks: first those that fail, then those that are undecided, then those that pass.
[[nodiscard]] std::vector<VerdictText::Benchmark> in_reading_order(
    std::vector<VerdictText::Benchmark> benchmarks);

/// The certainty of a verdict.
struct Certainty {
  double alpha = 0;           ///< the chance that any benchmark fails although nothing is slower
  double pass_error = 0;      ///< the chance that a benchmark passes that is slower by `threshold`
  std::string threshold;      ///< the smallest change that matters: "3.0 %"
  Sentences others{};         ///< other thresholds: "5.0 % more peak_memory_bytes"
  bool layout_aside = false;  ///< code layout, which alpha does not cover, may look like a change
};

/// "FAIL: sort is 12.3 % slower (90 % interval +11.0 % … +13.5 %), 1 of 6 benchmarks; the chance of
/// a false alarm is at most 1 %"
[[nodiscard]] std::string verdict_sentence(verdict::Verdict overall, const VerdictText& text,
                                           const Certainty& certainty);

/// "1 fails, 2 undecided, 35 pass"
[[nodiscard]] std::string counts_text(const VerdictText& text);

/// Why a benchmark fails: "is 12.3 % slower (90 % interval +11.0 % … +13.5 %), 4.100 → 4.600 ms: it
/// computes more"; and for each of its other counts: "has more fences: 0 → 999 an iteration".
[[nodiscard]] Sentences findings(const VerdictText::Benchmark& failed, double interval_level);

using Benchmarks = std::vector<const VerdictText::Benchmark*>;

/// The benchmarks with this verdict.
[[nodiscard]] Benchmarks those_with(const VerdictText& text, verdict::Verdict verdict);

/// The `most` benchmarks with the greatest changes, and the others. Both keep their usual order,
/// which does not depend on the figures.
[[nodiscard]] std::pair<Benchmarks, Benchmarks> worst_and_others(const Benchmarks& failed,
                                                                 std::size_t most);

/// Undecided benchmarks that share a reason.
struct Undecided {
  std::vector<std::string> names;  ///< "sort's CPU time (+5.0 %, -3.0 % … +14.2 %)"
  std::string reason;
};

/// Undecided benchmarks, those with the least effort first.
[[nodiscard]] std::vector<Undecided> undecided(const VerdictText& text);

/// "+11.0 % … +13.5 %"; a dash if there is none.
[[nodiscard]] std::string interval_text(std::optional<double> low, std::optional<double> high);

/// "a, b and 7 more"
[[nodiscard]] std::string names_text(const std::vector<std::string>& names, std::size_t most = 6);

/// The verdicts as sentences: what fails, what is undecided, and the remarks.
[[nodiscard]] Sentences notes(const VerdictText& text);

}  // namespace taskbench::reports::render
