#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "reports/render/columns.hpp"
#include "reports/render/figures.hpp"
#include "reports/render/gnuplot.hpp"
#include "reports/render/report_sections.hpp"

namespace taskbench::reports::render {
namespace {

struct Entry {
  const NamedResult* result;
  HistoryPoint point;
};

/// "1a2b3c4 2026-03-14"
std::string label_of(const model::ResultFile& file) {
  const std::string commit = short_commit(file);
  const std::string day = day_of(file.date);
  if (commit.empty()) return day.empty() ? "undated" : day;
  return day.empty() ? commit : fmt::format("{} {}", commit, day);
}

std::vector<Entry> entries_of(const std::string& name,
                              const std::vector<const NamedResult*>& in_order,
                              const std::vector<std::string>& labels,
                              std::vector<std::string>& machines) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    const NamedResult* const result = in_order[i];
    const auto benchmark =
        std::ranges::find(result->file.benchmarks, name, &model::Benchmark::run_name);
    if (benchmark == result->file.benchmarks.end() || benchmark->repetitions.empty() ||
        !benchmark->error.empty()) {
      continue;
    }
    std::vector<double> values;
    for (const auto& repetition : benchmark->repetitions) values.push_back(repetition.real_ns);
    auto known = std::ranges::find(machines, labels[i]);
    if (known == machines.end()) known = machines.insert(known, labels[i]);
    entries.push_back({result,
                       {label_of(result->file), sampled(std::move(values)),
                        static_cast<std::size_t>(known - machines.begin())}});
  }
  return entries;
}

TableBlock table_of(const std::string& name, const std::vector<Entry>& entries) {
  TableBlock table;
  table.caption = fmt::format("{}: the {} results", name, entries.size());
  table.folded = true;
  table.columns = {{"date", false},         {"commit", false},     {"median", true},
                   {"95 % interval", true}, {"repetitions", true}, {"result", false}};
  for (const Entry& entry : entries) {
    const Sampled& sample = entry.point.sample;
    const std::string interval = sample.interval
                                     ? fmt::format("{} … {}", time_text(sample.interval->low),
                                                   time_text(sample.interval->high))
                                     : std::string(kNone);
    const std::string commit = short_commit(entry.result->file);
    table.rows.push_back({plain(or_none(entry.result->file.date)), plain(or_none(commit)),
                          plain(time_text(sample.median)), plain(interval),
                          plain(std::to_string(sample.values.size())), plain(entry.result->path)});
  }
  return table;
}

std::string caption_of(const std::vector<Entry>& entries, std::size_t machines) {
  std::size_t samples = 0;
  for (const Entry& entry : entries) samples += entry.point.sample.values.size();
  std::string text = fmt::format(
      "{} results in the order of their dates, at equal distances. The filled mark is the median "
      "of a result, its bar the 95 % interval; every dot is one of {} repetitions. The axis does "
      "not begin at 0.",
      entries.size(), samples);
  if (machines > 1) {
    text += fmt::format(
        " Marks of different {} come from different machines or builds, and cannot be compared.",
        machines > kColourCount ? "colours or shapes" : "colours");
  }
  if (machines > kColourCount) {
    text += fmt::format(
        " There are {} of them for {} colours: dots and lines of one colour need not be of one.",
        machines, kColourCount);
  }
  return text;
}

/// Every name that is in more than one result, as they first appear in the newest ones.
std::vector<std::string> shared_names(const std::vector<const NamedResult*>& in_order) {
  std::vector<std::string> names;
  for (const ShownCase& each : shown_cases(in_order)) {
    const std::string& name = each.benchmark->run_name;
    const auto has_it = [&](const NamedResult* result) {
      return std::ranges::any_of(result->file.benchmarks, [&](const model::Benchmark& benchmark) {
        return benchmark.run_name == name && !benchmark.repetitions.empty() &&
               benchmark.error.empty();
      });
    };
    if (std::ranges::count_if(in_order, has_it) > 1) names.push_back(name);
  }
  return names;
}

}  // namespace

Section history_section(const std::vector<const NamedResult*>& in_order, Document& document) {
  Section section{"history", "History", {}};
  const std::vector<std::string> labels = machine_labels(in_order);
  for (const std::string& name : shared_names(in_order)) {
    std::vector<std::string> machines;
    const std::vector<Entry> entries = entries_of(name, in_order, labels, machines);
    std::vector<HistoryPoint> points;
    for (const Entry& entry : entries) points.push_back(entry.point);
    const std::string plot = plot_name("history", name);
    document.plots.push_back(
        history_plot(plot, name, "wall time of one iteration", points, machines));
    section.blocks.push_back(Figure{plot, caption_of(entries, machines.size())});
    section.blocks.push_back(table_of(name, entries));
  }
  if (section.blocks.empty()) return section;
  section.blocks.insert(
      section.blocks.begin(),
      plain("Each result is one process. Two processes of one build may differ by more than their "
            "intervals say: a step is news when several results lie on either side of it."));
  return section;
}

}  // namespace taskbench::reports::render
