#include "reports/render/measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "reports/model/lookup.hpp"
#include "reports/render/columns.hpp"
#include "reports/render/numbers.hpp"
#include "reports/stats/summary.hpp"
#include "reports/verdict/decision.hpp"

namespace taskbench::reports::render {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kSeconds = "seconds";
constexpr double kNsPerS = 1e9;

/// Bencher's limit on the names of measures.
constexpr std::size_t kLongestSlug = 64;

std::string permitted(std::string_view name) {
  std::string made(name);
  const auto is_permitted = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  std::ranges::replace_if(made, std::not_fn(is_permitted), '_');
  return made;
}

/// A value of a label for use between quotes, or a help text.
std::string quotable(std::string_view text) {
  const std::string plain = replaced(printable(text), "\\", "\\\\");
  return replaced(replaced(plain, "\n", "\\n"), "\"", "\\\"");
}

struct Clock {
  std::string_view name;
  std::string_view help;
};
constexpr Clock kWall{"wall_time", "Wall time of an iteration."};
constexpr Clock kCpu{"cpu_time", "CPU time of an iteration, of all threads."};

void add_time(const Clock& clock, std::string_view benchmark, Labels labels, double ns,
              std::optional<double> mad_ns, Measures& into) {
  const auto mad = mad_ns ? std::optional(*mad_ns / kNsPerS) : std::nullopt;
  into.add(clock.name, kSeconds, clock.help,
           {std::string(benchmark), std::move(labels), ns / kNsPerS, mad});
}

void add_median_time(const Clock& clock, const model::Case& measured,
                     const std::vector<model::Repetition>& repetitions,
                     double model::Repetition::*time, Measures& into) {
  std::vector<double> known;
  for (const model::Repetition& each : repetitions) {
    if (each.*time > 0) known.push_back(each.*time);
  }
  if (const auto spread = stats::spread_of(known)) {
    add_time(clock, measured.name, {}, spread->median, spread->mad, into);
  }
}

void add_median(std::string_view name, std::string_view help, const std::string& benchmark,
                const std::vector<double>& values, Measures& into) {
  if (const auto spread = stats::spread_of(values)) {
    into.add(name, "", help, {benchmark, {}, spread->median});
  }
}

/// The comparison of two sides: the change of a metric, and its verdict.
struct Change {
  double change;
  std::optional<double> low;
  std::optional<double> high;
  verdict::Verdict verdict;
};

void add_change(const std::string& benchmark, std::string_view of, const Change& sides,
                Measures& into) {
  const Labels metric{{"metric", std::string(of)}};
  into.add("change", "ratio",
           "How much more head needs, relative: 0.1 is 10 % slower. For a metric of which more is "
           "better: base over head, less 1.",
           {benchmark, metric, sides.change});
  if (sides.low) {
    into.add("change_low", "ratio", "Lower end of the change's interval.",
             {benchmark, metric, *sides.low});
  }
  if (sides.high) {
    into.add("change_high", "ratio", "Upper end of the change's interval.",
             {benchmark, metric, *sides.high});
  }
  for (const auto each :
       {verdict::Verdict::pass, verdict::Verdict::fail, verdict::Verdict::inconclusive}) {
    Labels labels = metric;
    labels.emplace_back("verdict", verdict::word(each));
    into.add("verdict", "", "1 for the verdict that was reached, 0 for the others.",
             {benchmark, std::move(labels), each == sides.verdict ? 1.0 : 0.0});
  }
}

void add_sides(const std::string& benchmark, const Clock& clock, double base_ns, double head_ns,
               const Change& change, Measures& into) {
  add_time(clock, benchmark, {{"side", "base"}}, base_ns, {}, into);
  add_time(clock, benchmark, {{"side", "head"}}, head_ns, {}, into);
  add_change(benchmark, clock.name, change, into);
}

/// A requested metric.
template <class Judged>
void add_judged(const std::string& benchmark, const Judged& of, Measures& into) {
  for (const auto& [side, value] : {std::pair("base", of.base), {"head", of.head}}) {
    into.add(of.metric, "", "Counted by the program.", {benchmark, {{"side", side}}, value});
  }
  add_change(benchmark, of.metric, {of.change, of.low, of.high, of.verdict}, into);
}

/// The family's name in OpenMetrics, which ends with its unit.
std::string full_name(std::string_view name, std::string_view unit) {
  return fmt::format("taskbench_{}{}{}", name, unit.empty() ? "" : "_", unit);
}

void print_family(std::string_view name, std::string_view unit, std::string_view help,
                  std::string& text) {
  text += fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, quotable(help), name);
  if (!unit.empty()) text += fmt::format("# UNIT {} {}\n", name, unit);
}

/// What a value is the value of: a family's name with labels.
std::string labelled_name(std::string_view name, const Measure& measure) {
  std::string text = fmt::format("{}{{benchmark=\"{}\"", name, quotable(measure.benchmark));
  for (const auto& [label, of] : measure.labels) {
    text += fmt::format(",{}=\"{}\"", label, quotable(of));
  }
  return text + '}';
}

void print_measure(std::string_view name, const Measure& measure, double value, std::string& text) {
  text += fmt::format("{} {}\n", labelled_name(name, measure), value);
}

/// The name of a family in Bencher, which no other one has: a counter may be called "latency", and
/// long names may be equal up to the limit.
std::string unused_slug(const MeasureFamily& family, std::set<std::string>& used) {
  std::string name = family.name == kWall.name && family.unit == kSeconds ? "latency" : family.name;
  std::ranges::replace(name, '_', '-');
  std::string slug = name.substr(0, kLongestSlug);
  for (int i = 2; !used.insert(slug).second; ++i) {
    const std::string end = fmt::format("-{}", i);
    slug = name.substr(0, kLongestSlug - end.size()) + end;
  }
  return slug;
}

}  // namespace

void Measures::add(std::string_view name, std::string_view unit, std::string_view help,
                   Measure measure) {
  if (!std::isfinite(measure.value)) return;
  const std::string own = permitted(name);
  std::string made = own;
  for (int i = 2;; ++i) {
    const std::string full = full_name(made, unit);
    const auto [place, is_new] = places_.try_emplace(full, families_.size());
    if (is_new) families_.push_back({made, std::string(unit), std::string(help), {}});
    MeasureFamily& family = families_[place->second];
    // Units differ if, for example, a counter is called "wall_time_seconds".
    if (family.unit == unit && series_.insert(labelled_name(full, measure)).second) {
      family.measures.push_back(std::move(measure));
      return;
    }
    made = fmt::format("{}_{}", own, i);
  }
}

Measures measures(const model::Run& run) {
  Measures all;
  for (const model::Case& measured : run.cases) {
    const std::vector<model::Repetition> repetitions = stats::complete_repetitions(measured);
    add_median_time(kWall, measured, repetitions, &model::Repetition::real_ns, all);
    add_median_time(kCpu, measured, repetitions, &model::Repetition::cpu_ns, all);
    std::set<std::string> counters;
    for (const model::Repetition& each : repetitions) {
      for (const auto& [counter, value] : each.counters) counters.insert(counter);
    }
    for (const std::string& counter : counters) {
      std::vector<double> values;
      for (const model::Repetition& each : repetitions) {
        if (const auto value = model::value_at(each.counters, counter)) values.push_back(*value);
      }
      add_median(counter, "Counted by the program.", measured.name, values, all);
    }
    for (const model::EventCount& event : measured.events) {
      add_median(event.event, "Counted from outside, per iteration.", measured.name,
                 event.per_iteration, all);
    }
  }
  return all;
}

Measures measures(const verdict::PairedReport& report) {
  Measures all;
  for (const verdict::BenchmarkVerdict& row : report.benchmarks) {
    const auto add = [&](const Clock& clock, const verdict::MetricVerdict& of) {
      add_sides(row.name, clock, of.base, of.head, {of.change, of.low, of.high, of.verdict}, all);
    };
    add(kWall, row);
    if (row.cpu) add(kCpu, *row.cpu);
    for (const verdict::JudgedVerdict& each : row.judged) {
      if (each.reason.empty()) add_judged(row.name, each, all);
    }
  }
  return all;
}

Measures measures(const verdict::FilesReport& report) {
  Measures all;
  for (const verdict::FilesRow& row : report.rows) {
    if (row.has_change()) {
      add_sides(row.name, kWall, row.base, row.head, {row.change, row.low, row.high, row.verdict},
                all);
    }
    for (const verdict::JudgedFilesVerdict& each : row.judged) {
      if (each.has_change()) add_judged(row.name, each, all);
    }
  }
  return all;
}

Measures measures(const verdict::BaselineReport& report) {
  Measures all;
  for (const verdict::BaselineRow& row : report.rows) {
    const verdict::StoredComparison& rolling = row.rolling;
    add_sides(row.name, kWall, row.baseline_ns, row.now_ns,
              {rolling.change, rolling.low, rolling.high, row.verdict}, all);
  }
  return all;
}

Measures measures(const verdict::ColumnsReport& report) {
  Measures all;
  for (const verdict::ColumnsRow& row : report.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const verdict::ColumnCell& cell = row.cells[i];
      if (cell.files == 0) continue;
      const Labels column{{"column", report.columns[i]}};
      const auto mad_ns = cell.spread ? std::optional(*cell.spread * cell.ns) : std::nullopt;
      add_time(kWall, row.name, column, cell.ns, mad_ns, all);
      if (cell.change && i > 0) {
        all.add("change", "ratio", "Column over the first one, less 1: 0.1 is 10 % slower.",
                {row.name, column, *cell.change});
      }
    }
  }
  return all;
}

std::string open_metrics(const Measures& measures) {
  std::string text;
  for (const MeasureFamily& family : measures.families()) {
    const std::string name = full_name(family.name, family.unit);
    print_family(name, family.unit, family.help, text);
    for (const Measure& each : family.measures) print_measure(name, each, each.value, text);
    const auto has_mad = [](const Measure& each) { return each.mad.has_value(); };
    if (std::ranges::none_of(family.measures, has_mad)) continue;
    const std::string mad = full_name(family.name + "_mad", family.unit);
    print_family(mad, family.unit, "Median absolute deviation of " + name + ".", text);
    for (const Measure& each : family.measures) {
      if (each.mad) print_measure(mad, each, *each.mad, text);
    }
  }
  return text + "# EOF\n";
}

std::string bencher_metrics(const Measures& measures) {
  nlohmann::ordered_json benchmarks = nlohmann::ordered_json::object();
  std::set<std::string> used;
  for (const MeasureFamily& family : measures.families()) {
    const bool is_time = family.unit == kSeconds;
    if (!is_time && (!family.unit.empty() || family.name == "verdict")) continue;
    const std::string slug = unused_slug(family, used);
    const double scale = is_time ? kNsPerS : 1;
    for (const Measure& each : family.measures) {
      nlohmann::ordered_json metric{{"value", each.value * scale}};
      if (each.mad) {
        metric["lower_value"] = (each.value - *each.mad) * scale;
        metric["upper_value"] = (each.value + *each.mad) * scale;
      }
      benchmarks[each.benchmark][slug] = std::move(metric);
    }
  }
  using Handler = nlohmann::ordered_json::error_handler_t;
  return benchmarks.dump(2, ' ', false, Handler::replace) + '\n';
}

}  // namespace taskbench::reports::render
