// A ladder as a table and as a page with plots.
#pragma once

#include <string>

#include "reports/model/ladder.hpp"
#include "reports/render/document.hpp"
#include "reports/render/render.hpp"
#include "reports/verdict/ladder.hpp"

namespace taskbench::reports::render {

/// A table for each workload: the time on each rung, what the step to it gives, with its interval,
/// and what all steps up to it give; below it the total beside the document's. A step that does not
/// surely give anything is a dash.
[[nodiscard]] std::string table(const model::Ladder& ladder, const TableStyle& style);

/// The same with a waterfall of each workload.
[[nodiscard]] Document document(const model::Ladder& ladder);

/// The waterfall: a row for each rung, in it a bar from what the steps before give to what they
/// give with this one; below it the total and the document's.
[[nodiscard]] Plot waterfall(const model::Ladder& ladder, const verdict::LadderVerdict& verdict);

}  // namespace taskbench::reports::render
