// The library of allocation_marks.cpp, which is built into this program, as a file.
#pragma once

#include "harness/trials/names.hpp"
#include "reports/perf/instruction_kinds.hpp"

namespace taskbench::harness {

/// The path of the library in `folder`, where it is written unless it is there.
[[nodiscard]] fs::path allocation_marks_in(const fs::path& folder);

}  // namespace taskbench::harness
