#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "reports/render/gnuplot.hpp"
#include "reports/render/numbers.hpp"
#include "reports/render/report_sections.hpp"
#include "reports/render/sentences.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::render {
namespace {

constexpr std::size_t kMostVariants = 12;  // distinguishable by colour and shape
constexpr std::size_t kMostOverviews = 4;

Cell spread_cell(const Sampled& sample) {
  if (sample.values.size() < 2) return std::string(kNone);
  const double spread = 100 * (stats::median_absolute_deviation(sample.values) / sample.median);
  return {with_separators(spread, 1), tone_of_spread(spread), spread};
}

Table result_table(const std::vector<ShownCase>& cases) {
  const bool several_sources = std::ranges::any_of(
      cases, [&](const ShownCase& each) { return each.source != cases.front().source; });
  Table table;
  table.caption =
      "Wall time of one iteration: the median over the repetitions, its 95 % interval, and the "
      "median absolute deviation (MAD) in per cent of it; the median for one operation; CPU time "
      "of all threads for one iteration.";
  table.columns = named_figures(
      {"benchmark", "median", "95 % interval", "± MAD, %", "per op", "CPU", "repetitions"});
  if (several_sources) table.columns.push_back({"result", false});
  for (const ShownCase& each : cases) {
    const double median = each.real_ns.median;
    const double cpu =
        stats::median(each_of(each.benchmark->repetitions, &model::Repetition::cpu_ns));
    auto& row = table
                    .add({each.label(), time_cell(median), interval_cell(each.real_ns),
                          spread_cell(each.real_ns),
                          each.has_operations()
                              ? time_cell(median / static_cast<double>(each.benchmark->operations))
                              : std::string(kNone),
                          cpu > 0 ? time_cell(cpu) : std::string(kNone),
                          std::to_string(each.real_ns.values.size())})
                    .cells;
    if (several_sources) row.emplace_back(each.source->path);
  }
  return table;
}

/// The point of a case in the row of its group: the time of an operation or of an iteration.
MedianAt point_of(const ShownCase& shown, bool per_operation, std::size_t row) {
  const double scale = per_operation ? static_cast<double>(shown.benchmark->operations) : 1;
  MedianAt point{row, shown.real_ns.median / scale, shown.real_ns.interval};
  if (auto& interval = point.interval) interval = {interval->low / scale, interval->high / scale};
  return point;
}

struct Overview {
  std::vector<std::string> groups;
  std::vector<Variant> variants;
};

/// Overviews with a row for each group. There is a plot for each combination of a part of the
/// groups and a part of the variants with common cases. Empty if that is too many plots.
std::vector<Overview> overviews_of(const ShownCases& cases, bool per_operation) {
  InOrder<bool> groups;
  InOrder<bool> variants;
  for (const ShownCase* each : cases) {
    groups.place_of(each->group);
    variants.place_of(each->variant);
  }
  const auto rows = in_parts(groups.names(), kMaxRows);
  const auto marks = in_parts(variants.names(), kMostVariants);
  if (std::max(rows.size(), marks.size()) > kMostOverviews) return {};
  // Splits an index into a part and an index within it.
  const auto place_in = [](const std::vector<std::vector<std::string>>& parts, std::size_t index) {
    std::size_t part = 0;
    while (index >= parts[part].size()) index -= parts[part++].size();
    return std::pair{part, index};
  };
  std::map<std::pair<std::size_t, std::size_t>, Overview> overviews;
  for (const ShownCase* each : cases) {
    const auto [row_part, row] = place_in(rows, groups.place_of(each->group));
    const auto [mark_part, mark] = place_in(marks, variants.place_of(each->variant));
    Overview& overview = overviews[{row_part, mark_part}];
    overview.groups = rows[row_part];
    overview.variants.resize(marks[mark_part].size());
    overview.variants[mark].label = each->variant;
    overview.variants[mark].points.push_back(point_of(*each, per_operation, row));
  }
  if (overviews.size() > kMostOverviews) return {};
  std::vector<Overview> result;
  for (auto& [place, overview] : overviews) {
    std::erase_if(overview.variants, [](const Variant& variant) { return variant.points.empty(); });
    result.push_back(std::move(overview));
  }
  return result;
}

/// Overviews with a row for each of the slowest cases, the slowest first; used if there are too
/// many groups and variants.
std::vector<Overview> overviews_of_slowest(ShownCases cases, bool per_operation) {
  std::ranges::stable_sort(cases, std::ranges::greater(), [&](const ShownCase* each) {
    return point_of(*each, per_operation, 0).median;
  });
  cases.resize(std::min(cases.size(), kMostOverviews * kMaxRows));
  std::vector<Overview> overviews;
  for (const ShownCases& part : in_parts(cases, kMaxRows)) {
    Overview& overview = overviews.emplace_back(Overview{{}, {{"median", {}}}});
    for (const ShownCase* each : part) {
      overview.variants.front().points.push_back(
          point_of(*each, per_operation, overview.groups.size()));
      overview.groups.push_back(each->label());
    }
  }
  return overviews;
}

void add_overview(const ShownCases& cases, SectionWriter& section) {
  if (cases.size() < 2) return;
  const bool per_operation = std::ranges::all_of(cases, &ShownCase::has_operations);
  const std::string quantity =
      per_operation ? "wall time of one operation" : "wall time of one iteration";
  auto overviews = overviews_of(cases, per_operation);
  std::string title = "Benchmarks side by side";
  if (overviews.empty()) {
    overviews = overviews_of_slowest(cases, per_operation);
    title = "The slowest benchmarks";
    section.say_plotted(std::min(cases.size(), kMostOverviews * kMaxRows), cases.size(),
                        "benchmarks", "that are slowest");
  }
  for (std::size_t i = 0; i < overviews.size(); ++i) {
    const std::string name = i == 0 ? "overview" : fmt::format("overview-{}", i + 1);
    section.draw(
        overview_plot(name, title + part_text(i, overviews.size()), quantity, overviews[i].groups,
                      overviews[i].variants),
        fmt::format("Each mark is the median {} of {}{}. Further left is faster.{}", quantity,
                    repetition_count(times_of(cases)), interval_phrase(times_of(cases)),
                    overviews.size() > 1 ? " Each of these plots has a scale of its own." : ""));
  }
}

/// A plot of the distributions of a group, or of part of it.
struct Distribution {
  std::string name;
  std::string title;
  ShownCases cases;
};

std::vector<Distribution> distributions_of(const ShownCases& cases) {
  InOrder<ShownCases> groups;
  for (const ShownCase* each : cases) groups[each->group].push_back(each);
  std::vector<Distribution> result;
  for (const auto& [group, members] : groups) {
    const auto parts = in_parts(members, kMaxRows);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::string kind = i == 0 ? "distribution" : fmt::format("distribution{}", i + 1);
      result.push_back({plot_name(kind, group), group + part_text(i, parts.size()), parts[i]});
    }
  }
  return result;
}

}  // namespace

Section results_section(const std::vector<ShownCase>& cases, Document& document) {
  SectionWriter section(document, "results", "Results");
  add_overview(pointers_to(cases), section);
  section.add(result_table(cases));
  section.say(
      "The repetitions of one result were measured together. Another measurement, or another build "
      "of the same source, may differ by more than their interval says: “taskbench ab” measures "
      "what a comparison needs.");
  return section.take();
}

Section distributions_section(const std::vector<ShownCase>& cases, Document& document) {
  SectionWriter section(document, "distributions", "Distributions");
  const auto distributions = distributions_of(pointers_to(cases));
  InOrder<bool> variants;
  for (const ShownCase& each : cases) variants.place_of(each.variant);
  std::vector<double> slowest;
  for (const Distribution& each : distributions) {
    slowest.push_back(std::ranges::max(each.cases, {}, [](const auto* one) {
                        return one->real_ns.median;
                      })->real_ns.median);
  }
  for (const std::size_t place :
       section.plotted(slowest, kMostPlots, "groups of benchmarks", "that are slowest")) {
    const auto& [name, title, members] = distributions[place];
    std::vector<DotRow> rows;
    for (const ShownCase* each : members) {
      rows.push_back({each->variant.empty() ? each->group : each->variant, each->real_ns,
                      line_type(variants.place_of(each->variant))});
    }
    const Samples samples = times_of(members);
    const std::string dots = dots_phrase(samples);
    section.draw(distribution_plot(name, title, "wall time of one iteration", rows),
                 fmt::format("{} dot is one repetition, {} in each row; up and down within a row "
                             "means nothing.{} The line is their median{}.",
                             dots.empty() ? "Every" : "A", sample_count(samples), dots,
                             interval_phrase(samples)));
  }
  return section.take();
}

}  // namespace taskbench::reports::render
