// What callgrind writes: the instructions that it counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace taskbench::reports::perf {

/// The instructions (its event Ir) of a callgrind.out file, in all threads. Empty for what is none,
/// was cut off before its last line, or counted no instructions.
[[nodiscard]] std::optional<std::uint64_t> callgrind_instructions(std::string_view content);

}  // namespace taskbench::reports::perf
