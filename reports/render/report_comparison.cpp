#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "reports/render/gnuplot.hpp"
#include "reports/render/paired.hpp"
#include "reports/render/report_sections.hpp"
#include "reports/render/verdict_table.hpp"

namespace taskbench::reports::render {
namespace {

using Outcome = verdict::PairedFile::Outcome;
using verdict::Verdict;

constexpr std::size_t kMostEffectPlots = 4;

Tone tone_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return Tone::good;
    case Verdict::fail:
      return Tone::bad;
    case Verdict::inconclusive:
      break;
  }
  return Tone::doubtful;
}

/// Those that moved most, FAIL before all others.
std::vector<std::size_t> most_moved_of(const verdict::PairedReport& report, std::size_t most) {
  std::vector<double> moved;
  for (const verdict::BenchmarkVerdict& each : report.benchmarks) {
    const double change = std::abs(std::log1p(each.change));
    moved.push_back(each.verdict == Verdict::fail ? std::numeric_limits<double>::max() : change);
  }
  return greatest(moved, most);
}

void add_effects(const NamedComparison& comparison, const std::string& suffix, Section& section,
                 Document& document) {
  const auto& report = comparison.file.report;
  const auto shown = most_moved_of(report, kMostEffectPlots * kMaxRows);
  if (shown.size() < report.benchmarks.size()) {
    section.blocks.push_back(plain(
        fmt::format("The plots show the {} of {} benchmarks that moved most; the table has all.",
                    shown.size(), report.benchmarks.size())));
  }
  const std::size_t plots = (shown.size() + kMaxRows - 1) / kMaxRows;
  for (std::size_t plot = 0; plot < plots; ++plot) {
    std::vector<EffectRow> rows;
    const std::size_t end = std::min(shown.size(), (plot + 1) * kMaxRows);
    for (std::size_t i = plot * kMaxRows; i < end; ++i) {
      const verdict::BenchmarkVerdict& each = report.benchmarks[shown[i]];
      EffectRow row{each.name, each.verdict, each.change, {}, each.epsilon, each.delta, {}};
      if (each.low && each.high) row.interval = {*each.low, *each.high};
      for (const double log_ratio :
           verdict::block_differences(comparison.file.trial, each.name, each.blocks)) {
        row.blocks.push_back(std::expm1(log_ratio));
      }
      rows.push_back(std::move(row));
    }
    const bool any_interval =
        std::ranges::any_of(rows, [](const EffectRow& row) { return row.interval.has_value(); });
    const std::string name =
        "effects" + suffix + (plot == 0 ? std::string() : fmt::format("-part{}", plot + 1));
    document.plots.push_back(effect_plot(name, "Change of head against base", rows));
    section.blocks.push_back(Figure{
        name,
        fmt::format(
            "The filled mark is the estimated change of a benchmark{}; "
            "every small dot is one of its blocks of four processes, {} in all, the first on top. "
            "The grey band is the noise floor, the dashed line the smallest slowdown that matters: "
            "a benchmark FAILs when it lies beyond that line and is surely slower than the band.",
            fmt::format(
                fmt::runtime(any_interval ? ", its bar the {}" : ", too few blocks for a {}"),
                interval_title(report.interval_level)),
            report.blocks)});
  }
}

/// One row for each side.
void add_processes(const NamedComparison& comparison, const std::string& suffix, Section& section,
                   Document& document) {
  const auto& file = comparison.file;
  Section part{fmt::format("processes{}", suffix), "Each process", {}};
  const auto shown = most_moved_of(file.report, kMostPlots);
  if (shown.size() < file.report.benchmarks.size()) {
    part.blocks.push_back(plain(fmt::format("Of the {} benchmarks that moved most, of {}.",
                                            shown.size(), file.report.benchmarks.size())));
  }
  for (const std::size_t place : shown) {
    const verdict::BenchmarkVerdict& each = file.report.benchmarks[place];
    const auto processes = static_cast<std::size_t>(each.blocks) * model::kBlockSize;
    std::vector<double> base;
    std::vector<double> head;
    for (std::size_t i = 0; i < std::min(processes, file.trial.samples.size()); ++i) {
      const model::ProcessSample& sample = file.trial.samples[i];
      (sample.side == model::Side::base ? base : head).push_back(sample.real_ns.at(each.name));
    }
    if (base.empty() || head.empty()) continue;
    const std::size_t count = base.size();
    const std::vector<DotRow> rows{{"base", sampled(std::move(base)), kBlue},
                                   {"head", sampled(std::move(head)), kOrange}};
    const auto intervals = std::ranges::count_if(
        rows, [](const DotRow& row) { return row.sample.interval.has_value(); });
    const std::string name = plot_name("processes" + suffix, each.name);
    document.plots.push_back(
        distribution_plot(name, each.name, "wall time of one iteration", rows));
    part.blocks.push_back(Figure{
        name,
        fmt::format("Every dot is one process, {} a side: the median of its repetitions. The "
                    "line is the median of the processes{}. The verdict compares within "
                    "blocks, where there is less noise.",
                    count, interval_phrase(static_cast<std::size_t>(intervals), rows.size()))});
  }
  if (!part.blocks.empty()) section.parts.push_back(std::move(part));
}

void add_judged(const NamedComparison& comparison, const std::string& suffix, Section& section,
                Document& document) {
  const auto& file = comparison.file;
  const VerdictText words = verdict_text(file.trial, file.report);
  section.blocks.push_back(Paragraph{words.headline, tone_of(file.report.overall)});
  if (!file.trial.end) {
    section.blocks.push_back(
        Paragraph{"The trial was not brought to its end: “taskbench ab "
                  "--resume” goes on with it.",
                  Tone::doubtful});
  }
  add_effects(comparison, suffix, section, document);
  TableBlock table;
  table.caption =
      "The change is that of head against base, above 0 is slower; base and head are levels of one "
      "iteration between which it lies, in the middle of both sides' medians; detectable is the "
      "change that so many blocks find in four of five cases.";
  const std::vector<bool> left = columns_to_the_left(words.titles);
  for (std::size_t i = 0; i < left.size(); ++i) {
    table.columns.push_back({words.titles[i], !left[i]});
  }
  for (const VerdictText::Row& row : words.rows) {
    std::vector<Cell> cells;
    for (std::size_t k = 0; k < row.cells.size(); ++k) {
      const bool is_verdict = words.titles[k] == "verdict";
      cells.emplace_back(row.cells[k], is_verdict ? tone_of(row.verdict) : Tone::plain);
    }
    table.rows.push_back(std::move(cells));
  }
  section.blocks.push_back(std::move(table));
  Items remarks;
  for (const std::string& remark : words.remarks) remarks.items.push_back(plain(remark));
  if (!remarks.items.empty()) section.blocks.push_back(std::move(remarks));
  section.blocks.push_back(plain(words.basis));
  add_processes(comparison, suffix, section, document);
}

}  // namespace

Section comparison_section(const NamedComparison& comparison, std::size_t number, bool is_only_one,
                           Document& document) {
  const auto& file = comparison.file;
  const std::string suffix = is_only_one ? std::string() : fmt::format("-{}", number);
  Section section{"comparison" + suffix, "Comparison", {}};
  if (!is_only_one) section.title += fmt::format(" {}: {}", number, comparison.path);
  section.blocks.push_back(
      plain(fmt::format("Head: {}. Base: {}.", program_text(file.trial.setup.head),
                        program_text(file.trial.setup.base))));
  switch (file.outcome) {
    case Outcome::judged:
      add_judged(comparison, suffix, section, document);
      break;
    case Outcome::identical:
      section.blocks.push_back(Paragraph{
          "PASS: both programs are the same, byte for byte; nothing was run.", Tone::good});
      break;
    case Outcome::failed: {
      section.blocks.push_back(
          Paragraph{fmt::format("No verdict: {}.", what_failed(file.failure)), Tone::bad});
      section.blocks.push_back(plain(file.failure.message));
      std::string log;
      for (const std::string& line : file.failure.lines) log += line + '\n';
      if (!log.empty()) section.blocks.push_back(Listing{"The last lines of the log", log});
      break;
    }
  }
  if (!file.trial.setup.reproduce.empty()) {
    section.blocks.push_back(Listing{"To reproduce it", file.trial.setup.reproduce});
  }
  return section;
}

}  // namespace taskbench::reports::render
