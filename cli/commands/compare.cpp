// `taskbench compare`: compares result files.
#include <map>

#include "cli/commands/command.hpp"
#include "cli/options/result_files.hpp"
#include "cli/options/trial_options.hpp"
#include "cli/output/output.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/signals.hpp"
#include "harness/files/near_miss.hpp"
#include "harness/files/stored.hpp"
#include "reports/json/reader.hpp"
#include "reports/json/writer.hpp"
#include "reports/render/numbers.hpp"
#include "reports/render/render.hpp"
#include "reports/render/sentences.hpp"
#include "reports/stats/shift.hpp"
#include "reports/verdict/file_columns.hpp"
#include "reports/verdict/files.hpp"

namespace taskbench::cli {

namespace {

/// The OLD and NEW of each --map.
using Mapping = std::vector<std::pair<std::string, std::string>>;

struct NamedFiles {
  std::string name;
  Strings paths;
};

/// Splits NAME=VALUE, where NAME is not empty; `form` describes both.
std::pair<std::string, std::string> split_assignment(std::string_view option,
                                                     const std::string& text,
                                                     std::string_view form) {
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) refuse("{}: '{}' is not {}", option, text, form);
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Mapping parse_mapping(std::string_view option, const Strings& given) {
  return each_of(given, [&](const std::string& each) {
    return split_assignment(option, each,
                            "OLD=NEW: parts of a benchmark's name, such as workers:1=workers:2");
  });
}

std::vector<NamedFiles> parse_columns(std::string_view option, const Strings& given) {
  return each_of(given, [&](const std::string& each) {
    const auto [name, files] = split_assignment(option, each, "NAME=FILE[,FILE...]");
    return NamedFiles{name, parse_list(option, {files})};
  });
}

/// "old" for results/old.json, unless another file has the same name.
std::vector<NamedFiles> column_each(const Strings& paths) {
  std::map<std::string, int> stems;
  const auto stem = [](const std::string& path) { return fs::path(path).stem().string(); };
  for (const std::string& path : paths) ++stems[stem(path)];
  return each_of(paths, [&](const std::string& path) {
    return NamedFiles{stems[stem(path)] == 1 ? stem(path) : path, {path}};
  });
}

constexpr std::size_t kMostShownNames = 10;

std::string shown_names(const Strings& names) {
  return names.empty() ? "none" : render::some_of(names, ", ", kMostShownNames);
}

/// Throws an error that names benchmarks of both sides, and a pair that may be meant to match.
[[noreturn]] void refuse_nothing_in_common(const verdict::FilesReport& report) {
  std::string hint;
  const auto first_of = [](const Strings& names, std::size_t most) {
    return std::span(names).first(std::min(names.size(), most));
  };
  const Names head(first_of(report.only_head, 10 * kMostShownNames));
  for (const std::string& name : first_of(report.only_base, kMostShownNames)) {
    const auto near = nearest(name, head);
    if (!near) continue;
    hint = fmt::format("; '{}' is near '{}': --map OLD=NEW renames parts of the first side's names",
                       name, *near);
    break;
  }
  refuse("the two sides have no benchmark in common; the first has {}; the second has {}{}",
         shown_names(report.only_base), shown_names(report.only_head), hint);
}

/// Refuses a metric that no benchmark has on both sides, and names those that exist.
void refuse_unreported(const model::JudgedMetric& metric, const std::vector<model::Run>& base,
                       const std::vector<model::Run>& head, const verdict::FilesReport& report) {
  for (const verdict::FilesRow& row : report.rows) {
    if (contains(row.judged, metric.name, &verdict::JudgedFilesVerdict::metric)) return;
  }
  const std::set<std::string> known = verdict::metrics_of(base, head);
  if (known.empty()) {
    refuse("--judge: the files report nothing but times, so '{}' cannot be judged", metric.name);
  }
  refuse("--judge: {}", unknown_name("metric", metric.name, known));
}

void refuse_too_many(const Strings& files, std::string_view what) {
  if (files.size() <= stats::kMaxShiftSample) return;
  refuse("at most {} files {}", stats::kMaxShiftSample, what);
}

class CompareCommand final : public Command {
  void declare(Options& options) override {
    options.describe(
        "Compare result files of benchmarks.\n\n"
        "Files of Google Benchmark, including taskbench's own, hyperfine, pytest-benchmark, "
        "pyperf, JMH, Catch2 and Criterion (its folder) are read, and what benchmarks of Go and of "
        "Rust's libtest print.\n\n"
        "A file counts once, as its repetitions are not independent samples: two files give "
        "ratios, but a verdict takes several files per side. `taskbench ab` measures as many as "
        "it takes. Three files or more, --column and --by give a table with a column for each: no "
        "verdict, but the changes against the first, and which of them the files can show.",
        "Examples:\n"
        "  taskbench compare old.json new.json\n"
        "  taskbench compare --base old1.json,old2.json,old3.json,old4.json,old5.json \\\n"
        "      --head new1.json,new2.json,new3.json,new4.json,new5.json --format markdown\n"
        "  taskbench compare monday.json tuesday.json wednesday.json\n"
        "  taskbench compare --column old=o1.json,o2.json,... --column new=n1.json,n2.json,...\n"
        "  taskbench compare result.json --by scheduler\n\n"
        "Exit status: 0 pass, or columns, 1 slower, 2 usage or input error, 3 inconclusive, 4 "
        "files of different machines, 5 a benchmark had failed, 130 interrupted.");
    options.value("FILE", files_, "FILE", AsGiven{Path::offered()},
                  "Two files: what to compare with, and what may be slower. More: each is a "
                  "column.");

    options.group("What to compare");
    options.value("--base", base_, "FILE[,FILE...]", By{parse_list, Path::offered()},
                  "Several files instead of the first one.");
    options.value("--head", head_, "FILE[,FILE...]", By{parse_list, Path::offered()},
                  "Several files instead of the second one.");
    options.value("--column", columns_, "NAME=FILE[,FILE...]", By{parse_columns},
                  "A column of several files; given once per column. The others are compared with "
                  "the first.");
    options.value("--by", by_, "KEY", Text{.may_be_empty = true},
                  "A column for each value that the benchmarks' names have for KEY: workers, "
                  "scheduler, threads.");
    options.value("--map", mapping_, "OLD=NEW", By{parse_mapping},
                  "Rename parts of the names between slashes, workers:1=workers:2, before "
                  "benchmarks are paired: of the first side, or of all columns. Without NEW the "
                  "part is left out. May be repeated.");
    verdict_.declare(options, policy_.delta, policy_.alpha,
                     "Chance that any time fails although nothing is slower; each metric of "
                     "--judge has the same chance again.");
    declare_judged(options, policy_.judged);
    options.group("Output");
    declare_format(options, format_, "", render::formats_of_measures());
  }

  ExitCode execute(const Invocation&) override {
    const bool has_sides = !base_.empty() || !head_.empty();
    if (!columns_.empty() || by_ || files_.size() > 2) {
      const bool one_way = columns_.empty() != files_.empty();
      if (!one_way || has_sides || (by_ && files_.empty())) {
        throw UsageError(
            "give columns in one way only: FILE..., --by KEY FILE..., or several --column "
            "NAME=FILE,...");
      }
      if (!policy_.judged.empty()) {
        throw UsageError("--judge: columns have no verdict; give two sides, by --base and --head");
      }
      return compare_columns();
    }
    if (!has_sides && files_.size() == 2) {
      base_ = {files_[0]};
      head_ = {files_[1]};
    } else if (base_.empty() || head_.empty() || !files_.empty()) {
      throw UsageError(
          "compare takes two files or more, --column NAME=FILE,..., or --base FILE,... and --head "
          "FILE,...; it cannot guess which of several files belong together");
    }
    for (const Strings& side : {base_, head_}) refuse_too_many(side, "a side are compared");
    UnstoppableWork work(stop_on_signals(), "interrupted");
    const verdict::FilesReport report = compare_sides(work);
    work.show("");
    if (!print(report, render::comment(report))) return ExitCode::usage;
    if (!report.machine_differs.empty()) return ExitCode::wrong_machine;
    if (report.overall == verdict::Verdict::fail) return ExitCode::regression;
    if (!report.failed.empty()) return ExitCode::measured_program_failed;
    return verdict_.exit_code(report.overall, {report.could_fail, report.blind});
  }

  template <class Report>
  [[nodiscard]] bool print(const Report& report,
                           std::optional<render::Document> comment = {}) const {
    return print_answer({.document = render::document(report),
                         .records = render::records(report),
                         .comment = std::move(comment),
                         .json = [&] { return json::to_json(report); },
                         .measures = [&] { return render::measures(report); }},
                        *format_);
  }

  std::vector<model::Run> read_files(const Strings& paths, bool renames,
                                     UnstoppableWork& work) const {
    std::vector<model::Run> files;
    for (const std::string& path : paths) {
      work.show(fmt::format("{} of {} files read", files.size(), paths.size()));
      try {
        files.push_back(read_any_result(path));
        if (renames && !mapping_.empty()) verdict::rename_all(files.back(), mapping_);
      } catch (const json::ReadError& error) {
        throw UsageError(error.what());
      } catch (const std::invalid_argument& error) {
        refuse("--map: {}: {}; use --by to compare benchmarks of one file", path, error.what());
      }
      if (files.back().partial) print_note("{} is of a run that ended early", path);
    }
    return files;
  }

  verdict::FilesReport compare_sides(UnstoppableWork& work) const {
    const auto base = read_files(base_, true, work);
    const auto head = read_files(head_, false, work);
    refuse_equal_results("--base: ", base_);
    refuse_equal_results("--head: ", head_);
    auto report =
        verdict::compare_files(base, head, policy_, [&](std::size_t done, std::size_t all) {
          work.show(fmt::format("{} of {} benchmarks compared", done, all));
        });
    if (report.rows.empty()) refuse_nothing_in_common(report);
    for (const model::JudgedMetric& each : policy_.judged) {
      refuse_unreported(each, base, head, report);
    }
    return report;
  }

  ExitCode compare_columns() const {
    const std::vector<NamedFiles> given = columns_.empty() ? column_each(files_) : columns_;
    if (!by_ && given.size() < 2) throw UsageError("--column: give it twice or more");
    for (const NamedFiles& each : given) refuse_too_many(each.paths, "a column are compared");
    if (by_) refuse_too_many(files_, "are compared --by a key");
    UnstoppableWork work(stop_on_signals(), "interrupted");
    const auto report = verdict::compare_columns(
        by_ ? columns_by_key(work) : read_columns(given, work), policy_.alpha);
    work.show("");
    if (report.rows.empty()) throw UsageError("the files have no times that could be compared");
    const auto meets = [](const verdict::ColumnsRow& row) {
      return std::ranges::count_if(row.cells, [](const auto& cell) { return cell.files > 0; }) > 1;
    };
    if (std::ranges::none_of(report.rows, meets)) {
      refuse(
          "no two columns have a benchmark in common; their names are {}; --map OLD=NEW renames "
          "parts of them, and --map OLD= leaves a part out",
          shown_names(each_of(report.rows, &verdict::ColumnsRow::name)));
    }
    if (!print(report)) return ExitCode::usage;
    if (!report.machine_differs.empty()) return ExitCode::wrong_machine;
    return report.failed.empty() ? ExitCode::pass : ExitCode::measured_program_failed;
  }

  std::vector<verdict::Column> read_columns(const std::vector<NamedFiles>& given,
                                            UnstoppableWork& work) const {
    Strings all;
    std::vector<verdict::Column> columns;
    for (const NamedFiles& each : given) {
      all.insert(all.end(), each.paths.begin(), each.paths.end());
      columns.push_back({each.name, read_files(each.paths, true, work)});
    }
    refuse_equal_results("compare: ", all);
    return columns;
  }

  std::vector<verdict::Column> columns_by_key(UnstoppableWork& work) const {
    auto files = read_files(files_, true, work);
    refuse_equal_results("compare: ", files_);
    verdict::Split split;
    try {
      split = verdict::split_by(std::move(files), *by_);
    } catch (const std::invalid_argument& error) {
      refuse("--by {}: {}", *by_, error.what());
    }
    if (!split.without.empty() && !split.columns.empty()) {
      print_note("left out, since their names have no '{}': {}", *by_, shown_names(split.without));
    }
    if (split.columns.size() < 2) {
      refuse("--by {}: the names have {} for it, but a comparison needs two; there are {}", *by_,
             render::counted(split.columns.size(), "value"),
             split.columns.empty() ? shown_names(split.without) : split.columns.front().name);
    }
    if (!split.with_other_workers.empty()) {
      print_note("matched without their workers, which are not the same in each column: {}",
                 shown_names(split.with_other_workers));
    }
    return std::move(split.columns);
  }

  Strings files_;
  Strings base_;
  Strings head_;
  std::vector<NamedFiles> columns_;
  std::optional<std::string> by_;
  Mapping mapping_;
  const render::Format* format_ = nullptr;
  VerdictOptions verdict_;
  verdict::FilesPolicy policy_;
};

}  // namespace

std::unique_ptr<Command> compare_command() { return std::make_unique<CompareCommand>(); }

}  // namespace taskbench::cli
