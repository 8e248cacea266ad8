#include "cli/output/report_writer.hpp"

#include <unistd.h>

#include <cerrno>
#include <map>
#include <system_error>
#include <tuple>

#include "cli/output/output.hpp"
#include "cli/output/progress_line.hpp"
#include "harness/os/atomic_file.hpp"
#include "harness/os/file_content.hpp"
#include "harness/os/left_behind.hpp"
#include "harness/os/process.hpp"
#include "reports/model/date.hpp"
#include "reports/render/html.hpp"

namespace taskbench::cli {
namespace {

constexpr const char* kPage = "index.html";
constexpr const char* kMarkdown = "report.md";
constexpr std::size_t kReportBytes = 1 << 20;  // mostly for the plots

/// Turns "out/" into "out"; "." and "/" stay.
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

/// A folder of files that is written as a whole: first into a temporary folder on the same disk,
/// which is then renamed.
class ReportFolder {
 public:
  /// Makes the temporary folder: in `target` if that exists, otherwise beside it. Throws UsageError
  /// if a report could not be put there.
  explicit ReportFolder(const fs::path& target) : target_(without_trailing_slash(target)) {
    std::error_code failed;
    const auto status = fs::status(target_, failed);
    if (status.type() == fs::file_type::none) refuse("", failed);
    const fs::path parent = target_.parent_path().empty() ? fs::path(".") : target_.parent_path();
    fs::path beside = target_;
    if (!fs::exists(status)) {
      beside = parent;
      if (!fs::is_directory(beside, failed)) {
        refuse(fmt::format(": there is no folder \"{}\"; create it, or name another",
                           beside.string()));
      }
    } else if (!fs::is_directory(status)) {
      refuse(": it is a file; name a folder");
    }
    // A killed report may have been the first to this folder, which did not exist yet.
    for (const fs::path& each : {parent, beside}) remove_left_behind(each, kBegin, kEnd);
    for (int attempt = 0; temporary_.empty(); ++attempt) {
      constexpr int kAttempts = 100;  // other processes of this number may have left some
      const fs::path candidate =
          beside / fmt::format("{}{}-{}{}", kBegin, ::getpid(), attempt, kEnd);
      if (fs::create_directory(candidate, failed)) {
        temporary_ = candidate;
        lock_ = lock_folder(candidate);
      } else if (failed || attempt == kAttempts) {
        refuse("", failed);
      }
    }
  }
  ReportFolder(const ReportFolder&) = delete;
  ReportFolder& operator=(const ReportFolder&) = delete;
  /// Removes all unpublished files.
  ~ReportFolder() {
    std::error_code ignored;
    if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
  }

  /// Where files are written before they are published.
  [[nodiscard]] const fs::path& temporary() const { return temporary_; }

  /// Writes a file below the temporary folder. Throws UsageError.
  void write(const fs::path& name, std::string_view content) const {
    const auto outcome = write_atomically(temporary_ / name, content);
    if (!outcome.ok()) refuse(": " + outcome.error);
  }

  /// Creates a folder below the temporary folder. Throws UsageError.
  void make_folder(const fs::path& name) const {
    std::error_code failed;
    fs::create_directory(temporary_ / name, failed);
    if (failed) refuse("", failed);
  }

  /// Moves the files to the target. A new target appears at once, with all files. In an existing
  /// one the files are replaced one by one, `last` after all others; its other files stay. Throws
  /// UsageError.
  void publish(const fs::path& last) {
    std::error_code failed;
    if (fs::exists(target_, failed)) return move_into_target(last);
    fs::rename(temporary_, target_, failed);
    if (!failed) {
      temporary_.clear();
    } else if (fs::is_directory(target_)) {  // created by someone else meanwhile
      move_into_target(last);
    } else {
      refuse("", failed);
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw UsageError(fmt::format("cannot write the report to \"{}\"{}", target_.string(), why));
  }

  [[noreturn]] void refuse(std::string_view what, const std::error_code& why) const {
    refuse(fmt::format("{}: {}", what, advice(why)));
  }

  void move_into_target(const fs::path& last) const {
    std::vector<std::pair<fs::path, bool>> entries;  // and whether each is a folder
    for (const auto& entry : fs::recursive_directory_iterator(temporary_)) {
      entries.emplace_back(entry.path().lexically_relative(temporary_), entry.is_directory());
    }
    std::ranges::sort(entries, {}, [&](const auto& entry) {
      return std::tuple(!entry.second, entry.first == last, entry.first);
    });
    std::error_code failed;
    // Everything that can be checked is checked before the first file is replaced.
    for (const auto& [name, is_folder] : entries) {
      const auto there = fs::status(target_ / name, failed);
      if (!fs::exists(there) || fs::is_directory(there) == is_folder) continue;
      refuse(
          fmt::format(", where \"{}\" is a {}", name.string(), is_folder ? "file" : "folder"),
          std::make_error_code(is_folder ? std::errc::not_a_directory : std::errc::is_a_directory));
    }
    for (const auto& [name, is_folder] : entries) {
      if (is_folder) {
        fs::create_directory(target_ / name, failed);
      } else {
        fs::rename(temporary_ / name, target_ / name, failed);
      }
      if (!failed) continue;
      refuse(fmt::format(", {} \"{}\"", is_folder ? "folder" : "file", name.string()), failed);
    }
  }

  static constexpr std::string_view kBegin = ".taskbench-report-";
  static constexpr std::string_view kEnd = ".tmp";

  fs::path target_;
  fs::path temporary_;
  Descriptor lock_;  // of the temporary folder
};

struct DrawnPlots {
  std::map<std::string, render::DrawnPlot> plots;  ///< all requested plots, by name
  std::size_t missing = 0;
  std::string reason;  ///< why the first missing plot is missing
  bool interrupted = false;
};

/// Checks for NAME.svg and NAME.png of NAME.gp in `folder`. If either is missing, removes both and
/// says why.
render::DrawnPlot result_of(const ProcessOutcome& outcome, const fs::path& folder,
                            const std::string& name) {
  // The ends of complete files: a full disk cuts them off, and gnuplot does not report that.
  constexpr std::string_view kSvgEnd = "</svg>";
  constexpr std::string_view kPngEnd{"IEND\xAE\x42\x60\x82", 8};
  const fs::path svg = folder / (name + ".svg");
  const fs::path png = folder / (name + ".png");
  std::string reason = "gnuplot did not finish the drawing; is the disk full?";
  if (outcome.ok()) {
    std::string drawing = read_file(svg).bytes;
    const bool svg_is_whole = drawing.find(kSvgEnd) != std::string::npos;
    if (svg_is_whole && read_file(png).bytes.ends_with(kPngEnd)) return {std::move(drawing), {}};
  } else if (outcome.end == ProcessOutcome::End::not_started && outcome.code == ENOENT) {
    reason = "gnuplot is not installed; on Debian and Ubuntu the package gnuplot-nox provides it.";
  } else {
    reason = fmt::format("gnuplot {}.", outcome.text());
  }
  std::error_code ignored;
  for (const auto& file : {svg, png}) fs::remove(file, ignored);
  return {{}, reason};
}

/// Draws each plot as SVG and PNG, or neither. If gnuplot is missing or hangs, the other plots are
/// not tried.
DrawnPlots draw(const std::vector<render::Plot>& plots, const ReportRequest& request,
                const ReportFolder& folder, const std::stop_token& stop) {
  using End = ProcessOutcome::End;
  const fs::path there = folder.temporary() / render::kPlotFolder;
  folder.make_folder(render::kPlotFolder);
  DrawnPlots result;
  ProgressLine progress(request.quiet);
  std::string gave_up;
  for (const render::Plot& plot : plots) {
    render::DrawnPlot& drawn = result.plots[plot.name];
    drawn.reason = gave_up;
    const fs::path script = fs::path(render::kPlotFolder) / (plot.name + ".gp");
    const fs::path data = fs::path(render::kPlotFolder) / (plot.name + ".dat");
    folder.write(script, plot.script);
    folder.write(data, plot.data);
    if (gave_up.empty()) {
      const auto show = [&](double) {
        progress.show("plot {}/{}, {} elapsed", result.plots.size(), plots.size(),
                      model::duration_text(progress.elapsed_s()));
      };
      show(0);
      // --default-settings ignores the user's own settings, which may change anything.
      const ProcessOutcome outcome =
          run_process({.command = {"gnuplot", "--default-settings", plot.name + ".gp"},
                       .environment = {"LC_ALL=C.UTF-8"},
                       .timeout_s = request.plot_timeout_s,
                       .waiting = show,
                       .folder = there.string()},
                      stop);
      drawn = result_of(outcome, there, plot.name);
      result.interrupted = result.interrupted || outcome.end == End::interrupted;
      const bool would_again = outcome.end == End::not_started || outcome.end == End::timed_out ||
                               outcome.end == End::interrupted;
      if (would_again) gave_up = drawn.reason;
    }
    std::error_code ignored;
    if (!request.keeps_gnuplot) {
      for (const auto& file : {script, data}) fs::remove(folder.temporary() / file, ignored);
    }
    if (!drawn.svg.empty()) continue;
    ++result.missing;
    if (result.reason.empty()) result.reason = drawn.reason;
  }
  std::error_code ignored;
  if (fs::is_empty(there, ignored)) fs::remove(there, ignored);
  return result;
}

}  // namespace

void refuse_unwritable_report(const fs::path& folder) {
  const ReportFolder trial(folder);
  const auto outcome = check_writable(trial.temporary() / kPage, kReportBytes);
  if (!outcome.ok()) {
    refuse("no report can be written to \"{}\": {}", folder.string(), outcome.error);
  }
}

ExitCode write_report(const render::Document& document, const ReportRequest& request,
                      const std::stop_token& stop) {
  ReportFolder folder(request.folder);
  const DrawnPlots drawn = draw(document.plots, request, folder, stop);
  if (drawn.interrupted && !request.write_if_interrupted) return ExitCode::interrupted;
  for (const ReportFile& file : request.files) folder.write(file.name, file.content);
  folder.write(kMarkdown, render::markdown(document, drawn.plots));
  folder.write(kPage, render::html(document, drawn.plots));
  const bool is_late = stop.stop_requested();
  if (is_late && !request.write_if_interrupted) return ExitCode::interrupted;
  folder.publish(kPage);
  if (drawn.missing > 0 && !request.quiet) {
    print_note("{} of {} plots were not drawn: {}", drawn.missing, document.plots.size(),
               drawn.reason);
  }
  if (!request.quiet) print_note("wrote {}", (request.folder / kPage).string());
  return drawn.interrupted ? ExitCode::interrupted : ExitCode::pass;
}

}  // namespace taskbench::cli
