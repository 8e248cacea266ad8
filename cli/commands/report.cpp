// `taskbench report`: makes a page with plots from results and comparisons.
#include <set>

#include "cli/commands/command.hpp"
#include "cli/options/result_files.hpp"
#include "cli/output/output.hpp"
#include "cli/output/progress_line.hpp"
#include "cli/output/report_writer.hpp"
#include "cli/output/signals.hpp"
#include "harness/files/stored.hpp"
#include "reports/json/paired.hpp"
#include "reports/json/reader.hpp"
#include "reports/render/render.hpp"
#include "reports/render/report.hpp"
#include "reports/tools/result.hpp"

namespace taskbench::cli {
namespace {

constexpr const char* kInterrupted = "interrupted; no report was written";

/// The page for the content of the files: results and comparisons, or one ladder.
render::Document document_of(const Strings& paths, UnstoppableWork& work) {
  work.show("comparing the files");
  std::set<std::string> known;
  for (const std::string& path : paths) {
    if (!known.insert(path).second) refuse("'{}' is given twice", path);
  }
  refuse_equal_results("", paths);  // a repeated result would be two points of a history
  render::ReportInputs inputs;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string& path = paths[i];
    work.show(fmt::format("reading result {} of {}", i + 1, paths.size()));
    try {
      std::error_code failed;
      if (fs::is_directory(path, failed)) {
        inputs.results.push_back({path, read_any_result(path)});
        continue;
      }
      const std::string text = read_result_text(path);
      if (json::is_ladder(text)) {
        const model::Ladder ladder = json::parse_ladder(path, text);
        if (paths.size() == 1) return render::document(ladder);
        refuse("{}: a ladder has a page of its own; give it alone", path);
      }
      if (json::is_paired_report(text)) {
        inputs.comparisons.push_back({path, json::parse_paired_report(path, text)});
      } else {
        inputs.results.push_back({path, reports::tools::parse_result(path, text)});
      }
    } catch (const json::ReadError& error) {
      throw UsageError(error.what());
    }
  }
  work.show("making the report");
  return render::report(inputs);
}

class ReportCommand final : public Command {
  void declare(Options& options) override {
    options.describe(
        "Write results as a page with plots, and as Markdown.\n\n"
        "The page is one file that opens in any browser. Results are files of `taskbench run "
        "--json`, of any Google Benchmark program, of `taskbench ab --json`, and of the other "
        "tools that `taskbench compare` reads. Benchmarks that "
        "appear in several results get a history, by the dates of the results. A file of "
        "`taskbench ladder --json`, given alone, gets the page of that command. The plots are "
        "drawn by gnuplot, as SVG and PNG; without it there are tables only.",
        "Examples:\n"
        "  taskbench report result.json --out report\n"
        "  taskbench report nightly/*.json --out history --gnuplot\n"
        "  taskbench report result.json comparison.json --out report\n\n"
        "Exit status: 0 written, 2 usage or input error, 130 interrupted.");
    options.value("RESULT", results_, "RESULT", AsGiven{Path::offered()},
                  "Result files, as many as you like.");
    options.group("Output");
    options.value("--out", request_.folder, "DIR", Path{},
                  "Folder for index.html, report.md and plots/, created if missing. Files of an "
                  "existing report are replaced.");
    options.flag("--gnuplot", request_.keeps_gnuplot,
                 "Keep the .gp and .dat files that the plots are drawn from beside them, so that a "
                 "plot can be changed by hand.");
    options.value("--plot-timeout", request_.plot_timeout_s, "TIME", Duration{0.1, 3600},
                  "How long gnuplot may take for one plot: 5s, 1m.");
  }

  ExitCode execute(const Invocation&) override {
    if (results_.empty()) {
      throw UsageError("name the result files: taskbench report RESULT... --out DIR");
    }
    if (request_.folder.empty()) {
      throw UsageError("--out is missing: name a folder for the report, --out DIR");
    }
    const std::stop_token stop = stop_on_signals();
    render::Document document;
    {
      UnstoppableWork work(stop, kInterrupted);
      document = document_of(results_, work);
    }
    const ExitCode code = write_report(document, request_, stop);
    if (code == ExitCode::interrupted) print_note(kInterrupted);
    return code;
  }

  Strings results_;
  ReportRequest request_;
};

}  // namespace

std::unique_ptr<Command> report_command() { return std::make_unique<ReportCommand>(); }

}  // namespace taskbench::cli
