// A report as Markdown, with links to its plots.
#pragma once

#include <map>
#include <string>

#include "reports/render/document.hpp"

namespace taskbench::reports::render {

/// Where the plots lie, seen from the report.
inline constexpr const char* kPlotFolder = "plots";

/// The same as html(document, plots), in GitHub's dialect. Plots are linked as files below
/// kPlotFolder.
[[nodiscard]] std::string markdown(const Document& document,
                                   const std::map<std::string, DrawnPlot>& plots);

}  // namespace taskbench::reports::render
