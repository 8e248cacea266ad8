#include "reports/verdict/file_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include "reports/model/lookup.hpp"
#include "reports/stats/multiplicity.hpp"
#include "reports/stats/shift.hpp"
#include "reports/stats/summary.hpp"
#include "reports/verdict/files.hpp"

namespace taskbench::reports::verdict {
namespace {

using model::Case;
using model::Run;

/// The times of one benchmark in the files of a column.
struct Sample {
  std::vector<double> x;            ///< ln of the median, one per file
  std::optional<double> deviation;  ///< of the repetitions of the last file, relative
};

/// The benchmarks that have repetitions, with a sample for each column.
using Samples = model::InOrder<std::vector<Sample>>;

Samples samples_of(const std::vector<Column>& columns) {
  Samples samples;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (const Run& file : columns[i].files) {
      for (const Case& benchmark : file.cases) {
        if (benchmark.repetitions.empty()) continue;
        std::vector<Sample>& by_column = samples[benchmark.name];
        by_column.resize(columns.size());
        const auto spread = stats::spread_of(times_of(benchmark));
        if (!spread) continue;
        by_column[i].x.push_back(std::log(spread->median));
        by_column[i].deviation.reset();
        if (spread->mad) by_column[i].deviation = *spread->mad / spread->median;
      }
    }
  }
  return samples;
}

ColumnCell cell_of(const Sample& sample) {
  ColumnCell cell;
  cell.files = sample.x.size();
  cell.ns = std::exp(stats::median(sample.x));
  if (cell.files == 1) {
    cell.spread = sample.deviation;
    return cell;
  }
  const auto medians = model::each_of(sample.x, [](double x) { return std::exp(x); });
  cell.spread = stats::median_absolute_deviation(medians) / cell.ns;
  return cell;
}

double p_of_both_directions(const std::vector<double>& first, const std::vector<double>& other) {
  return std::min(1.0,
                  2 * std::min(stats::shift_p(first, other, 0), stats::shift_p(other, first, 0)));
}

/// A change that can be judged, with the smallest p that its number of files permits.
struct Judgeable {
  ColumnCell* cell;
  double p;
  double least;
};

/// Judges changes. First leaves out those with so few files that their p cannot be below alpha,
/// however clear the change, the least able first: they must not increase the p of the others. This
/// depends only on the number of files, not on measured values.
void judge_all(std::vector<Judgeable> cells, double alpha) {
  std::ranges::sort(cells, {}, &Judgeable::least);
  while (!cells.empty() && cells.back().least * static_cast<double>(cells.size()) >= alpha) {
    cells.pop_back();
  }
  if (cells.empty()) return;
  const std::vector<double> adjusted = stats::holm(model::each_of(cells, &Judgeable::p));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i].cell->p_adjusted = adjusted[i];
    cells[i].cell->is_changed = adjusted[i] < alpha;
  }
}

void add_means(ColumnsReport& report) {
  std::vector<double> sums(report.columns.size());
  for (const ColumnsRow& row : report.rows) {
    if (!std::ranges::all_of(row.cells, [](const ColumnCell& cell) { return cell.files > 0; })) {
      continue;
    }
    ++report.in_all_columns;
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += std::log(row.cells[i].ns);
  }
  if (report.in_all_columns == 0) return;
  for (const double sum : sums) {
    report.mean_ns.push_back(std::exp(sum / static_cast<double>(report.in_all_columns)));
  }
}

void require_different_names(const Run& file) {
  std::unordered_set<std::string_view> seen;
  for (const Case& benchmark : file.cases) {
    if (!seen.insert(benchmark.name).second) {
      throw std::invalid_argument(
          fmt::format("two benchmarks of one file would both be called '{}'", benchmark.name));
    }
  }
}

/// The parts of a name, between its slashes.
std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = name.find('/');
    parts.push_back(name.substr(0, end));
    if (end == std::string_view::npos) return parts;
    name.remove_prefix(end + 1);
  }
}

/// Replaces the parts `from` with `to`, or removes them if `to` is empty.
std::string mapped_name(std::string_view name, std::string_view from, std::string_view to) {
  std::vector<std::string_view> parts = parts_of(name);
  const auto found = std::ranges::search(parts, parts_of(from));
  if (from.empty() || found.empty()) return std::string(name);
  const auto behind = parts.erase(found.begin(), found.end());
  if (!to.empty()) parts.insert(behind, to);
  return fmt::format("{}", fmt::join(parts, "/"));
}

/// The part of the name for the key; empty if there is none.
std::string part_of(const Case& benchmark, const std::string& key) {
  for (const std::string_view part : parts_of(benchmark.name)) {
    const bool is_scheduler = key == "scheduler" && part == benchmark.scheduler;
    if (is_scheduler || part.starts_with(key + ':')) return std::string(part);
  }
  return {};
}

std::string without_workers(const Case& benchmark) {
  return mapped_name(benchmark.name, part_of(benchmark, "workers"), "");
}

/// Removes "workers:N" from the names of benchmarks that would otherwise share no row. Does nothing
/// if a column has a benchmark with several worker counts: the choice would be ambiguous.
void match_without_workers(Split& split) {
  std::unordered_map<std::string, std::unordered_set<std::string>> worker_counts;
  for (const Column& column : split.columns) {
    for (const Run& file : column.files) {
      std::unordered_set<std::string> seen;
      for (const Case& benchmark : file.cases) {
        const std::string name = without_workers(benchmark);
        if (!seen.insert(name).second) return;
        worker_counts[name].insert(part_of(benchmark, "workers"));
      }
    }
  }
  std::unordered_set<std::string_view> listed;
  for (Column& column : split.columns) {
    for (Run& file : column.files) {
      for (Case& benchmark : file.cases) {
        const auto found = worker_counts.find(without_workers(benchmark));
        if (found->second.size() < 2) continue;
        benchmark.name = found->first;
        if (listed.insert(found->first).second) split.with_other_workers.push_back(found->first);
      }
    }
  }
}

}  // namespace

ColumnsReport compare_columns(const std::vector<Column>& columns, double alpha) {
  ColumnsReport report;
  report.alpha = alpha;
  std::vector<const Run*> all;
  for (const Column& column : columns) {
    report.columns.push_back(column.name);
    for (const Run& file : column.files) all.push_back(&file);
    add_failures(column.files, column.name, report.failed);
  }
  report.machine_differs = machine_differences(all);

  const Samples samples = samples_of(columns);
  report.rows.reserve(samples.size());  // there are references to the cells
  std::vector<Judgeable> judgeable;
  for (const auto& [name, by_column] : samples) {
    ColumnsRow& row = report.rows.emplace_back();
    row.name = name;
    row.cells.resize(columns.size());
    const std::vector<double>& first = by_column.front().x;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::vector<double>& x = by_column[i].x;
      if (x.empty()) continue;
      ColumnCell& cell = row.cells[i];
      cell = cell_of(by_column[i]);
      if (i == 0 || first.empty()) continue;
      cell.change = cell.ns / row.cells[0].ns - 1;
      judgeable.push_back({&cell, p_of_both_directions(first, x),
                           2 * stats::least_shift_p(first.size(), x.size())});
    }
  }
  const auto comparisons = static_cast<double>(std::max<std::size_t>(1, judgeable.size()));
  report.files_needed = files_needed(alpha / 2 / comparisons);
  if (report.machine_differs.empty()) judge_all(std::move(judgeable), alpha);
  add_means(report);
  return report;
}

void rename_all(Run& file, const std::vector<std::pair<std::string, std::string>>& mapping) {
  for (Case& benchmark : file.cases) {
    for (const auto& [from, to] : mapping) benchmark.name = mapped_name(benchmark.name, from, to);
  }
  require_different_names(file);
}

Split split_by(std::vector<Run> files, const std::string& key) {
  Split split;
  std::unordered_map<std::string, std::size_t> places;
  std::unordered_set<std::string> without;
  for (Run& file : files) {
    std::vector<Case> cases = std::exchange(file.cases, {});
    std::unordered_map<std::size_t, Run> parts;
    for (Case& benchmark : cases) {
      const std::string part = part_of(benchmark, key);
      if (part.empty()) {
        if (without.insert(benchmark.name).second) split.without.push_back(benchmark.name);
        continue;
      }
      const auto [place, is_new] = places.emplace(part, split.columns.size());
      if (is_new) split.columns.push_back({part, {}});
      benchmark.name = mapped_name(benchmark.name, part, "");
      // The file's facts about its machine and settings apply to each part.
      Run& target = parts.try_emplace(place->second, file).first->second;
      target.cases.push_back(std::move(benchmark));
    }
    for (auto& [place, part] : parts) {
      require_different_names(part);
      split.columns[place].files.push_back(std::move(part));
    }
  }
  match_without_workers(split);
  return split;
}

}  // namespace taskbench::reports::verdict
