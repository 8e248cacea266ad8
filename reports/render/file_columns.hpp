// Result files side by side as text: one function a format. UTF-8, ends with a newline.
#pragma once

#include <string>

#include "reports/render/render.hpp"
#include "reports/verdict/file_columns.hpp"

namespace taskbench::reports::render {

/// Columns that do not fit into the width go to further blocks of lines.
[[nodiscard]] std::string table(const verdict::ColumnsReport& report, const TableStyle& style);
[[nodiscard]] std::string markdown(const verdict::ColumnsReport& report);
/// A row for each benchmark in each column, with a header line; as RFC 4180 says, lines end with
/// LF.
[[nodiscard]] std::string csv(const verdict::ColumnsReport& report);

}  // namespace taskbench::reports::render
