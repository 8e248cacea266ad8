// The results of the individual machines of a merged trial: tables, plots and remarks.
#pragma once

#include <string>
#include <vector>

#include "reports/model/paired.hpp"
#include "reports/render/document.hpp"
#include "reports/render/plots.hpp"
#include "reports/render/sentences.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::render {

/// Number of benchmarks that are shown by machine: first those that fail, then the undecided, then
/// those whose machines differ most. The JSON has all.
inline constexpr std::size_t kMostByMachine = 3;
[[nodiscard]] std::vector<const verdict::BenchmarkVerdict*> shown_by_machine(
    const verdict::PairedReport& report);

/// A row for each machine that measured the benchmark, grouped by kind: the change there, its share
/// in the estimate, and the estimate without it.
[[nodiscard]] Table machines_table(const verdict::PairedReport& report,
                                   const verdict::BenchmarkVerdict& of, model::Unit unit);

/// A forest plot as text, followed by the table, for each benchmark that is shown; empty if the
/// trial is not merged.
[[nodiscard]] std::vector<Block> machines_blocks(const model::PairedTrial& trial,
                                                 const verdict::PairedReport& report);

/// The rows of a forest plot: the machines, and all of them together.
[[nodiscard]] std::vector<EffectRow> forest_rows(const verdict::PairedReport& report,
                                                 const verdict::BenchmarkVerdict& of);

/// Remarks on a merged trial: what is missing, the alternative verdict, effects that differ between
/// machines, and the benefit of another machine.
[[nodiscard]] Sentences machine_remarks(const model::PairedTrial& trial,
                                        const verdict::PairedReport& report);

/// How a merged trial was judged.
[[nodiscard]] std::string merged_basis(const model::PairedTrial& trial,
                                       const verdict::PairedReport& report);

}  // namespace taskbench::reports::render
