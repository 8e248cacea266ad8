#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "reports/render/counters.hpp"
#include "reports/render/numbers.hpp"
#include "reports/render/report_sections.hpp"
#include "reports/render/sentences.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::render {
namespace {

constexpr std::size_t kMostAbreast = 6;  // columns of figures that fit on a page
constexpr std::size_t kMostCounterPlots = 4;
constexpr std::size_t kMostPanels = 24;
constexpr std::size_t kMostCounters = 60;

/// One counter of one benchmark.
struct CaseCounter {
  std::string name;
  std::vector<double> values;                ///< one per repetition, or per counting process
  std::optional<double> median;              ///< empty: it could not be counted
  std::string reason;                        ///< for that
  const NamedResult* older = nullptr;        ///< its result, if the newest has no such counters
  const model::EventCount* event = nullptr;  ///< from a separate pass
};

struct CountedCase {
  const ShownCase* shown;
  std::vector<CaseCounter> counters;

  [[nodiscard]] const CaseCounter* find(const std::string& name) const {
    return model::element_of(counters, name, &CaseCounter::name);
  }
};

using CountedCases = std::vector<CountedCase>;

/// All counters of a benchmark: per operation if it has operations, otherwise as the program gave
/// them. To show another kind of count, add it here.
CountedCase counters_of(const ShownCase& shown) {
  CountedCase counted{&shown, {}};
  const auto add = [&](std::string name, const ShownCase::Counted& from, std::vector<double> values,
                       std::string reason, const model::EventCount* event) {
    const auto operations = static_cast<double>(from.benchmark->operations);
    for (double& value : values) value /= shown.has_operations() ? operations : 1;
    std::optional<double> median;
    if (!values.empty()) median = stats::median(values);
    counted.counters.push_back({std::move(name), std::move(values), median, std::move(reason),
                                from.source != shown.source ? from.source : nullptr, event});
  };
  if (const model::Case* benchmark = shown.counters.benchmark) {
    std::map<std::string, std::vector<double>> values;
    for (const auto& repetition : benchmark->repetitions) {
      for (const auto& [name, value] : repetition.counters) {
        if (benchmark->observed.contains(name)) continue;
        auto& of_name = values[name];
        if (std::isfinite(value)) of_name.push_back(value);
      }
    }
    for (auto& [name, of_name] : values) {
      add(std::string(counter_label(name)), shown.counters, std::move(of_name),
          "the result has no number for it", nullptr);
    }
  }
  if (const model::Case* benchmark = shown.events.benchmark) {
    for (const model::EventCount& event : benchmark->events) {
      add(event_label(event), shown.events, event.per_iteration, event.unavailable, &event);
    }
  }
  return counted;
}

/// The names of all counters, in the order in which they first appear.
std::vector<std::string> names_of(const CountedCases& cases) {
  InOrder<bool> names;
  for (const CountedCase& each : cases) {
    for (const CaseCounter& counter : each.counters) names.place_of(counter.name);
  }
  return names.names();
}

/// Whether any counter is from a separate pass or, with `asked_for`, was requested for one.
bool any_event(const CountedCases& cases, bool asked_for) {
  return std::ranges::any_of(cases, [&](const CountedCase& each) {
    return std::ranges::any_of(each.counters, [&](const CaseCounter& counter) {
      return counter.event != nullptr && (asked_for || !counter.values.empty());
    });
  });
}

/// "5 GB/s" if the unit is known, "12,345" if not.
Cell counter_cell(const CountedCase& counted, const std::string& name) {
  const CaseCounter* counter = counted.find(name);
  if (counter == nullptr || !counter->median) return std::string(kNone);
  const double value = *counter->median;
  if (!name.ends_with("_per_second")) return {three_digits(value), Tone::plain, value};
  const std::string number = with_prefix(value);
  return {fmt::format("{}{}{}", number, number.find(' ') == std::string::npos ? " " : "",
                      name == "bytes_per_second" ? "B/s" : "/s"),
          Tone::plain, value};
}

/// A panel for each counter that is not always 0.
std::vector<CounterPanel> panels_of(const CountedCases& cases,
                                    const std::vector<std::string>& names) {
  const auto is_something = [](double value) { return value != 0; };
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
      any = any || std::ranges::any_of(counter->values, is_something);
      panel.rows.push_back({counter->values, counter->median});
    }
    if (any) panels.push_back(std::move(panel));
  }
  return panels;
}

/// Adds tables: with a row for each counter and a column for each benchmark, if these are few; or
/// with a row for each of many benchmarks.
void add_tables(const CountedCases& cases, const std::vector<std::string>& names,
                const std::string& quantity, bool by_counter, SectionWriter& section) {
  const auto labels = each_of(cases, [](const CountedCase& each) { return each.shown->label(); });
  const auto& rows = by_counter ? names : labels;
  const auto& columns = by_counter ? labels : names;
  std::size_t first = 0;
  for (const auto& abreast : in_parts(columns, kMostAbreast)) {
    Table table;
    table.caption =
        fmt::format("Counters {}: medians over the repetitions{}.", quantity,
                    any_event(cases, true)
                        ? ", and of what was counted in a pass of its own, over its processes"
                        : "");
    table.columns = {{by_counter ? "counter" : "benchmark"}};
    for (const std::string& title : abreast) table.columns.push_back({title, true});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::vector<Cell>& row = table.add({rows[i]}).cells;
      bool is_here = !by_counter;  // omit counters that none of these has
      for (std::size_t k = first; k < first + abreast.size(); ++k) {
        is_here = is_here || cases[k].find(names[i]) != nullptr;
        row.push_back(by_counter ? counter_cell(cases[k], names[i])
                                 : counter_cell(cases[i], names[k]));
      }
      if (!is_here) table.rows.pop_back();
    }
    section.add(std::move(table));
    first += abreast.size();
  }
}

/// Adds what the tables do not show about their counters, each sentence once.
void add_remarks(const CountedCases& cases, SectionWriter& section) {
  using Names = std::set<std::string>;
  std::map<std::string, Names> meanings;                     // counters by meaning
  std::map<std::string, Names> uncounted;                    // counters by reason
  std::map<std::string, Extent> shares;                      // by name
  std::map<std::string, std::vector<std::string>> of_older;  // benchmarks by result
  for (const CountedCase& each : cases) {
    Names older;
    for (const auto& [name, values, median, reason, from, event] : each.counters) {
      if (from != nullptr) older.insert(from->path);
      if (!median) uncounted[reason].insert(name);
      if (!median || event == nullptr) continue;
      if (name == model::kInstructionsExact)
        meanings[exact_basis(*each.shown->events.benchmark)].insert(name);
      if (event->user_only) {
        meanings["user only, without what the kernel did for the program"].insert(name);
      }
      const double share = event->counted_share.value_or(1);
      if (share < 1) shares[name].take(share);
    }
    for (const std::string& path : older) of_older[path].push_back(each.shown->label());
  }
  for (const auto& [name, range] : shares) {
    meanings[fmt::format("extrapolated from {} % of the time: there were more events than counters",
                         range_text(fmt::format("{:.0f}", 100 * range.least),
                                    fmt::format("{:.0f}", 100 * range.most)))]
        .insert(name);
  }
  Sentences sentences;
  for (const auto& [meaning, names] : meanings) {
    add(sentences, "{}: {}.", fmt::join(names, ", "), meaning);
  }
  for (const auto& [reason, names] : uncounted) {
    add(sentences, "{} {} not counted: {}.", fmt::join(names, ", "),
        names.size() == 1 ? "was" : "were", reason);
  }
  for (const auto& [path, labels] : of_older) {
    add(sentences, "{}: counted in the older result {}; newer ones have no such counters.",
        some_of(labels, ", "), path);
  }
  std::ranges::sort(sentences);
  section.add(std::vector<Paragraph>(sentences.begin(), sentences.end()));
}

void add_plot(const CountedCases& cases, const std::vector<std::string>& names,
              const std::string& plot, const std::string& title, const std::string& quantity,
              SectionWriter& section) {
  auto panels = panels_of(cases, names);
  if (panels.empty()) return;
  const std::size_t all = panels.size();
  panels.resize(std::min(all, kMostPanels));
  const auto labels = each_of(cases, [](const CountedCase& each) { return each.shown->label(); });
  const Samples samples = times_of(each_of(cases, &CountedCase::shown));
  section.draw(
      counters_plot(plot, title, quantity, labels, panels),
      fmt::format(
          "A panel for each counter that counted anything{}, each with a scale of its own. The bar "
          "is the median, every dot one of {}{}.{}",
          all > panels.size() ? fmt::format(", the first {} of {}", panels.size(), all) : "",
          repetition_count(samples),
          any_event(cases, false) ? ", or, of what was counted in a pass of its own, a process"
                                  : "",
          dots_phrase(samples).empty() ? "" : " Not every dot is drawn."));
}

/// Adds the counters that have the same unit.
void add_counters(const ShownCases& all, const std::string& name, const std::string& quantity,
                  SectionWriter& section) {
  CountedCases cases;
  std::vector<double> medians;
  for (const ShownCase* each : all) {
    cases.push_back(counters_of(*each));
    medians.push_back(each->real_ns.median);
  }
  std::vector<std::string> names = names_of(cases);
  if (names.empty()) return;
  if (names.size() > kMostCounters) {
    section.say("Of {} different counters {}, the first {} are shown; the results have all.",
                names.size(), quantity, kMostCounters);
    names.resize(kMostCounters);
  }
  const auto plotted =
      section.plotted(medians, kMostCounterPlots * kMaxRows, "benchmarks", "that are slowest");
  const bool are_many = plotted.size() < cases.size();
  const auto parts = in_parts(plotted, kMaxRows);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    CountedCases part;
    for (const std::size_t place : parts[i]) part.push_back(cases[place]);
    const std::vector<std::string> here = are_many ? names : names_of(part);
    if (here.empty()) continue;
    add_plot(part, here, i == 0 ? name : fmt::format("{}-{}", name, i + 1),
             "Counters" + part_text(i, parts.size()), quantity, section);
    if (are_many) continue;
    add_tables(part, here, quantity, true, section);
    add_remarks(part, section);
  }
  if (!are_many) return;
  add_tables(cases, names, quantity, false, section);
  add_remarks(cases, section);
}

}  // namespace

Section counters_section(const std::vector<ShownCase>& cases, Document& document) {
  SectionWriter section(document, "counters", "Counters");
  ShownCases with_operations;
  ShownCases others;
  for (const ShownCase& each : cases) {
    (each.has_operations() ? with_operations : others).push_back(&each);
  }
  add_counters(with_operations, "counters", "per operation", section);
  add_counters(others, "counters-reported", "as the program gave them", section);
  return section.take();
}

}  // namespace taskbench::reports::render
