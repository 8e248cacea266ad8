// Draws the plots of a report with gnuplot.
#pragma once

#include <map>

#include "cli/names.hpp"
#include "cli/output/progress_line.hpp"
#include "reports/render/document.hpp"

namespace taskbench::cli {

inline constexpr double kDefaultPlotTimeoutS = 60;

struct DrawnPlots {
  std::map<std::string, render::DrawnPlot> plots;  ///< all that were asked for, by name
  std::size_t missing = 0;
  std::string reason;  ///< why the first of those is missing
  bool interrupted = false;
};

/// Into `folder`, where each plot's NAME.gp and NAME.dat already lie: NAME.svg and NAME.png, both
/// or neither. A gnuplot that is missing, or that hangs, is not asked for the other plots.
[[nodiscard]] DrawnPlots draw_plots(const std::vector<render::Plot>& plots, const fs::path& folder,
                                    double timeout_s, ProgressLine& progress,
                                    const std::stop_token& stop);

}  // namespace taskbench::cli
