// The formats that `taskbench run --format` prints, and what renders each.
#pragma once

#include "cli/names.hpp"
#include "reports/render/render.hpp"

namespace taskbench::cli {

struct OutputFormat {
  std::string_view name;
  std::string (*render)(const model::Run&, const render::TableStyle&);
};

/// Every format; the first is the default. A new renderer is one more row.
[[nodiscard]] std::span<const OutputFormat> output_formats();

}  // namespace taskbench::cli
