#include "reports/tools/catch2.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <sstream>
#include <string>

#include "reports/json/parse.hpp"
#include "reports/model/lookup.hpp"
#include "reports/tools/cases.hpp"

namespace taskbench::reports::tools {
namespace {

using Tree = boost::property_tree::ptree;

std::string attribute(const Tree& element, const std::string& name) {
  return element.get<std::string>("<xmlattr>." + name, "");
}

void read_benchmark(const Tree& element, model::Case& benchmark) {
  if (const auto failed = element.get_child_optional("failed")) {
    benchmark.error = attribute(*failed, "message");
    if (benchmark.error.empty()) benchmark.error = "failed without a message";
    return;
  }
  const auto samples = element.get<std::int64_t>("<xmlattr>.samples", 1);
  const auto iterations = element.get<std::int64_t>("<xmlattr>.iterations", 1);
  add_time(benchmark, {.iterations = std::max<std::int64_t>(1, samples * iterations),
                       .real_ns = element.get("mean.<xmlattr>.value", 0.0)});
}

/// The name for one more run of a benchmark: "sort", "sort/#2". Catch2 repeats a test case for each
/// value of a generator, so that one name may stand for short and long work.
std::string name_of_next(const model::Run& run, const std::string& name) {
  std::string next = name;
  for (int i = 2; model::contains(run.cases, next, &model::Case::name); ++i) {
    next = fmt::format("{}/#{}", name, i);
  }
  return next;
}

/// Reads the content of a test case or a section; `name` begins the names of its benchmarks.
void read_part(const Tree& part, const std::string& name, model::Run& run) {
  for (const auto& [kind, element] : part) {
    const std::string inner = name + attribute(element, "name");
    if (kind == "BenchmarkResults") {
      read_benchmark(element, case_of(run, name_of_next(run, inner)));
    } else if (kind == "TestCase" || kind == "Section") {
      read_part(element, inner + "/", run);
    } else if (kind == "Group") {
      read_part(element, name, run);
    }
  }
}

}  // namespace

model::Run parse_catch2(const std::filesystem::path& path, std::string_view text) {
  const auto fail = [&](std::string_view what) {
    throw json::ReadError(
        fmt::format("{}: is no result of Catch2's reporter xml: {}", path.string(), what));
  };
  std::istringstream stream{std::string(text)};
  Tree document;
  try {
    boost::property_tree::read_xml(stream, document);
  } catch (const boost::property_tree::xml_parser_error& error) {
    fail(fmt::format("line {}: {}", error.line(), error.message()));
  }
  auto root = document.get_child_optional("Catch2TestRun");
  if (!root) root = document.get_child_optional("Catch");  // of version 2
  if (!root) fail("it has no element Catch2TestRun");
  model::Run run;
  read_part(*root, "", run);
  return run;
}

}  // namespace taskbench::reports::tools
