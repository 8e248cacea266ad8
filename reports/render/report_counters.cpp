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
#include "reports/render/report_sections.hpp"

namespace taskbench::reports::render {
namespace {

constexpr std::size_t kMostAbreast = 6;  // columns of figures that a page has room for
constexpr std::size_t kMostCounterPlots = 4;
constexpr std::size_t kMostPanels = 24;
constexpr std::size_t kMostCounters = 60;

struct CountedCase {
  const ShownCase* shown;
  std::vector<CaseCounter> counters;

  [[nodiscard]] const CaseCounter* find(const std::string& name) const {
    const auto found = std::ranges::find(counters, name, &CaseCounter::name);
    return found == counters.end() ? nullptr : &*found;
  }
};

/// In the order in which they first appear.
std::vector<std::string> names_of(const std::vector<CountedCase>& cases) {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const CountedCase& each : cases) {
    for (const CaseCounter& counter : each.counters) {
      if (known.insert(counter.name).second) names.push_back(counter.name);
    }
  }
  return names;
}

/// "5 GB/s" where the unit is known, "12,345" where it is not.
std::string counter_text(const std::string& name, double value) {
  if (name.ends_with("_per_second")) {
    std::string text = with_prefix(value);
    if (text.find(' ') == std::string::npos) text += ' ';
    return text + (name == "bytes_per_second" ? "B/s" : "/s");
  }
  return three_digits(value);
}

Cell counter_cell(const CountedCase& counted, const std::string& name) {
  const CaseCounter* counter = counted.find(name);
  if (counter == nullptr || !counter->median) return plain(std::string(kNone));
  return {counter_text(name, *counter->median), Tone::plain, *counter->median};
}

/// As one panel each: those that ever counted anything.
std::vector<CounterPanel> panels_of(const std::vector<CountedCase>& cases,
                                    const std::vector<std::string>& names) {
  std::vector<CounterPanel> panels;
  for (const std::string& name : names) {
    CounterPanel panel{name, {}};
    bool any = false;
    for (const CountedCase& each : cases) {
      const CaseCounter* counter = each.find(name);
      if (counter == nullptr) {
        panel.rows.push_back({});
        continue;
      }
      any = any || std::ranges::any_of(counter->values, [](double value) { return value != 0; }) ||
            counter->median.value_or(0) != 0;
      panel.rows.push_back({counter->values, counter->median});
    }
    if (any) panels.push_back(std::move(panel));
  }
  return panels;
}

std::string table_caption(const std::vector<CountedCase>& cases, const std::string& quantity) {
  const bool of_processes = std::ranges::any_of(cases, [](const CountedCase& each) {
    return std::ranges::any_of(each.counters, &CaseCounter::of_processes);
  });
  return fmt::format(
      "Counters {}: medians over the repetitions{}.", quantity,
      of_processes ? ", and of what was counted in a pass of its own, over its processes" : "");
}

/// A row for each counter: of few benchmarks, which fit side by side.
TableBlock table_of_counters(const std::vector<CountedCase>& cases,
                             const std::vector<std::string>& names, const IndexRange& shown,
                             const std::string& quantity) {
  TableBlock table;
  table.caption = table_caption(cases, quantity);
  table.columns = {{"counter", false}};
  for (std::size_t i = shown.first; i < shown.end; ++i) {
    table.columns.push_back({cases[i].shown->label(), true});
  }
  for (const std::string& name : names) {
    std::vector<Cell> row{plain(name)};
    for (std::size_t i = shown.first; i < shown.end; ++i) {
      row.push_back(counter_cell(cases[i], name));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// A row for each benchmark, of which there are many.
TableBlock table_of_cases(const std::vector<CountedCase>& cases,
                          const std::vector<std::string>& names, const IndexRange& shown,
                          const std::string& quantity) {
  TableBlock table;
  table.caption = table_caption(cases, quantity);
  table.columns = {{"benchmark", false}};
  for (std::size_t i = shown.first; i < shown.end; ++i) table.columns.push_back({names[i], true});
  for (const CountedCase& each : cases) {
    std::vector<Cell> row{plain(each.shown->label())};
    for (std::size_t i = shown.first; i < shown.end; ++i) {
      row.push_back(counter_cell(each, names[i]));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// What the values of a pass of its own mean: the names of the counters, by what is said of them.
std::map<std::string, std::set<std::string>> meanings(const std::vector<CountedCase>& cases) {
  std::map<std::string, std::set<std::string>> names;
  std::map<std::string, std::pair<double, double>> shares;  // by name: the least and the greatest
  for (const CountedCase& each : cases) {
    for (const CaseCounter& counter : each.counters) {
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

/// Which counters come from an older result than the times beside them.
void add_older(const std::vector<CountedCase>& cases, std::set<std::string>& sentences) {
  std::map<std::string, std::vector<std::string>> of_older;  // the benchmarks, by the result
  for (const CountedCase& each : cases) {
    std::set<std::string> paths;
    for (const CaseCounter& counter : each.counters) {
      if (counter.older != nullptr) paths.insert(counter.older->path);
    }
    for (const std::string& path : paths) of_older[path].push_back(each.shown->label());
  }
  for (const auto& [path, labels] : of_older) {
    sentences.insert(
        fmt::format("{}: counted in the older result {}; newer ones have no such counters.",
                    some_of(labels, ", "), path));
  }
}

/// What the table does not show of its counters, each sentence once.
Items remarks_of(const std::vector<CountedCase>& cases) {
  std::set<std::string> sentences;
  for (const auto& [meaning, names] : meanings(cases)) {
    sentences.insert(fmt::format("{}: {}.", fmt::join(names, ", "), meaning));
  }
  std::map<std::string, std::set<std::string>> uncounted;  // by the reason
  for (const CountedCase& each : cases) {
    for (const CaseCounter& counter : each.counters) {
      if (!counter.median) uncounted[counter.reason].insert(counter.name);
    }
  }
  for (const auto& [reason, names] : uncounted) {
    sentences.insert(fmt::format("{} {} not counted: {}.", fmt::join(names, ", "),
                                 names.size() == 1 ? "was" : "were", reason));
  }
  add_older(cases, sentences);
  Items list;
  for (const std::string& sentence : sentences) list.items.push_back(plain(sentence));
  return list;
}

void add_plot(const std::vector<CountedCase>& cases, const std::vector<std::string>& names,
              const std::string& plot, const std::string& title, const std::string& quantity,
              Section& section, Document& document) {
  auto panels = panels_of(cases, names);
  if (panels.empty()) return;
  const std::size_t all = panels.size();
  panels.resize(std::min(all, kMostPanels));
  std::vector<std::string> labels;
  std::vector<const ShownCase*> shown;
  std::size_t most = 0;
  for (const CountedCase& each : cases) {
    labels.push_back(each.shown->label());
    shown.push_back(each.shown);
    most = std::max(most, each.shown->real_ns.values.size());
  }
  const bool of_processes = std::ranges::any_of(cases, [](const CountedCase& each) {
    return std::ranges::any_of(each.counters, [](const CaseCounter& counter) {
      return counter.of_processes && !counter.values.empty();
    });
  });
  document.plots.push_back(counters_plot(plot, title, quantity, labels, panels));
  section.blocks.push_back(Figure{
      plot,
      fmt::format("A panel for each counter that counted anything{}, each with a scale of its own. "
                  "The bar is the median, every dot one of {} repetitions{}.{}",
                  all > panels.size() ? fmt::format(", the first {} of {}", panels.size(), all)
                                      : std::string(),
                  sample_count(shown),
                  of_processes ? ", or, of what was counted in a pass of its own, a process" : "",
                  most > most_dots(cases.size()) ? " Not every dot is drawn." : "")});
}

/// What is counted in the same unit.
void add_counters(const std::vector<const ShownCase*>& all, const std::string& name,
                  const std::string& quantity, Section& section, Document& document) {
  std::vector<CountedCase> cases;
  for (const ShownCase* each : all) cases.push_back({each, counters_of(*each)});
  std::vector<std::string> names = names_of(cases);
  if (names.empty()) return;
  if (names.size() > kMostCounters) {
    section.blocks.push_back(plain(
        fmt::format("Of {} different counters {}, the first {} are shown; the results have all.",
                    names.size(), quantity, kMostCounters)));
    names.resize(kMostCounters);
  }
  const std::size_t most = kMostCounterPlots * kMaxRows;
  const bool are_many = cases.size() > most;
  if (are_many) {
    section.blocks.push_back(
        plain(fmt::format("The plots show the {} slowest of {} benchmarks; the tables have all.",
                          most, cases.size())));
  }
  std::vector<double> medians;
  for (const CountedCase& each : cases) medians.push_back(each.shown->real_ns.median);
  const std::vector<std::size_t> plotted = greatest(medians, most);
  const std::size_t parts = (plotted.size() + kMaxRows - 1) / kMaxRows;
  for (std::size_t part = 0; part < parts; ++part) {
    std::vector<CountedCase> portion;
    for (std::size_t i = part * kMaxRows; i < std::min(plotted.size(), (part + 1) * kMaxRows);
         ++i) {
      portion.push_back(cases[plotted[i]]);
    }
    const std::vector<std::string> here = are_many ? names : names_of(portion);
    if (here.empty()) continue;
    add_plot(portion, here, part == 0 ? name : fmt::format("{}-{}", name, part + 1),
             "Counters" + part_text(part, parts), quantity, section, document);
    if (are_many) continue;
    for (const IndexRange& shown : runs_of(portion.size(), kMostAbreast)) {
      section.blocks.push_back(table_of_counters(portion, here, shown, quantity));
    }
    if (Items remarks = remarks_of(portion); !remarks.items.empty()) {
      section.blocks.push_back(std::move(remarks));
    }
  }
  if (!are_many) return;
  for (const IndexRange& shown : runs_of(names.size(), kMostAbreast)) {
    section.blocks.push_back(table_of_cases(cases, names, shown, quantity));
  }
  if (Items remarks = remarks_of(cases); !remarks.items.empty()) {
    section.blocks.push_back(std::move(remarks));
  }
}

}  // namespace

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
