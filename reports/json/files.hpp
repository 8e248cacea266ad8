// The answer of `taskbench compare` as JSON.
#pragma once

#include <string>

#include "reports/verdict/file_columns.hpp"
#include "reports/verdict/files.hpp"

namespace taskbench::reports::json {

[[nodiscard]] std::string to_json(const verdict::FilesReport& report);
[[nodiscard]] std::string to_json(const verdict::ColumnsReport& report);

}  // namespace taskbench::reports::json
