#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "reports/render/gnuplot.hpp"
#include "reports/render/machines.hpp"
#include "reports/render/paired.hpp"
#include "reports/render/report_sections.hpp"
#include "reports/render/verdict_table.hpp"

namespace taskbench::reports::render {
namespace {

using Outcome = verdict::PairedFile::Outcome;

constexpr std::size_t kMostEffectPlots = 4;

/// The size of each benchmark's change; a FAIL counts as larger than any other.
std::vector<double> moved_of(const verdict::PairedReport& report) {
  return each_of(report.benchmarks, [](const verdict::BenchmarkVerdict& each) {
    const bool failed = each.verdict == verdict::Verdict::fail;
    return failed ? std::numeric_limits<double>::max() : std::abs(std::log1p(each.change));
  });
}

EffectRow effect_row(const model::PairedTrial& trial, const verdict::BenchmarkVerdict& of) {
  EffectRow row{of.name, of.verdict, of.change, interval_of(of.low, of.high), of.epsilon, of.delta};
  for (const double log_ratio : verdict::block_differences(trial, of.name, of.blocks)) {
    row.blocks.push_back(std::expm1(log_ratio));
  }
  return row;
}

void add_effects(const verdict::PairedFile& file, const std::string& suffix,
                 SectionWriter& section) {
  const auto& report = file.report;
  const auto parts = in_parts(section.plotted(moved_of(report), kMostEffectPlots * kMaxRows,
                                              "benchmarks", "that moved most"),
                              kMaxRows);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::vector<EffectRow> rows;
    for (const std::size_t place : parts[i]) {
      rows.push_back(effect_row(file.trial, report.benchmarks[place]));
    }
    const bool any_interval =
        std::ranges::any_of(rows, [](const EffectRow& row) { return row.interval.has_value(); });
    const std::string name =
        "effects" + suffix + (i == 0 ? std::string() : fmt::format("-part{}", i + 1));
    section.draw(
        effect_plot(name, "Change of head against base", rows),
        fmt::format(
            "The filled mark is the estimated change of a benchmark, {} {}; every small dot is one "
            "of its blocks of four processes, {} in all, the first on top. The grey band is the "
            "noise floor, the dashed line the smallest slowdown that matters: a benchmark FAILs "
            "when it lies beyond that line and is clearly slower than the band.",
            any_interval ? "its bar the" : "too few blocks for a",
            interval_title(report.interval_level), report.blocks));
  }
}

/// The times of each process, in one row for each side.
Section processes_part(const verdict::PairedFile& file, const std::string& suffix,
                       Document& document) {
  SectionWriter part(document, "processes" + suffix, "Each process");
  for (const std::size_t place :
       part.plotted(moved_of(file.report), kMostPlots, "benchmarks", "that moved most")) {
    const verdict::BenchmarkVerdict& each = file.report.benchmarks[place];
    auto processes = static_cast<std::size_t>(each.blocks) * model::kBlockSize;
    std::vector<double> base;
    std::vector<double> head;
    for (const model::ProcessSample& sample : file.trial.samples) {
      const auto time = model::value_at(sample.real_ns, each.name);
      if (!time) continue;
      if (processes-- == 0) break;
      (sample.side == model::Side::base ? base : head).push_back(*time);
    }
    if (base.empty() || head.empty()) continue;
    const std::vector<DotRow> rows{{"base", sampled(std::move(base)), kBlue},
                                   {"head", sampled(std::move(head)), kOrange}};
    const std::string name = plot_name("processes" + suffix, each.name);
    part.draw(distribution_plot(name, each.name, "wall time of one iteration", rows),
              fmt::format("Every dot is one process, {} a side: the median of its repetitions. The "
                          "line is the median of the processes{}. The verdict compares within "
                          "blocks, where there is less noise.",
                          rows[0].sample.values.size(),
                          interval_phrase({&rows[0].sample, &rows[1].sample})));
  }
  return part.take();
}

/// The forest plots: the effect on each machine of a merged trial.
Section machines_part(const verdict::PairedFile& file, const std::string& suffix,
                      Document& document) {
  SectionWriter part(document, "machines" + suffix, "By machine");
  if (file.report.machines.size() < 2) return part.take();
  for (const verdict::BenchmarkVerdict* each : shown_by_machine(file.report)) {
    const auto parts = in_parts(forest_rows(file.report, *each), kMaxRows);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      std::string name = plot_name("machines" + suffix, each->name);
      if (i > 0) name += fmt::format("-part{}", i + 1);
      part.draw(effect_plot(name, each->name + " by machine", parts[i]),
                fmt::format("The change of head against base on each machine{}; the bar is the {}, "
                            "where there are enough blocks for one. Last, all machines together.",
                            part_text(i, parts.size()), interval_title(each->interval_level)));
    }
    part.add(machines_table(file.report, *each, file.trial.setup.unit));
  }
  return part.take();
}

void add_judged(const verdict::PairedFile& file, const std::string& suffix, SectionWriter& section,
                Document& document) {
  const VerdictText words = verdict_text(file.trial, file.report);
  section.add(Paragraph{words.headline, tone_of(file.report.overall)});
  if (!file.trial.end) {
    section.add(Paragraph{"The trial has not ended: “taskbench ab --resume” continues it.",
                          Tone::doubtful});
  }
  const Sentences sentences = notes(words);
  section.add(std::vector<Paragraph>(sentences.begin(), sentences.end()));
  add_effects(file, suffix, section);
  Table table = table_of(words);
  table.caption =
      "The change is that of head against base, above 0 is slower; base and head are levels of one "
      "iteration that differ by that change, centred between both sides' medians; threshold is the "
      "slowdown that would be a FAIL; detectable is the change that this many blocks find in four "
      "of five cases; would decide is the time that a trial would need to decide what is "
      "undecided.";
  section.add(std::move(table));
  section.say("{}", words.basis);
  for (Section part :
       {machines_part(file, suffix, document), processes_part(file, suffix, document)}) {
    if (!part.blocks.empty()) section.add(std::move(part));
  }
}

}  // namespace

Paragraph outcome_of(const verdict::PairedFile& file) {
  return {headline_of(file) + '.', file.verdict() ? tone_of(*file.verdict()) : Tone::bad};
}

Section comparison_section(const NamedComparison& comparison, std::size_t number, bool is_only_one,
                           Document& document) {
  const auto& file = comparison.file;
  const std::string suffix = is_only_one ? std::string() : fmt::format("-{}", number);
  SectionWriter section(
      document, "comparison" + suffix,
      is_only_one ? "Comparison" : fmt::format("Comparison {}: {}", number, comparison.path));
  section.say("Head: {}. Base: {}.", program_text(file.trial.setup.head),
              program_text(file.trial.setup.base));
  if (file.outcome == Outcome::judged) {
    add_judged(file, suffix, section, document);
  } else {
    Paragraph outcome = outcome_of(file);
    outcome.text = capitalised(outcome.text);
    section.add(std::move(outcome));
  }
  if (file.outcome == Outcome::failed || file.outcome == Outcome::no_base) {
    for (Block& each : failure_blocks(file.failure)) section.add(std::move(each));
  }
  if (!file.trial.setup.reproduce.empty()) {
    section.add(Listing{"To reproduce it", file.trial.setup.reproduce});
  }
  return section.take();
}

}  // namespace taskbench::reports::render
