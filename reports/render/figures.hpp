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
  std::string_view short_title;  ///< the same where room is short
  std::string unit;              ///< "µs", "/iter"; may be empty
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

/// What workloads observed of themselves, in a table for each that did: medians over the
/// repetitions. Point into `run` as well.
[[nodiscard]] std::vector<Figures> observations(const model::Run& run);

// What is shown of an observed value: "all_busy" of "all_busy_ns", which is a time.
[[nodiscard]] std::string_view observed_title(std::string_view name);
[[nodiscard]] bool is_time(std::string_view name);
[[nodiscard]] std::string observed_text(std::string_view name, double value);

/// Parameters that are not at their default, as the case's name tells them: "depth:500"; empty when
/// all are.
[[nodiscard]] std::string changed_parameters(const model::Case& measured);

/// "Failed", " ping_pong: no answer"; what else a reader must know of the run has no label.
struct Notice {
  std::string label;
  std::string text;
  Tone tone;
};

/// Of cases without figures, of a run that is not complete, and of one that means little.
[[nodiscard]] std::vector<Notice> notices(const model::Run& run, const Figures& figures);

/// Paragraphs that say what the figures rest on and what the columns mean, under the titles that
/// the reader sees.
[[nodiscard]] std::vector<std::string> explanation(const Figures& figures, bool short_titles);

/// One line: on what machine, with what build; empty when nothing is known.
[[nodiscard]] std::string provenance(const model::Environment& environment);

/// "Some CPU, 2 CPUs" and `more`, as far as they are known.
[[nodiscard]] std::string machine_text(const std::string& name, std::int64_t cpus,
                                       const std::vector<std::string>& more);

}  // namespace taskbench::reports::render
