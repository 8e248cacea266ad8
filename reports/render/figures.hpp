// What the tables of a run show: the columns, their units, and every cell as text. How the cells
// are laid out is the business of each format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/run.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::render {

/// "1,234,567"
[[nodiscard]] std::string with_separators(std::uint64_t number);

/// Rounded to `decimals` digits after the point, with thousands separators: "12,345.68"; from 10^15
/// on with an exponent.
[[nodiscard]] std::string with_separators(double number, int decimals);

/// A count per iteration: three significant digits, whole numbers from 100 on, "0" for none.
[[nodiscard]] std::string rate(double per_iteration);

/// Three significant digits, with separators from a thousand on: 0.00031 is not lost.
[[nodiscard]] std::string three_digits(double number);

/// Three significant digits and a prefix of the SI: "5 G", "12.5 k", "0.31". Where a unit follows,
/// it is put after it: "5 GB/s".
[[nodiscard]] std::string with_prefix(double number);

/// The unit of all times of one table, so that they can be compared down a column.
struct TimeUnit {
  std::string_view name;  ///< "ns", "µs", "ms" or "s"
  double ns = 1;
  int decimals = 0;  ///< so many that the shortest time has four digits
};

/// The largest unit in which the shortest of the times is at least 1.
[[nodiscard]] TimeUnit time_unit(double shortest_ns);

/// "32.63" in that unit.
[[nodiscard]] std::string time_in(const TimeUnit& unit, double ns);

/// "32.63 µs", in that unit, or in the one that suits it.
[[nodiscard]] std::string time_text(double ns, const TimeUnit& unit);
[[nodiscard]] std::string time_text(double ns);

/// "32.63 … 33.01 µs"
[[nodiscard]] std::string time_range(double least_ns, double most_ns, const TimeUnit& unit);

/// In ns: four significant digits at most, and no more than two after the point; a dash for none.
[[nodiscard]] std::string ns_cell(std::optional<double> ns);

struct Column {
  std::string_view title;        ///< "context switches"
  std::string_view short_title;  ///< the same where room is short
  std::string unit;              ///< "µs", "/iter"
  std::string meaning;           ///< half a sentence; empty where the title says it all
  bool is_counter = false;       ///< per iteration, rather than a time
};

struct Row {
  const model::Case* measured = nullptr;
  stats::CaseSummary summary;
  std::vector<std::string> cells;  ///< one a column; an en dash for what was not measured
  double spread_percent = 0;       ///< MAD over median
};

/// Cases of one workload.
struct Group {
  std::string workload;
  std::vector<Row> rows;
};

struct Figures {
  std::vector<Column> columns;
  std::vector<Group> groups;                   ///< in the order in which workloads first appear
  std::vector<const model::Case*> failed;      ///< with an error
  std::vector<const model::Case*> unmeasured;  ///< without error and without a repetition
  [[nodiscard]] bool empty() const { return groups.empty(); }
};

/// The figures point into `run`, which must outlive them.
[[nodiscard]] Figures figures(const model::Run& run);

/// Parameters that are not at their default, as the case's name tells them: "depth:500"; empty when
/// all are.
[[nodiscard]] std::string changed_parameters(const model::Case& measured);

/// Paragraphs that say what the figures rest on and what the columns mean, under the titles that
/// the reader sees.
[[nodiscard]] std::vector<std::string> explanation(const Figures& figures, bool short_titles);

/// One line: on what machine, with what build; empty when nothing is known.
[[nodiscard]] std::string provenance(const model::Environment& environment);

}  // namespace taskbench::reports::render
