// A ladder as a document with plots.
#pragma once

#include "reports/model/ladder.hpp"
#include "reports/render/document.hpp"
#include "reports/verdict/ladder.hpp"

namespace taskbench::reports::render {

/// For each workload a table: the time on each rung, the gain of the step to it with its interval,
/// and the gain of all steps so far; below it the total next to that of "Making the Tokio scheduler
/// 10x faster", and a waterfall. A step without a certain gain is a dash.
[[nodiscard]] Document document(const model::Ladder& ladder);

/// The waterfall: a row for each rung, with a bar from the gain of the steps before to that with
/// this step; below it the total, and that of "Making the Tokio scheduler 10x faster".
[[nodiscard]] Plot waterfall(const model::Ladder& ladder, const verdict::LadderVerdict& verdict);

}  // namespace taskbench::reports::render
