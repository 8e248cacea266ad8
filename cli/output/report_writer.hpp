// Writes a report: the page, the same as Markdown, and the plots.
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
  std::vector<ReportFile> files{};  ///< that stand beside the page
  bool keeps_gnuplot = false;       ///< what the plots are drawn from stays beside them
  double plot_timeout_s = 60;
  bool quiet = false;
  bool write_if_interrupted = false;  ///< with the plots that were drawn by then
};

/// Throws UsageError when no report can be written to `folder` now.
void refuse_unwritable_report(const fs::path& folder);

/// Writes index.html, report.md and plots/, whole or not at all. Plots that cannot be drawn are
/// replaced by a sentence, and that is noted on standard error. Throws UsageError.
ExitCode write_report(const render::Document& document, const ReportRequest& request,
                      const std::stop_token& stop);

}  // namespace taskbench::cli
