// The tables of a run: the columns, their units, and every cell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/model/run.hpp"
#include "reports/render/document.hpp"

namespace taskbench::reports::render {

/// The figures of a run: times, context switches and counters of the scheduler. Cases without a
/// complete repetition have no row.
[[nodiscard]] Table figures(const model::Run& run);

/// Observations that workloads made of themselves, in a table for each such workload: medians over
/// the repetitions.
[[nodiscard]] std::vector<Table> observations(const model::Run& run);

// The title of an observation: "all_busy" for "all_busy_ns", which is a time.
[[nodiscard]] std::string_view observed_title(std::string_view name);
[[nodiscard]] bool is_time(std::string_view name);

/// Parameters that differ from their defaults, as in the case's name: "depth:500"; empty if there
/// are none.
[[nodiscard]] std::string changed_parameters(const model::Case& measured);

/// Important facts about the run: cases without figures, an incomplete run, and one of little
/// value.
[[nodiscard]] std::vector<Paragraph> notices(const model::Run& run);

/// "work_stealing, 2 workers", if that applies to all figures; otherwise empty.
[[nodiscard]] std::string common_engine(const model::Run& run);

/// The basis of the figures: "Each figure is the median of 9 repetitions; …"; empty if there are
/// none.
[[nodiscard]] std::string basis(const model::Run& run);

/// The machine and the build, on one line; empty if nothing is known.
[[nodiscard]] std::string provenance(const model::Environment& environment);

/// "Some CPU, 2 CPUs" and `more`, as far as known.
[[nodiscard]] std::string machine_text(const std::string& name, std::int64_t cpus,
                                       const std::vector<std::string>& more);

}  // namespace taskbench::reports::render
