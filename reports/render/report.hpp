// The content of a report on results and comparisons. Pure: the same inputs give the same document.
#pragma once

#include <string>
#include <vector>

#include "reports/model/run.hpp"
#include "reports/render/document.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::render {

struct NamedResult {
  std::string path;  ///< as the user named it
  model::Run file;
};

struct NamedComparison {
  std::string path;
  verdict::PairedFile file;
};

struct ReportInputs {
  std::vector<NamedResult> results;
  std::vector<NamedComparison> comparisons;
};

/// Makes a report. The newest result of each benchmark is shown in full; benchmarks with several
/// results get a history. The lists need not be sorted; one may be empty.
[[nodiscard]] Document report(const ReportInputs& inputs);

}  // namespace taskbench::reports::render
