// What a report says of results and comparisons: pure, the same inputs give the same document.
#pragma once

#include <string>
#include <vector>

#include "reports/model/run.hpp"
#include "reports/render/document.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::render {

struct NamedResult {
  std::string path;  ///< as it was named
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

/// Of each benchmark the newest result is shown in full; those that several results have get a
/// history. Neither list need be sorted; one may be empty.
[[nodiscard]] Document report(const ReportInputs& inputs);

}  // namespace taskbench::reports::render
