#include "cli/output/report_writer.hpp"

#include <system_error>

#include "cli/output/report_folder.hpp"
#include "cli/output/streams.hpp"
#include "reports/files/atomic_file.hpp"
#include "reports/render/document.hpp"
#include "reports/render/html.hpp"

namespace taskbench::cli {
namespace {

constexpr const char* kPage = "index.html";
constexpr const char* kMarkdown = "report.md";
constexpr std::size_t kReportBytes = 1 << 20;  // most of it the plots

DrawnPlots draw(const render::Document& document, const ReportRequest& request,
                const ReportFolder& folder, const std::stop_token& stop) {
  const fs::path plots = render::kPlotFolder;
  folder.make_folder(plots);
  for (const render::Plot& plot : document.plots) {
    folder.write(plots / (plot.name + ".gp"), plot.script);
    folder.write(plots / (plot.name + ".dat"), plot.data);
  }
  ProgressLine progress(progress_style(request.quiet));
  const fs::path there = folder.temporary() / plots;
  DrawnPlots drawn = draw_plots(document.plots, there, request.plot_timeout_s, progress, stop);
  if (!request.keeps_gnuplot) {
    std::error_code ignored;
    for (const render::Plot& plot : document.plots) {
      fs::remove(there / (plot.name + ".gp"), ignored);
      fs::remove(there / (plot.name + ".dat"), ignored);
    }
    if (fs::is_empty(there, ignored)) fs::remove(there, ignored);
  }
  return drawn;
}

}  // namespace

void refuse_unwritable_report(const fs::path& folder) {
  const ReportFolder trial(folder);
  const auto outcome = files::check_writable(trial.temporary() / kPage, kReportBytes);
  if (!outcome.ok()) {
    throw UsageError(
        fmt::format("no report can be written to \"{}\": {}", folder.string(), outcome.error));
  }
}

ExitCode write_report(const render::Document& document, const ReportRequest& request,
                      const std::stop_token& stop) {
  ReportFolder folder(request.folder);
  const DrawnPlots drawn = draw(document, request, folder, stop);
  if (drawn.interrupted && !request.write_if_interrupted) return ExitCode::interrupted;
  for (const ReportFile& file : request.files) folder.write(file.name, file.content);
  folder.write(kMarkdown, render::markdown(document, drawn.plots));
  folder.write(kPage, render::html(document, drawn.plots));
  const bool is_late = stop.stop_requested();
  if (is_late && !request.write_if_interrupted) return ExitCode::interrupted;
  folder.publish(kPage);
  if (drawn.missing > 0 && !request.quiet) {
    print_note(fmt::format("{} of {} plots were not drawn: {}", drawn.missing,
                           document.plots.size(), drawn.reason));
  }
  if (!request.quiet) print_note(fmt::format("wrote {}", (request.folder / kPage).string()));
  return drawn.interrupted ? ExitCode::interrupted : ExitCode::pass;
}

}  // namespace taskbench::cli
