// Prints doctor's report on a sample machine, for the test of the schema, and for inspection.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "reports/json/writer.hpp"
#include "reports/render/render.hpp"
#include "tests/reports/printed.hpp"
#include "tests/reports/sample_doctor.hpp"

int main(int argc, char** argv) {
  using namespace taskbench::reports;
  const std::string_view format = argc > 1 ? argv[1] : "";
  const std::string_view machine = argc > 2 ? argv[2] : "";
  model::DoctorReport report;
  if (machine == "quiet") {
    report = samples::report_of(samples::quiet_facts());
  } else if (machine == "disturbed") {
    report = samples::report_of(samples::disturbed_facts());
  } else if (machine == "unknown") {
    report = samples::unknown_report();
  } else {
    std::fputs("usage: print_sample_doctor json|table|colour quiet|disturbed|unknown [WIDTH]\n",
               stderr);
    return 2;
  }
  const int width = argc > 3 ? std::atoi(argv[3]) : 100;
  const std::string text =
      format == "json" ? json::to_json(report) : render::table(report, {format == "colour", width});
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
