// A ladder as a table and as a page with plots.
#pragma once

#include <string>

#include "reports/model/ladder.hpp"
#include "reports/render/document.hpp"
#include "reports/render/render.hpp"
#include "reports/verdict/ladder.hpp"

namespace taskbench::reports::render {

/// A table for each workload: the time on each rung, the gain of the step to it with its interval,
/// and the gain of all steps so far; below it the total next to that of "Making the Tokio scheduler
/// 10x faster". A step without a certain gain is a dash.
[[nodiscard]] std::string table(const model::Ladder& ladder, const TableStyle& style);

/// The tables with a waterfall of each workload, as a page.
[[nodiscard]] Document document(const model::Ladder& ladder);

/// The waterfall: a row for each rung, with a bar from the gain of the steps before to that with
/// this step; below it the total, and that of "Making the Tokio scheduler 10x faster".
[[nodiscard]] Plot waterfall(const model::Ladder& ladder, const verdict::LadderVerdict& verdict);

}  // namespace taskbench::reports::render
