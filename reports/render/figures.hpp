// What the tables of a run show: the columns, their units, and every cell as text. How the cells
// are laid out is the business of each format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/model/run.hpp"
#include "reports/render/tone.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::render {

struct Column {
  std::string_view title;        ///< "context switches"
  std::string_view short_title;  ///< for a narrow table
  std::string unit;              ///< "µs", "/iter"; may be empty
  std::string meaning;           ///< half a sentence; empty if the title says it all
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

/// The figures of a run. They point into `run`, which must outlive them.
[[nodiscard]] Figures figures(const model::Run& run);

/// What workloads observed of themselves, in a table for each such workload: medians over the
/// repetitions. These point into `run` as well.
[[nodiscard]] std::vector<Figures> observations(const model::Run& run);

// The title of an observed value: "all_busy" for "all_busy_ns", which is a time.
[[nodiscard]] std::string_view observed_title(std::string_view name);
[[nodiscard]] bool is_time(std::string_view name);
[[nodiscard]] std::string observed_text(std::string_view name, double value);

/// Parameters that differ from their default, as the case's name has them: "depth:500"; empty if
/// none does.
[[nodiscard]] std::string changed_parameters(const model::Case& measured);

/// Something that readers must know of the run: "Failed", " ping_pong: no answer". May have no
/// label.
struct Notice {
  std::string label;
  std::string text;
  Tone tone;
};

/// Notices of cases without figures, of an incomplete run, and of a run that means little.
[[nodiscard]] std::vector<Notice> notices(const model::Run& run, const Figures& figures);

/// Paragraphs that say what the figures rest on and what the columns mean, under the titles that
/// the reader sees.
[[nodiscard]] std::vector<std::string> explanation(const Figures& figures, bool short_titles);

/// The machine and the build, on one line; empty if nothing is known.
[[nodiscard]] std::string provenance(const model::Environment& environment);

/// "Some CPU, 2 CPUs" and `more`, as far as they are known.
[[nodiscard]] std::string machine_text(const std::string& name, std::int64_t cpus,
                                       const std::vector<std::string>& more);

}  // namespace taskbench::reports::render
