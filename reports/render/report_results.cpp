#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "reports/render/columns.hpp"
#include "reports/render/figures.hpp"
#include "reports/render/gnuplot.hpp"
#include "reports/render/report_sections.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::render {
namespace {

constexpr std::size_t kMostVariants = 12;  // that colours and shapes can tell apart
constexpr std::size_t kMostOverviews = 4;

/// The different values of a member, in the order in which they first appear, and which of them
/// each case has.
struct Distinct {
  std::vector<std::string> values;
  std::vector<std::size_t> places;
};

Distinct distinct(const std::vector<const ShownCase*>& cases, std::string ShownCase::*member) {
  Distinct result;
  std::unordered_map<std::string_view, std::size_t> known;
  for (const ShownCase* each : cases) {
    const std::string& value = each->*member;
    const auto [place, is_new] = known.try_emplace(value, result.values.size());
    if (is_new) result.values.push_back(value);
    result.places.push_back(place->second);
  }
  return result;
}

std::vector<const ShownCase*> pointers(const std::vector<ShownCase>& cases) {
  std::vector<const ShownCase*> result;
  for (const ShownCase& each : cases) result.push_back(&each);
  return result;
}

std::size_t with_interval(const std::vector<const ShownCase*>& cases) {
  return static_cast<std::size_t>(std::ranges::count_if(
      cases, [](const ShownCase* each) { return each->real_ns.interval.has_value(); }));
}

Cell spread_cell(const Sampled& sample) {
  if (sample.values.size() < 2) return plain(std::string(kNone));
  const double spread = 100 * (stats::median_absolute_deviation(sample.values) / sample.median);
  const Tone tone = spread > 10 ? Tone::bad : spread > 5 ? Tone::doubtful : Tone::plain;
  return {with_separators(spread, 1), tone, spread};
}

std::vector<Cell> result_row(const ShownCase& shown, bool several_sources) {
  const double median = shown.real_ns.median;
  std::vector<double> cpu_ns;
  for (const auto& repetition : shown.benchmark->repetitions) cpu_ns.push_back(repetition.cpu_ns);
  std::vector<Cell> cells{
      plain(shown.label()),
      time_cell_of(median),
      interval_cell(shown.real_ns),
      spread_cell(shown.real_ns),
      shown.has_operations()
          ? time_cell_of(median / static_cast<double>(shown.benchmark->operations))
          : Cell(plain(std::string(kNone))),
      time_cell_of(stats::median(cpu_ns)),
      plain(std::to_string(shown.real_ns.values.size()))};
  if (several_sources) cells.emplace_back(plain(shown.source->path));
  return cells;
}

TableBlock result_table(const std::vector<ShownCase>& cases) {
  std::set<const NamedResult*> sources;
  for (const ShownCase& each : cases) sources.insert(each.source);
  const bool several = sources.size() > 1;
  TableBlock table;
  table.caption =
      "Wall time of one iteration: the median over the repetitions, its 95 % interval, and the "
      "median absolute deviation (MAD) in per cent of it; the median for one operation; CPU time "
      "of all threads for one iteration.";
  table.columns = {{"benchmark", false}, {"median", true}, {"95 % interval", true},
                   {"± MAD, %", true},   {"per op", true}, {"CPU", true},
                   {"repetitions", true}};
  if (several) table.columns.push_back({"result", false});
  for (const ShownCase& each : cases) table.rows.push_back(result_row(each, several));
  return table;
}

struct Overview {
  std::vector<std::string> groups;
  std::vector<Variant> variants;
};

/// What is compared of a case: of one operation, or of one iteration.
struct Scaled {
  double median = 0;
  std::optional<stats::Interval> interval;
};

Scaled scaled(const ShownCase& shown, bool per_operation) {
  const double scale = per_operation ? static_cast<double>(shown.benchmark->operations) : 1;
  Scaled result{shown.real_ns.median / scale, shown.real_ns.interval};
  if (result.interval) {
    result.interval = {result.interval->low / scale, result.interval->high / scale};
  }
  return result;
}

/// One for each run of groups and of variants that has cases in common.
std::vector<Overview> overviews_of(const std::vector<const ShownCase*>& cases, bool per_operation) {
  const Distinct groups = distinct(cases, &ShownCase::group);
  const Distinct variants = distinct(cases, &ShownCase::variant);
  const auto rows = runs_of(groups.values.size(), kMaxRows);
  const auto marks = runs_of(variants.values.size(), kMostVariants);
  std::map<std::pair<std::size_t, std::size_t>, std::vector<Variant>> tiles;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::size_t row = run_that_holds(rows, groups.places[i]);
    const std::size_t mark = run_that_holds(marks, variants.places[i]);
    std::vector<Variant>& shown = tiles[{row, mark}];
    if (shown.empty()) {
      for (std::size_t k = marks[mark].first; k < marks[mark].end; ++k) {
        shown.push_back({variants.values[k], {}});
      }
    }
    const Scaled time = scaled(*cases[i], per_operation);
    shown[variants.places[i] - marks[mark].first].points.push_back(
        {groups.places[i] - rows[row].first, time.median, time.interval});
  }
  std::vector<Overview> overviews;
  for (auto& [place, shown] : tiles) {
    std::erase_if(shown, [](const Variant& variant) { return variant.points.empty(); });
    const IndexRange& run = rows[place.first];
    overviews.push_back({{groups.values.begin() + static_cast<std::ptrdiff_t>(run.first),
                          groups.values.begin() + static_cast<std::ptrdiff_t>(run.end)},
                         std::move(shown)});
  }
  return overviews;
}

/// A row for each of the slowest, the slowest first: what is left of too many groups and variants.
std::vector<Overview> overviews_of_slowest(const std::vector<const ShownCase*>& cases,
                                           bool per_operation) {
  std::vector<const ShownCase*> slowest = cases;
  const auto slower = [&](const ShownCase* one, const ShownCase* other) {
    return scaled(*one, per_operation).median > scaled(*other, per_operation).median;
  };
  std::ranges::stable_sort(slowest, slower);
  slowest.resize(std::min(slowest.size(), kMostOverviews * kMaxRows));
  std::vector<Overview> overviews;
  for (const auto& portion : in_portions(slowest)) {
    Overview overview{{}, {{"median", {}}}};
    for (const ShownCase* each : portion) {
      const Scaled time = scaled(*each, per_operation);
      overview.variants.front().points.push_back(
          {overview.groups.size(), time.median, time.interval});
      overview.groups.push_back(each->label());
    }
    overviews.push_back(std::move(overview));
  }
  return overviews;
}

void add_overview(const std::vector<const ShownCase*>& cases, Section& section,
                  Document& document) {
  if (cases.size() < 2) return;
  const bool per_operation =
      std::ranges::all_of(cases, [](const ShownCase* each) { return each->has_operations(); });
  const std::string quantity =
      per_operation ? "wall time of one operation" : "wall time of one iteration";
  auto overviews = overviews_of(cases, per_operation);
  std::string title = "Benchmarks side by side";
  if (overviews.size() > kMostOverviews) {
    overviews = overviews_of_slowest(cases, per_operation);
    title = "The slowest benchmarks";
    section.blocks.push_back(plain(
        fmt::format("The plots show the {} slowest of {} benchmarks, by the {}. The table has all.",
                    std::min(cases.size(), kMostOverviews * kMaxRows), cases.size(), quantity)));
  }
  for (std::size_t i = 0; i < overviews.size(); ++i) {
    const std::string name = i == 0 ? "overview" : fmt::format("overview-{}", i + 1);
    document.plots.push_back(overview_plot(name, title + part_text(i, overviews.size()), quantity,
                                           overviews[i].groups, overviews[i].variants));
    section.blocks.push_back(Figure{
        name,
        fmt::format("Each mark is the median {} of {} repetitions{}. To the left is "
                    "faster.{}",
                    quantity, sample_count(cases),
                    interval_phrase(with_interval(cases), cases.size()),
                    overviews.size() > 1 ? " Each of these plots has a scale of its own." : "")});
  }
}

/// A plot of the distributions of one group, or of a part of it.
struct Portion {
  const std::string* group;
  std::string title;
  std::string kind;
  std::vector<const ShownCase*> cases;
};

std::vector<Portion> portions_of(const std::vector<const ShownCase*>& cases) {
  const Distinct groups = distinct(cases, &ShownCase::group);
  std::vector<std::vector<const ShownCase*>> of_group(groups.values.size());
  for (std::size_t i = 0; i < cases.size(); ++i) of_group[groups.places[i]].push_back(cases[i]);
  std::vector<Portion> result;
  for (const auto& members : of_group) {
    const auto parts = in_portions(members);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      result.push_back(
          {&members.front()->group, members.front()->group + part_text(part, parts.size()),
           part == 0 ? "distribution" : fmt::format("distribution{}", part + 1), parts[part]});
    }
  }
  return result;
}

std::string distribution_caption(const std::vector<const ShownCase*>& cases) {
  std::size_t most = 0;
  for (const ShownCase* each : cases) most = std::max(most, each->real_ns.values.size());
  const std::string dots = dots_phrase(most, cases.size());
  return fmt::format(
      "{} dot is one repetition, {} in each row; up and down within a row means nothing.{} The "
      "line is their median{}.",
      dots.empty() ? "Every" : "A", sample_count(cases), dots,
      interval_phrase(with_interval(cases), cases.size()));
}

}  // namespace

Section results_section(const std::vector<ShownCase>& cases, Document& document) {
  Section section{"results", "Results", {}};
  add_overview(pointers(cases), section, document);
  section.blocks.push_back(result_table(cases));
  section.blocks.push_back(plain(
      "The repetitions of one result come from one process. Another process, or another build of "
      "the same source, may differ by more than their interval says: “taskbench ab” measures what "
      "a comparison needs."));
  return section;
}

Section distributions_section(const std::vector<ShownCase>& cases, Document& document) {
  Section section{"distributions", "Distributions", {}};
  const auto all = pointers(cases);
  const auto variants = distinct(all, &ShownCase::variant);
  const auto portions = portions_of(all);
  std::vector<double> slowest;
  for (const Portion& portion : portions) {
    double median = 0;
    for (const ShownCase* each : portion.cases) median = std::max(median, each->real_ns.median);
    slowest.push_back(median);
  }
  if (portions.size() > kMostPlots) {
    section.blocks.push_back(plain(fmt::format(
        "Of {} plots these are the {} with the slowest benchmarks; the table of results has all.",
        portions.size(), kMostPlots)));
  }
  for (const std::size_t place : greatest(slowest, kMostPlots)) {
    const Portion& portion = portions[place];
    std::vector<DotRow> rows;
    for (const ShownCase* each : portion.cases) {
      const auto at = static_cast<std::size_t>(each - cases.data());
      rows.push_back({each->variant.empty() ? each->group : each->variant, each->real_ns,
                      line_type(variants.places[at])});
    }
    const std::string name = plot_name(portion.kind, *portion.group);
    document.plots.push_back(
        distribution_plot(name, portion.title, "wall time of one iteration", rows));
    section.blocks.push_back(Figure{name, distribution_caption(portion.cases)});
  }
  return section;
}

}  // namespace taskbench::reports::render
