// Writes a report: the page, its Markdown, and the plots.
#pragma once

#include "cli/output/exit_code.hpp"
#include "cli/output/names.hpp"
#include "reports/render/document.hpp"

namespace taskbench::cli {

struct ReportFile {
  std::string name;
  std::string content;
};

struct ReportRequest {
  fs::path folder;
  std::vector<ReportFile> files{};  ///< further files beside the page
  bool keeps_gnuplot = false;       ///< keep the scripts and data of the plots beside them
  double plot_timeout_s = 60;
  bool quiet = false;
  bool write_if_interrupted = false;  ///< with the plots that were drawn by then
};

/// Throws UsageError if no report can be written to `folder` now.
void refuse_unwritable_report(const fs::path& folder);

/// Writes index.html, report.md and plots/, completely or not at all. Plots that cannot be drawn
/// are replaced by a sentence, with a note on standard error. Throws UsageError.
ExitCode write_report(const render::Document& document, const ReportRequest& request,
                      const std::stop_token& stop);

}  // namespace taskbench::cli
