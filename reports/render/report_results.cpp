#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "reports/render/columns.hpp"
#include "reports/render/counters.hpp"
#include "reports/render/figures.hpp"
#include "reports/render/gnuplot.hpp"
#include "reports/render/report_sections.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::render {
namespace {

constexpr std::size_t kMostVariants = 12;  // that colours and shapes can tell apart
constexpr std::size_t kMostAbreast = 6;    // columns of figures that a page has room for

/// The different values of a member, in the order in which they first appear.
std::vector<std::string> distinct(const std::vector<ShownCase>& cases,
                                  std::string ShownCase::*member) {
  std::vector<std::string> values;
  for (const ShownCase& each : cases) {
    if (std::ranges::find(values, each.*member) == values.end()) values.push_back(each.*member);
  }
  return values;
}

std::size_t place_of(const std::vector<std::string>& values, const std::string& value) {
  return static_cast<std::size_t>(std::ranges::find(values, value) - values.begin());
}

/// "9" or "5 to 9"
std::string sample_count(const std::vector<const ShownCase*>& cases) {
  std::size_t fewest = cases.front()->real_ns.values.size();
  std::size_t most = fewest;
  for (const ShownCase* each : cases) {
    fewest = std::min(fewest, each->real_ns.values.size());
    most = std::max(most, each->real_ns.values.size());
  }
  return fewest == most ? fmt::format("{}", most) : fmt::format("{} to {}", fewest, most);
}

std::vector<const ShownCase*> pointers(const std::vector<ShownCase>& cases) {
  std::vector<const ShownCase*> result;
  for (const ShownCase& each : cases) result.push_back(&each);
  return result;
}

/// Runs of at most kMaxRows.
std::vector<std::vector<const ShownCase*>> in_portions(std::vector<const ShownCase*> cases) {
  std::vector<std::vector<const ShownCase*>> portions;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (i % kMaxRows == 0) portions.emplace_back();
    portions.back().push_back(cases[i]);
  }
  return portions;
}

/// " (2 of 3)" where there are several.
std::string part_text(std::size_t index, std::size_t count) {
  return count > 1 ? fmt::format(" ({} of {})", index + 1, count) : std::string();
}

std::string interval_text(const Sampled& sample) {
  if (!sample.interval) return std::string(kNone);
  const TimeUnit unit = time_unit(sample.median);
  return fmt::format("{} … {} {}", with_separators(sample.interval->low / unit.ns, unit.decimals),
                     with_separators(sample.interval->high / unit.ns, unit.decimals), unit.name);
}

std::vector<Paragraph> result_row(const ShownCase& shown, bool several_sources) {
  const auto& values = shown.real_ns.values;
  const double median = shown.real_ns.median;
  const double spread = 100 * stats::median_absolute_deviation(values) / median;
  std::vector<double> cpu_ns;
  for (const auto& repetition : shown.benchmark->repetitions) cpu_ns.push_back(repetition.cpu_ns);
  Paragraph spread_cell = plain(std::string(kNone));
  if (values.size() > 1) {
    spread_cell = {fmt::format("{:.1f}", spread), spread > 10  ? Tone::bad
                                                  : spread > 5 ? Tone::doubtful
                                                               : Tone::plain};
  }
  std::vector<Paragraph> cells{
      plain(shown.label()),
      plain(time_text(median)),
      plain(interval_text(shown.real_ns)),
      spread_cell,
      plain(shown.has_operations()
                ? time_text(median / static_cast<double>(shown.benchmark->operations))
                : std::string(kNone)),
      plain(time_text(stats::median(cpu_ns))),
      plain(std::to_string(values.size()))};
  if (several_sources) cells.push_back(plain(shown.source->path));
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

/// So many of a list, from `first` on.
struct IndexRange {
  std::size_t first = 0;
  std::size_t end = 0;

  [[nodiscard]] bool holds(std::size_t index) const { return first <= index && index < end; }
};

/// As few runs as possible of at most `most`, of nearly equal length.
std::vector<IndexRange> runs_of(std::size_t count, std::size_t most) {
  const std::size_t runs = (count + most - 1) / most;
  std::vector<IndexRange> result;
  for (std::size_t i = 0; i < runs; ++i) {
    result.push_back({i * count / runs, (i + 1) * count / runs});
  }
  return result;
}

struct Overview {
  std::vector<std::string> groups;
  std::vector<Variant> variants;
};

/// One for each run of groups and of variants that has cases in common.
std::vector<Overview> overviews_of(const std::vector<ShownCase>& cases, bool per_operation) {
  const auto groups = distinct(cases, &ShownCase::group);
  const auto variants = distinct(cases, &ShownCase::variant);
  std::vector<Overview> overviews;
  for (const IndexRange& rows : runs_of(groups.size(), kMaxRows)) {
    for (const IndexRange& marks : runs_of(variants.size(), kMostVariants)) {
      std::vector<Variant> shown;
      for (std::size_t i = marks.first; i < marks.end; ++i) shown.push_back({variants[i], {}});
      for (const ShownCase& each : cases) {
        const std::size_t group = place_of(groups, each.group);
        const std::size_t variant = place_of(variants, each.variant);
        if (!rows.holds(group) || !marks.holds(variant)) continue;
        const double scale = per_operation ? static_cast<double>(each.benchmark->operations) : 1;
        std::optional<stats::Interval> interval = each.real_ns.interval;
        if (interval) interval = {interval->low / scale, interval->high / scale};
        shown[variant - marks.first].points.push_back(
            {group - rows.first, each.real_ns.median / scale, interval});
      }
      std::erase_if(shown, [](const Variant& variant) { return variant.points.empty(); });
      if (shown.empty()) continue;
      overviews.push_back({{groups.begin() + static_cast<std::ptrdiff_t>(rows.first),
                            groups.begin() + static_cast<std::ptrdiff_t>(rows.end)},
                           std::move(shown)});
    }
  }
  return overviews;
}

void add_overview(const std::vector<ShownCase>& cases, Section& section, Document& document) {
  if (cases.size() < 2) return;
  const bool per_operation =
      std::ranges::all_of(cases, [](const ShownCase& each) { return each.has_operations(); });
  const std::string quantity =
      per_operation ? "wall time of one operation" : "wall time of one iteration";
  const auto overviews = overviews_of(cases, per_operation);
  for (std::size_t i = 0; i < overviews.size(); ++i) {
    const std::string name = i == 0 ? "overview" : fmt::format("overview-{}", i + 1);
    document.plots.push_back(
        overview_plot(name, "Benchmarks side by side" + part_text(i, overviews.size()), quantity,
                      overviews[i].groups, overviews[i].variants));
    section.blocks.push_back(Figure{
        name,
        fmt::format("Each mark is the median {} of {} repetitions, its bar the 95 % interval "
                    "of that median, where there are the six repetitions that it takes. To "
                    "the left is faster.{}",
                    quantity, sample_count(pointers(cases)),
                    overviews.size() > 1 ? " Each of these plots has a scale of its own." : "")});
  }
}

std::string distribution_caption(const std::vector<const ShownCase*>& cases) {
  const bool any_interval = std::ranges::any_of(
      cases, [](const ShownCase* each) { return each->real_ns.interval.has_value(); });
  return fmt::format(
      "Every dot is one repetition, {} in each row; up and down within a row means nothing. The "
      "line is their median{}.",
      sample_count(cases),
      any_interval ? ", the bar its 95 % interval"
                   : "; fewer than six repetitions give it no 95 % interval");
}

/// Counters of all cases as one panel each: those that ever counted anything.
std::vector<CounterPanel> panels_of(const std::vector<std::vector<CaseCounter>>& counters,
                                    const std::vector<std::string>& names) {
  std::vector<CounterPanel> panels;
  for (const std::string& name : names) {
    CounterPanel panel{name, {}};
    bool any = false;
    for (const auto& of_case : counters) {
      const auto found = std::ranges::find(of_case, name, &CaseCounter::name);
      if (found == of_case.end()) {
        panel.rows.push_back({});
        continue;
      }
      any = any || std::ranges::any_of(found->values, [](double value) { return value != 0; }) ||
            found->median.value_or(0) != 0;
      panel.rows.push_back({found->values, found->median});
    }
    if (any) panels.push_back(std::move(panel));
  }
  return panels;
}

/// A row for each counter, of which there are more than of benchmarks that fit side by side.
TableBlock counter_table(const std::vector<const ShownCase*>& cases,
                         const std::vector<std::vector<CaseCounter>>& counters,
                         const std::vector<std::string>& names, const IndexRange& shown,
                         const std::string& quantity) {
  TableBlock table;
  const bool of_processes = std::ranges::any_of(counters, [](const auto& of_case) {
    return std::ranges::any_of(of_case, &CaseCounter::of_processes);
  });
  table.caption = fmt::format(
      "Counters {}: medians over the repetitions{}.", quantity,
      of_processes ? ", and of what was counted in a pass of its own, over its processes" : "");
  table.columns = {{"counter", false}};
  for (std::size_t i = shown.first; i < shown.end; ++i) {
    table.columns.push_back({cases[i]->label(), true});
  }
  for (const std::string& name : names) {
    std::vector<Paragraph> row{plain(name)};
    for (std::size_t i = shown.first; i < shown.end; ++i) {
      const auto found = std::ranges::find(counters[i], name, &CaseCounter::name);
      const bool known = found != counters[i].end() && found->median;
      row.push_back(plain(known ? three_digits(*found->median) : std::string(kNone)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// What the values of a pass of its own mean: the names of the counters, by what is said of them.
std::map<std::string, std::set<std::string>> meanings(
    const std::vector<std::vector<CaseCounter>>& counters) {
  std::map<std::string, std::set<std::string>> names;
  std::map<std::string, std::pair<double, double>> shares;  // by name: the least and the greatest
  for (const auto& of_case : counters) {
    for (const CaseCounter& counter : of_case) {
      if (!counter.median) continue;
      if (counter.name == model::kInstructionsExact) names[exact_basis()].insert(counter.name);
      if (counter.user_only) {
        names["user only, without what the kernel did for the program"].insert(counter.name);
      }
      if (!counter.counted_share || *counter.counted_share >= 1) continue;
      const double share = *counter.counted_share;
      const auto [place, is_new] = shares.try_emplace(counter.name, share, share);
      place->second = {std::min(place->second.first, share), std::max(place->second.second, share)};
    }
  }
  for (const auto& [name, range] : shares) {
    const std::string least = fmt::format("{:.0f}", 100 * range.first);
    const std::string greatest = fmt::format("{:.0f}", 100 * range.second);
    names[fmt::format("extrapolated from {} % of the time: there were more events than counters",
                      least == greatest ? least : fmt::format("{} to {}", least, greatest))]
        .insert(name);
  }
  return names;
}

/// What the table does not show of its counters, each sentence once.
Items remarks_of(const std::vector<std::vector<CaseCounter>>& counters) {
  std::set<std::string> sentences;
  for (const auto& [meaning, names] : meanings(counters)) {
    sentences.insert(fmt::format("{}: {}.", fmt::join(names, ", "), meaning));
  }
  std::map<std::string, std::set<std::string>> uncounted;  // by the reason
  for (const auto& of_case : counters) {
    for (const CaseCounter& counter : of_case) {
      if (!counter.median) uncounted[counter.reason].insert(counter.name);
    }
  }
  for (const auto& [reason, names] : uncounted) {
    sentences.insert(fmt::format("{} {} not counted: {}.", fmt::join(names, ", "),
                                 names.size() == 1 ? "was" : "were", reason));
  }
  Items list;
  for (const std::string& sentence : sentences) list.items.push_back(plain(sentence));
  return list;
}

/// What is counted in the same unit.
void add_counters(const std::vector<const ShownCase*>& all, const std::string& name,
                  const std::string& quantity, Section& section, Document& document) {
  const auto portions = in_portions(all);
  for (std::size_t part = 0; part < portions.size(); ++part) {
    const auto& cases = portions[part];
    std::vector<std::vector<CaseCounter>> counters;
    std::vector<std::string> names;
    std::vector<std::string> labels;
    for (const ShownCase* each : cases) {
      counters.push_back(counters_of(*each));
      labels.push_back(each->label());
      for (const CaseCounter& counter : counters.back()) {
        if (std::ranges::find(names, counter.name) == names.end()) names.push_back(counter.name);
      }
    }
    if (names.empty()) continue;
    const auto panels = panels_of(counters, names);
    if (!panels.empty()) {
      const std::string plot = part == 0 ? name : fmt::format("{}-{}", name, part + 1);
      document.plots.push_back(counters_plot(plot, "Counters" + part_text(part, portions.size()),
                                             quantity, labels, panels));
      section.blocks.push_back(Figure{
          plot, fmt::format("A panel for each counter that counted anything, each with a scale of "
                            "its own. The bar is the median, every dot one of {} repetitions, or, "
                            "of what was counted in a pass of "
                            "its own, a process.",
                            sample_count(cases))});
    }
    for (const IndexRange& shown : runs_of(cases.size(), kMostAbreast)) {
      section.blocks.push_back(counter_table(cases, counters, names, shown, quantity));
    }
    if (Items remarks = remarks_of(counters); !remarks.items.empty()) {
      section.blocks.push_back(std::move(remarks));
    }
  }
}

}  // namespace

Section results_section(const std::vector<ShownCase>& cases, Document& document) {
  Section section{"results", "Results", {}};
  add_overview(cases, section, document);
  section.blocks.push_back(result_table(cases));
  section.blocks.push_back(plain(
      "The repetitions of one result come from one process. Another process, or another build of "
      "the same source, may differ by more than their interval says: “taskbench ab” measures what "
      "a "
      "comparison needs."));
  return section;
}

Section distributions_section(const std::vector<ShownCase>& cases, Document& document) {
  Section section{"distributions", "Distributions", {}};
  const auto variants = distinct(cases, &ShownCase::variant);
  for (const std::string& group : distinct(cases, &ShownCase::group)) {
    std::vector<const ShownCase*> of_group;
    for (const ShownCase& each : cases) {
      if (each.group == group) of_group.push_back(&each);
    }
    const auto portions = in_portions(std::move(of_group));
    for (std::size_t part = 0; part < portions.size(); ++part) {
      std::vector<DotRow> rows;
      for (const ShownCase* each : portions[part]) {
        rows.push_back({each->variant.empty() ? each->group : each->variant, each->real_ns,
                        line_type(place_of(variants, each->variant))});
      }
      const std::string kind = part == 0 ? "distribution" : fmt::format("distribution{}", part + 1);
      const std::string name = plot_name(kind, group);
      document.plots.push_back(distribution_plot(name, group + part_text(part, portions.size()),
                                                 "wall time of one iteration", rows));
      section.blocks.push_back(Figure{name, distribution_caption(portions[part])});
    }
  }
  return section;
}

Section counters_section(const std::vector<ShownCase>& cases, Document& document) {
  Section section{"counters", "Counters", {}};
  std::vector<const ShownCase*> with_operations;
  std::vector<const ShownCase*> others;
  for (const ShownCase& each : cases) {
    (each.has_operations() ? with_operations : others).push_back(&each);
  }
  add_counters(with_operations, "counters", "per operation", section, document);
  add_counters(others, "counters-reported", "as the program gave them", section, document);
  return section;
}

}  // namespace taskbench::reports::render
