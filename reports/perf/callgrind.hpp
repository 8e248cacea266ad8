// Reads the output of callgrind: the instructions that it counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace taskbench::reports::perf {

/// The instructions (event Ir) of a callgrind.out file, over all threads. Empty if it is no such
/// file, was cut off before its last line, or counted no instructions.
[[nodiscard]] std::optional<std::uint64_t> callgrind_instructions(std::string_view content);

}  // namespace taskbench::reports::perf
