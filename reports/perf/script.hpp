// The output of `perf script -F comm,tid,ip,sym`: one block of lines a sample. Pure.
#pragma once

#include <string_view>

#include "reports/model/profile.hpp"

namespace taskbench::reports::perf {

/// Threads of one name are one: "taskbench-wor-1" and "taskbench-wor-2" are both "worker". Frames
/// of the kernel end with "_[k]"; those without a symbol are "[unknown]", and several of these in a
/// row are one. What is no sample is left out.
[[nodiscard]] model::Profile parse_perf_script(std::string_view text);

}  // namespace taskbench::reports::perf
