#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "reports/model/date.hpp"
#include "reports/render/columns.hpp"
#include "reports/render/gnuplot.hpp"
#include "reports/render/numbers.hpp"
#include "reports/render/report_sections.hpp"
#include "reports/render/sentences.hpp"

namespace taskbench::reports::render {
namespace {

constexpr std::size_t kMostMachines = 12;  // with a line each in the key

/// A benchmark's sample in one of the results.
struct Entry {
  std::size_t result;  ///< its index in order of time
  Sampled sample;
};

/// A benchmark that occurs in several results.
struct Course {
  const std::string* name;
  std::vector<Entry> entries;
  double oldest_ns;  ///< among those that can be compared with the newest
  double newest_ns;

  [[nodiscard]] double ratio() const { return newest_ns / oldest_ns; }
};

/// "1a2b3c4 2026-03-14", with as much of the time of day as `detail` requests: none, minutes,
/// seconds.
std::string label_of(const model::Run& file, int detail) {
  const std::string time = model::time_of_day(file.environment.date);
  std::string label = short_commit(file);
  for (const std::string& part : {model::day_of(file.environment.date),
                                  detail == 0 ? "" : time.substr(0, detail == 1 ? 5 : 8)}) {
    if (!part.empty()) label += (label.empty() ? "" : " ") + part;
  }
  return label.empty() ? "undated" : label;
}

/// A label for each result. More of the date is shown only if results would otherwise have the same
/// label; if the whole date is the same, they are numbered.
std::vector<std::string> distinct_labels(const std::vector<const NamedResult*>& in_order) {
  constexpr int kMostDetail = 2;
  auto labels = each_of(in_order, [](const NamedResult* each) { return label_of(each->file, 0); });
  std::map<std::string, int> seen;
  for (int detail = 1; detail <= kMostDetail + 1; ++detail) {
    std::map<std::string, int> uses;
    for (const std::string& label : labels) ++uses[label];
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (uses[labels[i]] == 1) continue;
      labels[i] = detail <= kMostDetail ? label_of(in_order[i]->file, detail)
                                        : fmt::format("{} ({})", labels[i], ++seen[labels[i]]);
    }
  }
  return labels;
}

/// Every benchmark that occurs in several results, in the order of the newest ones.
std::vector<Course> courses_of(const std::vector<const NamedResult*>& in_order,
                               const std::vector<ShownCase>& cases,
                               const std::vector<std::string>& machines) {
  std::unordered_map<std::string_view, std::vector<std::pair<std::size_t, const model::Case*>>> all;
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    for (const model::Case& benchmark : in_order[i]->file.cases) {
      if (benchmark.has_samples()) all[benchmark.name].emplace_back(i, &benchmark);
    }
  }
  std::vector<Course> courses;
  for (const ShownCase& each : cases) {
    const auto& found = all[each.benchmark->name];
    if (found.size() < 2) continue;
    std::vector<Entry> entries;
    for (const auto& [result, benchmark] : found) entries.push_back({result, times_of(*benchmark)});
    const std::string& machine = machines[entries.back().result];
    const auto oldest = std::ranges::find_if(
        entries, [&](const Entry& entry) { return machines[entry.result] == machine; });
    const double oldest_ns = oldest->sample.median;
    const double newest_ns = entries.back().sample.median;
    courses.push_back({&each.benchmark->name, std::move(entries), oldest_ns, newest_ns});
  }
  return courses;
}

Table table_of(const Course& course, const std::vector<const NamedResult*>& in_order) {
  Table table;
  table.caption = fmt::format("{}: the {} results", *course.name, course.entries.size());
  table.folded = true;
  table.columns = {{"date", false},         {"commit", false},     {"median", true},
                   {"95 % interval", true}, {"repetitions", true}, {"result", false}};
  for (const auto& [result, sample] : course.entries) {
    const NamedResult& from = *in_order[result];
    table.add({or_none(from.file.environment.date), or_none(short_commit(from.file)),
               time_cell(sample.median), interval_cell(sample),
               std::to_string(sample.values.size()), from.path});
  }
  return table;
}

/// A row for each benchmark, used if not all of them have a plot.
Table changes_table(const std::vector<Course>& courses) {
  Table table;
  table.caption =
      "Medians of the oldest and the newest result of each benchmark, and how far the newest is "
      "from the oldest; only of results from the machine and build of the newest.";
  table.columns = named_figures({"benchmark", "results", "oldest", "newest", "change"});
  for (const Course& course : courses) {
    const double change = course.ratio() - 1;
    table.add({*course.name, std::to_string(course.entries.size()), time_cell(course.oldest_ns),
               time_cell(course.newest_ns), Cell(percent_change(change), Tone::plain, change)});
  }
  return table;
}

std::string caption_of(const Course& course, std::size_t machines) {
  std::size_t values = 0;
  Samples samples;
  for (const Entry& entry : course.entries) {
    samples.push_back(&entry.sample);
    values += entry.sample.values.size();
  }
  const std::string dots = dots_phrase(samples);
  std::string text = fmt::format(
      "{} results in the order of their dates, at equal distances. The filled mark is the median "
      "of a result{}; {} dot is one of {} repetitions.{} The axis does not begin at 0.",
      samples.size(), interval_phrase(samples), dots.empty() ? "every" : "a", values, dots);
  if (machines > 1) {
    text += fmt::format(
        " Marks of different {} come from different machines or builds, and cannot be compared.",
        machines > kColourCount ? "colours or shapes" : "colours");
  }
  if (machines > kColourCount) {
    text += fmt::format(
        " There are {} of them for {} colours: dots and lines of one colour may belong to several.",
        machines, kColourCount);
  }
  return text;
}

}  // namespace

Section history_section(const std::vector<const NamedResult*>& in_order,
                        const std::vector<ShownCase>& cases, Document& document) {
  SectionWriter section(document, "history", "History");
  const std::vector<std::string> labels = distinct_labels(in_order);
  const std::vector<std::string> machine_of_result = machine_labels(in_order);
  const std::vector<Course> courses = courses_of(in_order, cases, machine_of_result);
  if (courses.empty()) return section.take();
  section.say(
      "Two results of one build may differ by more than their intervals say: trust a step when "
      "several results lie on either side of it.");
  const auto moved =
      each_of(courses, [](const Course& course) { return std::abs(std::log(course.ratio())); });
  const auto plotted = section.plotted(moved, kMostPlots, "benchmarks",
                                       "whose newest median is farthest from their oldest");
  if (plotted.size() < courses.size()) section.add(changes_table(courses));
  for (const std::size_t place : plotted) {
    const Course& course = courses[place];
    InOrder<bool> machines;
    std::vector<HistoryPoint> points;
    for (const auto& [result, sample] : course.entries) {
      points.push_back({labels[result], sample, machines.place_of(machine_of_result[result])});
    }
    std::vector<std::string> in_key = machines.names();
    if (in_key.size() > kMostMachines) {  // the last one stands for all others
      in_key.resize(kMostMachines);
      in_key.back() =
          fmt::format("{} other machines or builds", machines.size() - kMostMachines + 1);
      for (auto& point : points) point.machine = std::min(point.machine, kMostMachines - 1);
    }
    section.draw(history_plot(plot_name("history", *course.name), *course.name,
                              "wall time of one iteration", points, in_key),
                 caption_of(course, machines.size()));
    section.add(table_of(course, in_order));
  }
  return section.take();
}

}  // namespace taskbench::reports::render
