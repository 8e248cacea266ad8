#include "cli/output/report_writer.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <system_error>

#include "cli/output/output.hpp"
#include "cli/output/progress_line.hpp"
#include "reports/files/atomic_file.hpp"
#include "reports/files/file_content.hpp"
#include "reports/render/html.hpp"
#include "workloads/measure/process.hpp"

namespace taskbench::cli {
namespace {

using measure::ProcessOutcome;

constexpr const char* kPage = "index.html";
constexpr const char* kMarkdown = "report.md";
constexpr std::size_t kReportBytes = 1 << 20;  // most of it the plots

/// "out/" is "out"; "." and "/" stay.
fs::path without_trailing_slash(const fs::path& path) {
  fs::path normal = path.lexically_normal();
  return normal.has_filename() || !normal.has_parent_path() || normal == normal.root_path()
             ? normal
             : normal.parent_path();
}

std::string advice(const std::error_code& why) {
  switch (why.value()) {
    case EACCES:
    case EPERM:
      return "permission denied; change its permissions, or name another folder";
    case EROFS:
      return "it is on a read-only file system; name a folder elsewhere";
    case ENOSPC:
    case EDQUOT:
      return "no space is left on the disk; free some, or name a folder elsewhere";
    case ENAMETOOLONG:
      return "the name is too long; name another folder";
    default:
      return why.message();
  }
}

/// A folder of files that is written whole: into a temporary folder first, on the same disk, and
/// from there by renaming.
class ReportFolder {
 public:
  /// Makes the temporary folder: in `target` when that exists, else beside it. Throws UsageError
  /// when a report could not be put there.
  explicit ReportFolder(fs::path target);
  ReportFolder(const ReportFolder&) = delete;
  ReportFolder& operator=(const ReportFolder&) = delete;
  /// Leaves nothing behind of what was not published.
  ~ReportFolder();

  /// Where files are to be written before they are published.
  [[nodiscard]] const fs::path& temporary() const { return temporary_; }

  /// A file below the temporary folder. Throws UsageError.
  void write(const fs::path& name, std::string_view content) const;

  /// A folder below the temporary folder. Throws UsageError.
  void make_folder(const fs::path& name) const;

  /// A new target appears at once, with all files. In one that exists file after file is replaced,
  /// `last` after all others; its other files stay. Throws UsageError.
  void publish(const fs::path& last);

 private:
  [[noreturn]] void refuse(std::string_view what, const std::error_code& why) const;
  void check_target() const;
  void move_into_target(const fs::path& last) const;

  fs::path target_;
  fs::path temporary_;
};

ReportFolder::ReportFolder(fs::path target) : target_(without_trailing_slash(target)) {
  check_target();
  std::error_code failed;
  fs::path beside = target_;
  if (!fs::is_directory(target_, failed)) {
    beside = target_.parent_path().empty() ? fs::path(".") : target_.parent_path();
    if (!fs::is_directory(beside, failed)) {
      throw UsageError(
          fmt::format("cannot write the report to \"{}\": there is no folder \"{}\"; create it, or "
                      "name another",
                      target_.string(), beside.string()));
    }
  }
  for (int attempt = 0;; ++attempt) {
    const fs::path candidate =
        beside / fmt::format(".taskbench-report-{}-{}.tmp", ::getpid(), attempt);
    if (fs::create_directory(candidate, failed)) {
      temporary_ = candidate;
      return;
    }
    constexpr int kAttempts = 100;  // what a killed process of the same number has left behind
    if (failed || attempt == kAttempts) refuse("", failed);
  }
}

ReportFolder::~ReportFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

void ReportFolder::refuse(std::string_view what, const std::error_code& why) const {
  throw UsageError(
      fmt::format("cannot write the report to \"{}\"{}: {}", target_.string(), what, advice(why)));
}

void ReportFolder::check_target() const {
  std::error_code failed;
  const auto status = fs::status(target_, failed);
  if (status.type() == fs::file_type::not_found) return;
  if (status.type() == fs::file_type::none) refuse("", failed);
  if (!fs::is_directory(status)) {
    throw UsageError(fmt::format("cannot write the report to \"{}\": it is a file; name a folder",
                                 target_.string()));
  }
}

void ReportFolder::write(const fs::path& name, std::string_view content) const {
  const auto outcome = files::write_atomically(temporary_ / name, content);
  if (!outcome.ok()) {
    throw UsageError(
        fmt::format("the report in \"{}\" was not written: {}", target_.string(), outcome.error));
  }
}

void ReportFolder::make_folder(const fs::path& name) const {
  std::error_code failed;
  fs::create_directory(temporary_ / name, failed);
  if (failed) refuse("", failed);
}

void ReportFolder::publish(const fs::path& last) {
  std::error_code failed;
  if (!fs::exists(target_, failed)) {
    fs::rename(temporary_, target_, failed);
    if (!failed) {
      temporary_.clear();
      return;
    }
    if (!fs::is_directory(target_)) refuse("", failed);  // else somebody has made it since
  }
  move_into_target(last);
}

void ReportFolder::move_into_target(const fs::path& last) const {
  std::vector<fs::path> files;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::recursive_directory_iterator(temporary_)) {
    const fs::path name = entry.path().lexically_relative(temporary_);
    (entry.is_directory() ? folders : files).push_back(name);
  }
  std::ranges::sort(files, {}, [&](const fs::path& name) { return std::pair(name == last, name); });
  // All that can be known before the first file is replaced.
  std::error_code failed;
  for (const fs::path& name : folders) {
    const fs::path there = target_ / name;
    if (fs::exists(there, failed) && !fs::is_directory(there, failed)) {
      refuse(fmt::format(", where \"{}\" is a file", name.string()),
             std::make_error_code(std::errc::not_a_directory));
    }
  }
  for (const fs::path& name : files) {
    if (fs::is_directory(target_ / name, failed)) {
      refuse(fmt::format(", where \"{}\" is a folder", name.string()),
             std::make_error_code(std::errc::is_a_directory));
    }
  }
  for (const fs::path& name : folders) {
    fs::create_directory(target_ / name, failed);
    if (failed) refuse(fmt::format(", folder \"{}\"", name.string()), failed);
  }
  for (const fs::path& name : files) {
    fs::rename(temporary_ / name, target_ / name, failed);
    if (failed) refuse(fmt::format(", file \"{}\"", name.string()), failed);
  }
}

struct DrawnPlots {
  std::map<std::string, render::DrawnPlot> plots;  ///< all that were asked for, by name
  std::size_t missing = 0;
  std::string reason;  ///< why the first of those is missing
  bool interrupted = false;
};

constexpr std::string_view kMissing =
    "gnuplot is not installed; on Debian and Ubuntu the package gnuplot-nox provides it.";
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

/// Into `folder`, where each plot's NAME.gp and NAME.dat already lie: NAME.svg and NAME.png, both
/// or neither. A gnuplot that is missing, or that hangs, is not asked for the other plots.
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
