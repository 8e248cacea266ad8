// The benchmarks of a report's results, and its sections, each in one function.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/model/run.hpp"
#include "reports/render/document.hpp"
#include "reports/render/plots.hpp"
#include "reports/render/report.hpp"
#include "reports/render/sentences.hpp"

namespace taskbench::reports::render {

/// A benchmark, with the newest result that has it.
struct ShownCase {
  const NamedResult* source = nullptr;
  const model::Case* benchmark = nullptr;
  /// The benchmark in the newest result with counters in its repetitions, and in the newest result
  /// with events from a separate pass. Empty if there is none.
  struct Counted {
    const NamedResult* source = nullptr;
    const model::Case* benchmark = nullptr;
  };
  Counted counters{};
  Counted events{};
  std::string group;    ///< its workload, or the family of a foreign benchmark
  std::string variant;  ///< "work_stealing ×2": how the group's cases differ; may be empty
  Sampled real_ns;

  [[nodiscard]] std::string label() const {
    return variant.empty() ? group : group + ' ' + variant;
  }
  /// Whether an iteration is a known number of operations.
  [[nodiscard]] bool has_operations() const { return benchmark->operations > 0; }
};

using ShownCases = std::vector<const ShownCase*>;
using Samples = std::vector<const Sampled*>;

/// Every benchmark with samples, once each, in the order of the newest results.
[[nodiscard]] std::vector<ShownCase> shown_cases(const std::vector<const NamedResult*>& in_order);

/// The wall times of an iteration.
[[nodiscard]] Sampled times_of(const model::Case& benchmark);
[[nodiscard]] Samples times_of(const ShownCases& cases);

/// Its machine, in short: "Some CPU, 2 CPUs, Release".
[[nodiscard]] std::string machine_of(const model::Run& file);

/// machine_of() each result, numbered if results with the same short text cannot be compared
/// because of a different kernel, compiler and so on. So equal texts mean comparable results.
[[nodiscard]] std::vector<std::string> machine_labels(
    const std::vector<const NamedResult*>& in_order);

/// "1a2b3c4", or with "-dirty"; empty if not known.
[[nodiscard]] std::string short_commit(const model::Run& file);

/// A time in a suitable unit, and the number to sort it by.
[[nodiscard]] Cell time_cell(double ns);

/// "32.63 … 33.01 µs", sorted by its lower end.
[[nodiscard]] Cell interval_cell(const Sampled& sample);

// Parts of captions, about the samples in one plot.

/// "9" or "5 to 9": the number of values in each sample.
[[nodiscard]] std::string sample_count(const Samples& samples);

/// Likewise, with the noun: "9 repetitions".
[[nodiscard]] std::string repetition_count(const Samples& samples);

/// A phrase about the bars of medians: ", its bar the 95 % interval" if all have one.
[[nodiscard]] std::string interval_phrase(const Samples& samples);

/// " At most 375 dots of each are drawn, …."; empty if all are drawn.
[[nodiscard]] std::string dots_phrase(const Samples& samples);

/// Limit on the plots of one kind: nobody looks at more, and a browser draws them slowly. The
/// tables contain the rest.
inline constexpr std::size_t kMostPlots = 24;

/// Splits a list into as few parts as possible, each of at most `most` elements and of nearly equal
/// length.
template <class T>
[[nodiscard]] std::vector<std::vector<T>> in_parts(const std::vector<T>& list, std::size_t most) {
  const std::size_t count = (list.size() + most - 1) / most;
  std::vector<std::vector<T>> parts(count);
  for (std::size_t part = 0, i = 0; part < count; ++part) {
    while (i < (part + 1) * list.size() / count) parts[part].push_back(list[i++]);
  }
  return parts;
}

/// " (2 of 3)" if there are several.
[[nodiscard]] std::string part_text(std::size_t index, std::size_t count);

/// A section under construction, with its plots.
class SectionWriter {
 public:
  SectionWriter(Document& document, std::string id, std::string title)
      : document_(&document), section_{std::move(id), std::move(title), {}} {}

  template <class... Args>
  void say(fmt::format_string<Args...> text, Args&&... args) {
    section_.blocks.emplace_back(Paragraph{fmt::format(text, std::forward<Args>(args)...)});
  }
  void add(Block block) { section_.blocks.push_back(std::move(block)); }
  void add(const std::vector<Paragraph>& items) {
    if (!items.empty()) add(Items{items});
  }
  void draw(Plot plot, std::string caption) {
    add(Figure{plot.name, std::move(caption)});
    document_->plots.push_back(std::move(plot));
  }
  void add(Section part) { section_.parts.push_back(std::move(part)); }

  /// "The plots show the 24 of 90 benchmarks that moved most; the tables have all."
  void say_plotted(std::size_t shown, std::size_t all, std::string_view what,
                   std::string_view which) {
    say("The plots show the {} of {} {} {}; the tables have all.", shown, all, what, which);
  }
  /// The indices of the `most` greatest weights, in their order; says so if these are not all.
  std::vector<std::size_t> plotted(const std::vector<double>& weights, std::size_t most,
                                   std::string_view what, std::string_view which);

  [[nodiscard]] Section take() { return std::move(section_); }

 private:
  Document* document_;
  Section section_;
};

/// The outcome of a comparison, as a sentence.
[[nodiscard]] Paragraph outcome_of(const verdict::PairedFile& file);

/// The verdicts, the effects with their thresholds, the times of each process.
[[nodiscard]] Section comparison_section(const NamedComparison& comparison, std::size_t number,
                                         bool is_only_one, Document& document);

/// The figures of every case, side by side.
[[nodiscard]] Section results_section(const std::vector<ShownCase>& cases, Document& document);

/// Every sample of every case.
[[nodiscard]] Section distributions_section(const std::vector<ShownCase>& cases,
                                            Document& document);

/// Times, context switches and scheduler counters by number of workers. Empty if no benchmark was
/// measured with several numbers.
[[nodiscard]] Section workers_section(const std::vector<ShownCase>& cases, Document& document);

/// Observations that workloads made of themselves. Empty if there are none.
[[nodiscard]] Section observed_section(const std::vector<ShownCase>& cases, Document& document);

/// Counters per operation if the operations are known, otherwise as the program gave them. Empty if
/// there are none.
[[nodiscard]] Section counters_section(const std::vector<ShownCase>& cases, Document& document);

/// Benchmarks that occur in several results. Empty if there are none.
[[nodiscard]] Section history_section(const std::vector<const NamedResult*>& in_order,
                                      const std::vector<ShownCase>& cases, Document& document);

}  // namespace taskbench::reports::render
