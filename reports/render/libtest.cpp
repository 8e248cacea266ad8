#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reports/render/columns.hpp"
#include "reports/render/figures.hpp"
#include "reports/render/numbers.hpp"
#include "reports/render/render.hpp"

namespace taskbench::reports::render {
namespace {

/// libtest drops the fraction (library/test/src/bench.rs, fmt_bench_samples).
std::string whole_ns(double ns) { return with_separators(static_cast<std::uint64_t>(ns)); }

/// Names by which tools recognise a benchmark from run to run: short if that is unambiguous.
std::vector<std::string> names_of(const model::Run& run) {
  std::map<std::string, int> uses;
  for (const model::Case& measured : run.cases) ++uses[measured.workload];
  std::vector<std::string> names;
  for (const model::Case& measured : run.cases) {
    std::string name = measured.workload;
    if (uses[measured.workload] > 1) {
      name = measured.name;
    } else if (std::string changed = changed_parameters(measured); !changed.empty()) {
      std::replace(changed.begin(), changed.end(), ' ', '/');
      name += "/" + changed;
    }
    names.push_back(printable(name));
  }
  return names;
}

}  // namespace

std::string libtest(const model::Run& run) {
  const std::vector<std::string> names = names_of(run);
  std::size_t width = 0;
  for (const std::string& name : names) width = std::max(width, display_width(name));
  std::string text;
  std::string failures;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const model::Case& measured = run.cases[i];
    const std::string name = pad_right(names[i], width);
    if (const std::optional<stats::CaseSummary> summary = stats::summarize(measured)) {
      text += fmt::format("test {} ... bench: {:>11} ns/iter (+/- {})\n", name,
                          whole_ns(summary->real_ns_median),
                          whole_ns(summary->real_ns_max - summary->real_ns_min));
    } else if (measured.error.empty()) {
      text += fmt::format("test {} ... ignored, no repetition was completed\n", name);
    } else {
      text += fmt::format("test {} ... FAILED\n", name);
      failures += fmt::format("\n---- {} stdout ----\n{}\n", names[i], printable(measured.error));
    }
  }
  if (!failures.empty()) text += "\nfailures:\n" + failures;
  return text.empty() ? "\n" : text;
}

}  // namespace taskbench::reports::render
