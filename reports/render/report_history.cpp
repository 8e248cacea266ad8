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
#include "reports/render/report_sections.hpp"
#include "reports/render/verdict_table.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::render {
namespace {

constexpr std::size_t kMostMachines = 12;  // with a line in the key each

/// A benchmark in one of the results.
struct Place {
  std::size_t result;  ///< its index in the order of time
  const model::Case* benchmark;
};

struct Entry {
  const NamedResult* result;
  HistoryPoint point;
};

/// A benchmark that several results have.
struct Course {
  const std::string* name;
  std::vector<Place> places;
  double oldest_ns = 0;  ///< of those that can be compared with the newest
  double newest_ns = 0;

  [[nodiscard]] double ratio() const { return newest_ns / oldest_ns; }
};

/// "1a2b3c4 2026-03-14" for each result, with the time of day where several would be called that.
std::vector<std::string> distinct_labels(const std::vector<const NamedResult*>& in_order) {
  const auto label_of = [](const model::Run& file, const std::string& moment) {
    const std::string commit = short_commit(file);
    if (commit.empty()) return moment.empty() ? std::string("undated") : moment;
    return moment.empty() ? commit : fmt::format("{} {}", commit, moment);
  };
  // What a date has more to tell is told only where less of it is the same for several.
  const auto moment_of = [](const model::Run& file, int detail) {
    const std::string day = model::day_of(file.environment.date);
    const std::string time = model::time_of_day(file.environment.date);
    if (detail == 0 || time.empty()) return day;
    return fmt::format("{} {}", day, detail == 1 ? time.substr(0, 5) : time);
  };
  std::vector<std::string> labels;
  for (const NamedResult* each : in_order) {
    labels.push_back(label_of(each->file, moment_of(each->file, 0)));
  }
  std::map<std::string, int> uses;
  for (const int detail : {1, 2}) {
    uses.clear();
    for (const std::string& label : labels) ++uses[label];
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const model::Run& file = in_order[i]->file;
      if (uses[labels[i]] > 1) labels[i] = label_of(file, moment_of(file, detail));
    }
  }
  std::map<std::string, int> seen;
  uses.clear();
  for (const std::string& label : labels) ++uses[label];
  for (std::string& label : labels) {
    if (uses[label] > 1) label += fmt::format(" ({})", ++seen[label]);
  }
  return labels;
}

/// Every benchmark that more than one result has, as they first appear in the newest ones.
std::vector<Course> courses_of(const std::vector<const NamedResult*>& in_order,
                               const std::vector<ShownCase>& cases,
                               const std::vector<std::string>& machines) {
  std::unordered_map<std::string_view, std::vector<Place>> places;
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    for (const model::Case& benchmark : in_order[i]->file.cases) {
      if (benchmark.has_samples()) places[benchmark.name].push_back({i, &benchmark});
    }
  }
  const auto median = [](const Place& place) {
    std::vector<double> values;
    for (const auto& each : place.benchmark->repetitions) values.push_back(each.real_ns);
    return stats::median(values);
  };
  std::vector<Course> courses;
  for (const ShownCase& each : cases) {
    std::vector<Place>& found = places[each.benchmark->name];
    if (found.size() < 2) continue;
    Course course{&each.benchmark->name, std::move(found)};
    const std::string& machine = machines[course.places.back().result];
    const auto oldest = std::ranges::find_if(
        course.places, [&](const Place& place) { return machines[place.result] == machine; });
    course.oldest_ns = median(*oldest);
    course.newest_ns = median(course.places.back());
    courses.push_back(std::move(course));
  }
  return courses;
}

std::vector<Entry> entries_of(const Course& course, const std::vector<const NamedResult*>& in_order,
                              const std::vector<std::string>& labels,
                              const std::vector<std::string>& machine_of_result,
                              std::vector<std::string>& machines) {
  std::vector<Entry> entries;
  for (const Place& place : course.places) {
    std::vector<double> values;
    for (const auto& each : place.benchmark->repetitions) values.push_back(each.real_ns);
    const std::string& machine = machine_of_result[place.result];
    auto known = std::ranges::find(machines, machine);
    if (known == machines.end()) known = machines.insert(known, machine);
    entries.push_back({in_order[place.result],
                       {labels[place.result], sampled(std::move(values)),
                        static_cast<std::size_t>(known - machines.begin())}});
  }
  return entries;
}

/// What a key has room for: the last of many machines stands for the others.
std::vector<std::string> machines_in_key(std::vector<std::string> machines,
                                         std::vector<HistoryPoint>& points) {
  if (machines.size() <= kMostMachines) return machines;
  for (HistoryPoint& point : points) point.machine = std::min(point.machine, kMostMachines - 1);
  const std::size_t others = machines.size() - kMostMachines + 1;
  machines.resize(kMostMachines - 1);
  machines.push_back(fmt::format("{} other machines or builds", others));
  return machines;
}

TableBlock table_of(const std::string& name, const std::vector<Entry>& entries) {
  TableBlock table;
  table.caption = fmt::format("{}: the {} results", name, entries.size());
  table.folded = true;
  table.columns = {{"date", false},         {"commit", false},     {"median", true},
                   {"95 % interval", true}, {"repetitions", true}, {"result", false}};
  for (const Entry& entry : entries) {
    const Sampled& sample = entry.point.sample;
    const std::string commit = short_commit(entry.result->file);
    table.rows.push_back({plain(or_none(entry.result->file.environment.date)),
                          plain(or_none(commit)), time_cell_of(sample.median),
                          interval_cell(sample), plain(std::to_string(sample.values.size())),
                          plain(entry.result->path)});
  }
  return table;
}

/// One row for each benchmark, where not each has a plot.
TableBlock changes_table(const std::vector<Course>& courses) {
  TableBlock table;
  table.caption =
      "Medians of the oldest and the newest result of each benchmark, and how far the newest is "
      "from the oldest; of the results that come from the machine and build of the newest.";
  table.columns = {{"benchmark", false},
                   {"results", true},
                   {"oldest", true},
                   {"newest", true},
                   {"change", true}};
  for (const Course& course : courses) {
    const double change = course.ratio() - 1;
    table.rows.push_back({plain(*course.name), plain(std::to_string(course.places.size())),
                          time_cell_of(course.oldest_ns), time_cell_of(course.newest_ns),
                          Cell(percent_change(change), Tone::plain, change)});
  }
  return table;
}

std::string caption_of(const std::vector<Entry>& entries, std::size_t machines) {
  std::size_t samples = 0;
  std::size_t most = 0;
  std::size_t intervals = 0;
  for (const Entry& entry : entries) {
    const std::size_t count = entry.point.sample.values.size();
    samples += count;
    most = std::max(most, count);
    if (entry.point.sample.interval) ++intervals;
  }
  const std::string dots = dots_phrase(most, entries.size());
  std::string text = fmt::format(
      "{} results in the order of their dates, at equal distances. The filled mark is the median "
      "of a result{}; {} dot is one of {} repetitions.{} The axis does not begin at 0.",
      entries.size(), interval_phrase(intervals, entries.size()), dots.empty() ? "every" : "a",
      samples, dots);
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

}  // namespace

Section history_section(const std::vector<const NamedResult*>& in_order,
                        const std::vector<ShownCase>& cases, Document& document) {
  Section section{"history", "History", {}};
  const std::vector<std::string> labels = distinct_labels(in_order);
  const std::vector<std::string> machine_of_result = machine_labels(in_order);
  const std::vector<Course> courses = courses_of(in_order, cases, machine_of_result);
  std::vector<double> moved;
  for (const Course& course : courses) moved.push_back(std::abs(std::log(course.ratio())));
  if (courses.size() > kMostPlots) {
    section.blocks.push_back(plain(fmt::format(
        "The plots show the {} of {} benchmarks whose newest median is farthest from their oldest; "
        "the table has all.",
        kMostPlots, courses.size())));
    section.blocks.push_back(changes_table(courses));
  }
  for (const std::size_t place : greatest(moved, kMostPlots)) {
    const Course& course = courses[place];
    std::vector<std::string> machines;
    const auto entries = entries_of(course, in_order, labels, machine_of_result, machines);
    std::vector<HistoryPoint> points;
    for (const Entry& entry : entries) points.push_back(entry.point);
    const auto in_key = machines_in_key(machines, points);
    const std::string plot = plot_name("history", *course.name);
    document.plots.push_back(
        history_plot(plot, *course.name, "wall time of one iteration", points, in_key));
    section.blocks.push_back(Figure{plot, caption_of(entries, machines.size())});
    section.blocks.push_back(table_of(*course.name, entries));
  }
  if (section.blocks.empty()) return section;
  section.blocks.insert(
      section.blocks.begin(),
      plain("Each result is one process. Two processes of one build may differ by more than their "
            "intervals say: a step is news when several results lie on either side of it."));
  return section;
}

}  // namespace taskbench::reports::render
