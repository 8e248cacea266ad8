// The output of `perf script -F comm,tid,ip,sym`: one block of lines per sample. Pure.
#pragma once

#include <string_view>

#include "reports/model/profile.hpp"

namespace taskbench::reports::perf {

/// Merges threads of one name: "taskbench-wor-1" and "taskbench-wo-10" are both "worker". Frames of
/// the kernel end with "_[k]"; those without a symbol are "[unknown]", and several of these in a
/// row are merged. Text that is not a sample is left out.
[[nodiscard]] model::Profile parse_perf_script(std::string_view text);

}  // namespace taskbench::reports::perf
