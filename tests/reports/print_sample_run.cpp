// Prints a sample run in one format, for the tests written in Python, and for inspection.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "reports/json/writer.hpp"
#include "reports/render/render.hpp"
#include "tests/reports/printed.hpp"
#include "tests/reports/sample_runs.hpp"

namespace {

using namespace taskbench::reports;

int usage() {
  std::fputs("usage: print_sample_run json|flat|table|colour|markdown|csv RUN [WIDTH]\n", stderr);
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

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return usage();
  for (const samples::NamedRun& run : samples::all()) {
    if (run.name == argv[2]) {
      const std::string text = render_as(argv[1], run.make(), argc > 3 ? std::atoi(argv[3]) : 100);
      std::fwrite(text.data(), 1, text.size(), stdout);
      return text.empty() ? usage() : 0;
    }
  }
  return usage();
}
