// Prints a sample run, doctor's report on a sample machine, or the sample of a stored baseline, for
// the tests written in Python, and for inspection.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "reports/json/baseline.hpp"
#include "reports/json/writer.hpp"
#include "reports/render/render.hpp"
#include "tests/reports/printed.hpp"
#include "tests/reports/sample_baselines.hpp"
#include "tests/reports/sample_doctor.hpp"
#include "tests/reports/sample_runs.hpp"

namespace {

using namespace taskbench::reports;

int usage() {
  std::fputs(
      "usage: print_sample json|flat|table|colour|markdown|csv RUN [WIDTH]\n"
      "       print_sample json|table|colour quiet|disturbed|unknown [WIDTH]\n"
      "       print_sample baseline\n",
      stderr);
  for (const samples::NamedRun& run : samples::all()) {
    std::fprintf(stderr, "  %.*s\n", static_cast<int>(run.name.size()), run.name.data());
  }
  return 2;
}

std::string render_as(std::string_view format, const model::Run& run, int width) {
  if (format == "json") return json::to_json(run);
  if (format == "flat") return json::to_flat_json(run);
  if (format == "table") return render::table(run, {false, width});
  if (format == "colour") return render::table(run, {true, width});
  if (format == "markdown") return render::as_markdown(run);
  if (format == "csv") return render::as_csv(run);
  return "";
}

std::string render_as(std::string_view format, const model::DoctorReport& report, int width) {
  if (format == "json") return json::to_json(report);
  return render::table(report, {format == "colour", width});
}

std::string sample(std::string_view format, std::string_view name, int width) {
  if (name == "quiet") {
    return render_as(format, samples::report_of(samples::quiet_facts()), width);
  }
  if (name == "disturbed") {
    return render_as(format, samples::report_of(samples::disturbed_facts()), width);
  }
  if (name == "unknown") return render_as(format, samples::unknown_report(), width);
  for (const samples::NamedRun& run : samples::all()) {
    if (run.name == name) return render_as(format, run.make(), width);
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  std::string text;
  if (argc == 2 && argv[1] == std::string_view("baseline")) {
    text = json::baseline_file(sample_baseline());
  } else if (argc > 2) {
    text = sample(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 100);
  }
  if (text.empty()) return usage();
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
