// Source positions of instructions, from addr2line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace taskbench::reports::perf {

/// A function that contains an instruction, and the line: that of the instruction, or that of the
/// call of an inlined function.
struct SourceFrame {
  std::string function;
  std::string file;
  int line = 0;  ///< 0: not known
};

/// By address: the innermost inlined function first, and last the function with a symbol.
using SourceLines = std::unordered_map<std::uint64_t, std::vector<SourceFrame>>;

/// Reads the output of `addr2line -a -f -i -C`. Frames without a line are left out.
[[nodiscard]] SourceLines parse_addr2line(std::string_view text);

/// A function's name for readers: without return type, parameters and clones, and, if it is still
/// long, without template arguments: "sort<…>".
[[nodiscard]] std::string short_function_name(std::string_view name);

}  // namespace taskbench::reports::perf
