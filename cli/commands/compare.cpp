// `taskbench compare`: result files of Google Benchmark against each other.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <stdexcept>

#include "cli/commands/command.hpp"
#include "cli/options/verdict_options.hpp"
#include "cli/output/equal_files.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/signals.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/terminal.hpp"
#include "reports/json/answers.hpp"
#include "reports/json/reader.hpp"
#include "reports/render/file_columns.hpp"
#include "reports/render/files.hpp"
#include "reports/render/render.hpp"
#include "reports/stats/shift.hpp"
#include "reports/verdict/file_columns.hpp"
#include "reports/verdict/files.hpp"

namespace taskbench::cli {

struct CompareFormat {
  std::string_view name;
  std::string (*render)(const verdict::FilesReport& report, const render::TableStyle& style);
  std::string (*render_columns)(const verdict::ColumnsReport& report,
                                const render::TableStyle& style);
};

namespace {

/// OLD and NEW of each --map.
using Mapping = std::vector<std::pair<std::string, std::string>>;

struct NamedFiles {
  std::string name;
  Strings paths;
};

constexpr double kShownAfterS = 2;
constexpr double kShownEveryS = 0.2;

/// For the formats that are the same in any width.
template <class Report, std::string (*Render)(const Report&)>
std::string without_style(const Report& report, const render::TableStyle&) {
  return Render(report);
}
using Files = verdict::FilesReport;
using Columns = verdict::ColumnsReport;

constexpr std::array<CompareFormat, 4> kCompareFormats{{
    {"table", render::table, render::table},
    {"markdown", without_style<Files, render::markdown>, without_style<Columns, render::markdown>},
    {"csv", without_style<Files, render::csv>, without_style<Columns, render::csv>},
    {"json", without_style<Files, json::to_json>, without_style<Columns, json::to_json>},
}};

/// Says from time to time how far it is.
class ComparisonProgress {
 public:
  void show(std::string_view what, std::size_t done, std::size_t of) {
    const double elapsed_s = line_.elapsed_s();
    if (elapsed_s < shown_s_ + kShownEveryS) return;
    shown_s_ = std::max(elapsed_s, kShownAfterS);
    line_.show(fmt::format("{} of {} {}", done, of, what));
  }
  void clear() { line_.clear(); }

 private:
  double shown_s_ = kShownAfterS - kShownEveryS;
  ProgressLine line_{progress_style(false)};
};

void rename_benchmarks(model::Run& file, const Mapping& mapping, const std::string& path) {
  try {
    verdict::rename_all(file, mapping);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--map: {}: {}; use --by to compare benchmarks of one file", path,
                                 error.what()));
  }
}

std::vector<model::Run> read_files(const Strings& paths, const Mapping& mapping,
                                   ComparisonProgress& progress) {
  std::vector<model::Run> files;
  for (const std::string& path : paths) {
    progress.show("files read", files.size(), paths.size());
    try {
      files.push_back(json::read_result_file(path));
    } catch (const json::ReadError& error) {
      throw UsageError(error.what());
    }
    if (!mapping.empty()) rename_benchmarks(files.back(), mapping, path);
    if (files.back().partial) print_note(fmt::format("{} is of a run that was interrupted", path));
  }
  return files;
}

/// One file that is given several times would count as several processes.
void refuse_repeated(std::string_view option, const Strings& paths) {
  if (const auto equal = first_equal_files(paths)) {
    throw UsageError(
        fmt::format("{}: {} and {} are the same result, of one process; name a file of another "
                    "process, or leave one out",
                    option, equal->first, equal->second));
  }
}

Mapping parse_mapping(std::string_view option, const Strings& given) {
  Mapping mapping;
  for (const std::string& each : given) {
    const auto equals = each.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw UsageError(fmt::format(
          "{}: '{}' is not OLD=NEW: parts of a benchmark's name, such as workers:1=workers:2",
          option, each));
    }
    mapping.emplace_back(each.substr(0, equals), each.substr(equals + 1));
  }
  return mapping;
}

constexpr std::size_t kMostShownNames = 10;

std::string shown_names(const Strings& names) {
  const std::size_t shown = std::min(names.size(), kMostShownNames);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + std::ptrdiff_t(shown), ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

/// With the names of both sides, and two of them that may have been meant for one another.
[[noreturn]] void refuse_nothing_in_common(const verdict::FilesReport& report) {
  std::string hint;
  const std::vector<std::string_view> head(
      report.only_head.begin(),
      report.only_head.begin() +
          std::ptrdiff_t(std::min(report.only_head.size(), 10 * kMostShownNames)));
  for (std::size_t i = 0; i < std::min(report.only_base.size(), kMostShownNames); ++i) {
    const auto near = nearest(report.only_base[i], head);
    if (!near) continue;
    hint = fmt::format("; '{}' is near '{}': --map OLD=NEW renames parts of the first side's names",
                       report.only_base[i], *near);
    break;
  }
  throw UsageError(fmt::format(
      "the two sides have no benchmark in common; the first has {}; the second has {}{}",
      shown_names(report.only_base), shown_names(report.only_head), hint));
}

void refuse_repeated_files(std::string_view option, const Strings& paths) {
  try {
    refuse_repeated(option, paths);
  } catch (const fs::filesystem_error& error) {
    throw UsageError(error.what());
  }
}

verdict::FilesReport compared(const Strings& base, const Strings& head, const Mapping& mapping,
                              const verdict::FilesPolicy& policy) {
  ComparisonProgress progress;
  const auto base_files = read_files(base, mapping, progress);
  const auto head_files = read_files(head, {}, progress);
  refuse_repeated_files("--base", base);
  refuse_repeated_files("--head", head);
  auto report = verdict::compare_files(
      base_files, head_files, policy,
      [&](std::size_t done, std::size_t of) { progress.show("benchmarks compared", done, of); });
  progress.clear();
  if (report.rows.empty()) refuse_nothing_in_common(report);
  return report;
}

/// NAME=FILE[,FILE...]
std::vector<NamedFiles> parse_columns(std::string_view option, const Strings& given) {
  std::vector<NamedFiles> columns;
  for (const std::string& each : given) {
    const auto equals = each.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw UsageError(fmt::format("{}: '{}' is not NAME=FILE[,FILE...]", option, each));
    }
    columns.push_back({each.substr(0, equals), parse_list(option, {each.substr(equals + 1)})});
  }
  return columns;
}

/// "old" for results/old.json, where no other file is called that.
std::vector<NamedFiles> column_each(const Strings& paths) {
  std::map<std::string, int> stems;
  const auto stem = [](const std::string& path) { return fs::path(path).stem().string(); };
  for (const std::string& path : paths) ++stems[stem(path)];
  std::vector<NamedFiles> columns;
  for (const std::string& path : paths) {
    columns.push_back({stems[stem(path)] == 1 ? stem(path) : path, {path}});
  }
  return columns;
}

std::vector<verdict::Column> read_columns(const std::vector<NamedFiles>& given,
                                          const Mapping& mapping) {
  ComparisonProgress progress;
  Strings all;
  for (const NamedFiles& each : given) {
    all.insert(all.end(), each.paths.begin(), each.paths.end());
  }
  std::vector<verdict::Column> columns;
  for (const NamedFiles& each : given) {
    columns.push_back({each.name, read_files(each.paths, mapping, progress)});
  }
  refuse_repeated_files("compare", all);
  return columns;
}

std::vector<verdict::Column> columns_by(const std::string& key, const Strings& paths,
                                        const Mapping& mapping) {
  ComparisonProgress progress;
  const auto files = read_files(paths, mapping, progress);
  refuse_repeated_files("compare", paths);
  verdict::Split split;
  try {
    split = verdict::split_by(files, key);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--by {}: {}", key, error.what()));
  }
  if (!split.without.empty() && !split.columns.empty()) {
    print_note(fmt::format("left out, since their names have no '{}': {}", key,
                           shown_names(split.without)));
  }
  if (split.columns.size() < 2) {
    throw UsageError(fmt::format(
        "--by {}: the names have {} value{} of it, and it takes two to compare; there are {}", key,
        split.columns.size(), split.columns.size() == 1 ? "" : "s",
        split.columns.empty() ? shown_names(split.without) : split.columns.front().name));
  }
  return std::move(split.columns);
}

class CompareCommand final : public Command {
 public:
  CompareCommand();
  void declare(Options& options) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  [[nodiscard]] verdict::FilesPolicy policy() const;
  [[nodiscard]] ExitCode compare_in_columns() const;
  /// Prints the text, and says by the exit code what the report says.
  [[nodiscard]] ExitCode told(const verdict::FilesReport& report, std::string_view text) const;

  Strings files_;
  Strings base_;
  Strings head_;
  std::vector<NamedFiles> columns_;
  std::optional<std::string> by_;
  Mapping mapping_;
  const CompareFormat* format_;
  VerdictOptions verdict_;
};

void CompareCommand::declare(Options& options) {
  options.app().description(
      "Compare result files of Google Benchmark, taskbench's own among them.\n\n"
      "A file is one process, whose repetitions are not independent samples: two files give "
      "ratios, but a verdict takes several files a side. `taskbench ab` measures what one takes by "
      "itself. Three files or more, --column and --by give a table with a column for each: no "
      "verdict, but the changes against the first, and which of them the files can show.");
  options.app().footer(
      "Examples:\n"
      "  taskbench compare old.json new.json\n"
      "  taskbench compare --base old1.json,old2.json,old3.json,old4.json,old5.json \\\n"
      "      --head new1.json,new2.json,new3.json,new4.json,new5.json --format markdown\n"
      "  taskbench compare monday.json tuesday.json wednesday.json\n"
      "  taskbench compare --column old=o1.json,o2.json,... --column new=n1.json,n2.json,...\n"
      "  taskbench compare result.json --by scheduler\n\n"
      "Exit status: 0 pass, or columns, 1 slower, 2 usage or input error, 3 inconclusive, 4 files "
      "of different machines, 5 a benchmark had failed.");
  options.value("FILE", files_, "FILE", AsGiven{Path::offered()},
                "Two files: what is compared with, and what may be slower. More: each is a "
                "column.");
  options.group("What to compare");
  options.value("--base", base_, "FILE[,FILE...]", List{OptionValues::Kind::file},
                "In place of the first file: several.");
  options.value("--head", head_, "FILE[,FILE...]", List{OptionValues::Kind::file},
                "In place of the second file: several.");
  options.value("--column", columns_, "NAME=FILE[,FILE...]", By{parse_columns},
                "A column of several processes; give it once a column. The first is what the "
                "others are compared with.");
  options.value("--by", by_, "KEY", Text{.may_be_empty = true},
                "A column for each value that the benchmarks' names have for KEY: workers, "
                "scheduler, threads. Each file is one process.");
  options.value("--map", mapping_, "OLD=NEW", By{parse_mapping},
                "Rename parts of the names between slashes, workers:1=workers:2, before benchmarks "
                "are paired: of the first side, or of all columns. Without NEW the part is left "
                "out. Can be given several times.");
  verdict_.declare(options);
  options.group("Output");
  options.value(
      "--format", format_, "FORMAT", Choice<CompareFormat>{"format", kCompareFormats},
      fmt::format("Form of the answer: {}.", fmt::join(row_names(kCompareFormats), ", ")));
}

CompareCommand::CompareCommand() : format_(kCompareFormats.data()) {}

ExitCode CompareCommand::execute(const Invocation&) {
  Strings base = base_;
  Strings head = head_;
  const bool has_sides = !base.empty() || !head.empty();
  const bool has_columns = !columns_.empty() || by_ || files_.size() > 2;
  if (has_columns) {
    const int ways = int{!columns_.empty()} + int{!files_.empty()} + int{has_sides};
    if (ways != 1 || has_sides || (by_ && files_.empty())) {
      throw UsageError(
          "columns come from FILE..., from --by KEY FILE..., or from --column NAME=FILE,... given "
          "several times, and not from more than one of these");
    }
    exit_on_signals();
    return compare_in_columns();
  }
  const bool by_options = !base.empty() && !head.empty() && files_.empty();
  const bool by_place = !has_sides && files_.size() == 2;
  if (!by_options && !by_place) {
    throw UsageError(
        "compare takes two files or more, --column NAME=FILE,..., or --base FILE,... and --head "
        "FILE,...; which of several files belong together, it cannot guess");
  }
  if (by_place) {
    base = {files_[0]};
    head = {files_[1]};
  }
  if (std::max(base.size(), head.size()) > stats::kMaxShiftSample) {
    throw UsageError(fmt::format("at most {} files a side are compared", stats::kMaxShiftSample));
  }
  exit_on_signals();
  const verdict::FilesReport report = compared(base, head, mapping_, policy());
  render::TableStyle style = table_style(STDOUT_FILENO);
  style.colour = false;
  return told(report, format_->render(report, style));
}

ExitCode CompareCommand::compare_in_columns() const {
  const std::vector<NamedFiles> given = columns_.empty() ? column_each(files_) : columns_;
  if (!by_ && given.size() < 2) throw UsageError("--column: give it twice or more");
  for (const NamedFiles& each : given) {
    if (each.paths.size() > stats::kMaxShiftSample) {
      throw UsageError(
          fmt::format("at most {} files a column are compared", stats::kMaxShiftSample));
    }
  }
  if (by_ && files_.size() > stats::kMaxShiftSample) {
    throw UsageError(
        fmt::format("at most {} files are compared --by a key", stats::kMaxShiftSample));
  }
  const auto report = verdict::compare_columns(
      by_ ? columns_by(*by_, files_, mapping_) : read_columns(given, mapping_), verdict_.alpha());
  if (report.rows.empty()) throw UsageError("the files have no times that could be compared");
  render::TableStyle style = table_style(STDOUT_FILENO);
  style.colour = false;
  if (!print_result(format_->render_columns(report, style))) return ExitCode::usage;
  if (!report.machine_differs.empty()) return ExitCode::wrong_machine;
  return report.failed.empty() ? ExitCode::pass : ExitCode::measured_program_failed;
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
  return verdict_.exit_code(report.overall, report.could_fail);
}

}  // namespace

std::unique_ptr<Command> compare_command() { return std::make_unique<CompareCommand>(); }

}  // namespace taskbench::cli
