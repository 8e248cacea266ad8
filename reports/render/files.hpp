// The comparison of result files as text: one function a format. UTF-8, ends with a newline.
#pragma once

#include <string>

#include "reports/render/render.hpp"
#include "reports/verdict/files.hpp"

namespace taskbench::reports::render {

[[nodiscard]] std::string table(const verdict::FilesReport& report, const TableStyle& style);
[[nodiscard]] std::string markdown(const verdict::FilesReport& report);
/// A row a benchmark, with a header line; quoted as RFC 4180 says, lines end with LF.
[[nodiscard]] std::string csv(const verdict::FilesReport& report);

}  // namespace taskbench::reports::render
