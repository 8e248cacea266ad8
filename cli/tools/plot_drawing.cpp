#include "cli/tools/plot_drawing.hpp"

#include <cerrno>
#include <system_error>

#include "reports/files/file_content.hpp"
#include "workloads/measure/process.hpp"

namespace taskbench::cli {
namespace {

using measure::ProcessOutcome;

constexpr std::string_view kMissing =
    "gnuplot is not installed; on Debian and Ubuntu the package gnuplot-nox brings it.";
// What each file ends with: a full disk leaves less of it, and gnuplot does not mind.
constexpr std::string_view kSvgEnd = "</svg>";
constexpr std::string_view kPngEnd{"IEND\xAE\x42\x60\x82", 8};

std::string reason_of(const ProcessOutcome& outcome) {
  if (outcome.end == ProcessOutcome::End::not_started && outcome.code == ENOENT) {
    return std::string(kMissing);
  }
  return fmt::format("gnuplot {}.", outcome.text());
}

/// The drawing, or why there is none; then neither file is left.
render::DrawnPlot result_of(const ProcessOutcome& outcome, const fs::path& svg,
                            const fs::path& png) {
  if (outcome.ok()) {
    std::string drawing = files::read_file(svg).bytes;
    const bool svg_is_whole = drawing.find(kSvgEnd) != std::string::npos;
    if (svg_is_whole && files::read_file(png).bytes.ends_with(kPngEnd))
      return {std::move(drawing), {}};
  }
  std::error_code ignored;
  fs::remove(svg, ignored);
  fs::remove(png, ignored);
  return {{},
          outcome.ok() ? "gnuplot left no whole drawing; is the disk full?" : reason_of(outcome)};
}

}  // namespace

DrawnPlots draw_plots(const std::vector<render::Plot>& plots, const fs::path& folder,
                      double timeout_s, ProgressLine& progress, const std::stop_token& stop) {
  DrawnPlots result;
  std::string gave_up;
  for (std::size_t i = 0; i < plots.size(); ++i) {
    const std::string& name = plots[i].name;
    render::DrawnPlot& drawn = result.plots[name];
    if (gave_up.empty()) {
      const auto show = [&](double) {
        progress.show(fmt::format("plot {}/{}, {} elapsed", i + 1, plots.size(),
                                  duration_text(progress.elapsed_s())));
      };
      show(0);
      // --default-settings: without the user's own, which may change anything.
      const ProcessOutcome outcome =
          measure::run_process({.command = {"gnuplot", "--default-settings", name + ".gp"},
                                .environment = {"LC_ALL=C.UTF-8"},
                                .timeout_s = timeout_s,
                                .waiting = show,
                                .folder = folder.string()},
                               stop);
      drawn = result_of(outcome, folder / (name + ".svg"), folder / (name + ".png"));
      result.interrupted = result.interrupted || outcome.end == ProcessOutcome::End::interrupted;
      const bool would_again = outcome.end == ProcessOutcome::End::not_started ||
                               outcome.end == ProcessOutcome::End::timed_out ||
                               outcome.end == ProcessOutcome::End::interrupted;
      if (would_again) gave_up = drawn.reason;
    } else {
      drawn.reason = gave_up;
    }
    if (!drawn.svg.empty()) continue;
    ++result.missing;
    if (result.reason.empty()) result.reason = drawn.reason;
  }
  progress.clear();
  return result;
}

}  // namespace taskbench::cli
