#include "cli/commands/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <utility>

#include "cli/equal_files.hpp"
#include "cli/near_miss.hpp"
#include "cli/progress_line.hpp"
#include "cli/signals.hpp"
#include "cli/streams.hpp"
#include "cli/terminal.hpp"
#include "cli/usage_error.hpp"
#include "cli/values.hpp"
#include "reports/json/reader.hpp"
#include "reports/render/files.hpp"
#include "reports/stats/shift.hpp"

namespace taskbench::cli {
namespace {

namespace json = reports::json;
namespace model = reports::model;
namespace render = reports::render;
namespace verdict = reports::verdict;
using Kind = OptionValues::Kind;

struct Format {
  std::string_view name;
  std::string (*render)(const verdict::FilesReport& report, const render::TableStyle& style);
};

constexpr double kShownAfterS = 2;
constexpr double kShownEveryS = 0.2;

constexpr std::array<Format, 4> kCompareFormats{{
    {"table", render::table},
    {"markdown", [](const verdict::FilesReport& report,
                    const render::TableStyle&) { return render::markdown(report); }},
    {"csv", [](const verdict::FilesReport& report,
               const render::TableStyle&) { return render::csv(report); }},
    {"json", [](const verdict::FilesReport& report,
                const render::TableStyle&) { return render::json(report); }},
}};

/// Says from time to time how far it is.
class ComparisonProgress {
 public:
  void show(std::string_view what, std::size_t done, std::size_t of) {
    const double elapsed_s = std::chrono::duration<double>(Clock::now() - begun_).count();
    if (elapsed_s < shown_s_ + kShownEveryS) return;
    shown_s_ = std::max(elapsed_s, kShownAfterS);
    line_.show(fmt::format("{} of {} {}", done, of, what), elapsed_s);
  }
  void clear() { line_.clear(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begun_ = Clock::now();
  double shown_s_ = kShownAfterS - kShownEveryS;
  ProgressLine line_{progress_style(false)};
};

std::vector<model::ResultFile> read_files(const std::vector<std::string>& paths,
                                          ComparisonProgress& progress) {
  std::vector<model::ResultFile> files;
  for (const std::string& path : paths) {
    progress.show("files read", files.size(), paths.size());
    try {
      files.push_back(json::read_result_file(path));
    } catch (const json::ReadError& error) {
      throw UsageError(error.what());
    }
    if (files.back().partial) print_note(fmt::format("{} is of a run that was interrupted", path));
  }
  return files;
}

/// One file that is given several times would count as several processes.
void refuse_repeated(std::string_view option, const std::vector<std::string>& paths) {
  if (const auto equal = first_equal_files(paths)) {
    throw UsageError(
        fmt::format("{}: {} and {} are the same result, of one process; name a file of another "
                    "process, or leave one out",
                    option, equal->first, equal->second));
  }
}

const Format& parse_format(const std::vector<std::string>& given) {
  const auto text = parse_single("--format", given);
  if (!text) return kCompareFormats.front();
  const auto found = std::ranges::find(kCompareFormats, *text, &Format::name);
  if (found != kCompareFormats.end()) return *found;
  std::array<std::string_view, kCompareFormats.size()> names{};
  std::ranges::transform(kCompareFormats, names.begin(), &Format::name);
  throw UsageError("--format: " + unknown_name("format", *text, names));
}

verdict::FilesReport compared(const std::vector<std::string>& base,
                              const std::vector<std::string>& head,
                              const verdict::FilesPolicy& policy) {
  ComparisonProgress progress;
  const auto base_files = read_files(base, progress);
  const auto head_files = read_files(head, progress);
  try {
    refuse_repeated("--base", base);
    refuse_repeated("--head", head);
  } catch (const std::filesystem::filesystem_error& error) {
    throw UsageError(error.what());
  }
  auto report = verdict::compare_files(
      base_files, head_files, policy,
      [&](std::size_t done, std::size_t of) { progress.show("benchmarks compared", done, of); });
  progress.clear();
  if (report.rows.empty()) {
    throw UsageError("the two sides have no benchmark in common; nothing can be compared");
  }
  return report;
}

}  // namespace

void CompareCommand::declare(CLI::App& app, OptionValueTable& values) {
  app.description(
      "Compare result files of Google Benchmark, taskbench's own among them.\n\n"
      "A file is one process, whose repetitions are no independent samples: two files give "
      "ratios,\n"
      "but a verdict takes several files a side. `taskbench ab` measures what one takes by "
      "itself.");
  app.footer(
      "Examples:\n"
      "  taskbench compare old.json new.json\n"
      "  taskbench compare --base old1.json,old2.json,old3.json,old4.json,old5.json \\\n"
      "      --head new1.json,new2.json,new3.json,new4.json,new5.json --format markdown\n"
      "\n"
      "Exit status: 0 pass, 1 slower, 2 usage or input error, 3 inconclusive, 4 files of "
      "different\n"
      "machines, 5 a benchmark had failed.");
  auto* files = app.add_option("FILE", files_,
                               "Two files: what is compared with, and what may be "
                               "slower.");
  auto* base =
      add_valued(app, "--base", base_, "FILE[,FILE...]", "In place of the first file: several.");
  auto* head =
      add_valued(app, "--head", head_, "FILE[,FILE...]", "In place of the second file: several.");
  for (const auto* option : {files, base, head}) values.set(option, {Kind::file, {}});
  for (auto* option : {base, head}) option->group("What to compare");

  verdict_.declare(app, values);

  const auto formats = row_names(kCompareFormats);
  auto* format = add_valued(app, "--format", format_, "FORMAT",
                            fmt::format("Form of the answer: {}.", fmt::join(formats, ", ")));
  format->default_str(formats.front());
  values.set(format, {Kind::one_of, formats});
  format->group("Output");
}

ExitCode CompareCommand::execute(const Invocation&) {
  verdict_.parse();
  const Format& format = parse_format(format_);
  std::vector<std::string> base = parse_list("--base", base_);
  std::vector<std::string> head = parse_list("--head", head_);
  const bool by_options = !base.empty() && !head.empty() && files_.empty();
  const bool by_place = base.empty() && head.empty() && files_.size() == 2;
  if (!by_options && !by_place) {
    throw UsageError(
        "compare takes two files, or --base FILE,... and --head FILE,...; which of several files "
        "belong together, it cannot guess");
  }
  if (by_place) {
    base = {files_[0]};
    head = {files_[1]};
  }
  if (std::max(base.size(), head.size()) > reports::stats::kMaxShiftSample) {
    throw UsageError(
        fmt::format("at most {} files a side are compared", reports::stats::kMaxShiftSample));
  }
  exit_on_signals();
  const verdict::FilesReport report = compared(base, head, policy());
  render::TableStyle style;
  style.width = columns(STDOUT_FILENO, style.width);
  return told(report, format.render(report, style));
}

verdict::FilesPolicy CompareCommand::policy() const {
  verdict::FilesPolicy policy;
  policy.alpha = verdict_.alpha();
  policy.delta = verdict_.delta();
  return policy;
}

ExitCode CompareCommand::told(const verdict::FilesReport& report, std::string_view text) const {
  if (!print_result(text)) return ExitCode::usage;
  if (!report.machine_differs.empty()) return ExitCode::wrong_machine;
  if (report.overall == verdict::Verdict::fail) return ExitCode::regression;
  if (!report.failed.empty()) return ExitCode::measured_program_failed;
  return verdict_.exit_code(report.overall);
}

}  // namespace taskbench::cli
