// Where in the source an instruction comes from, as addr2line says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace taskbench::reports::perf {

/// A function that an instruction is in, and the line there: its own, or that of the call of an
/// inlined function.
struct SourceFrame {
  std::string function;
  std::string file;
  int line = 0;  ///< 0: not known
};

/// By the addresses: the innermost inlined function first, last the one that has a symbol.
using SourceLines = std::unordered_map<std::uint64_t, std::vector<SourceFrame>>;

/// Reads what `addr2line -a -f -i -C` prints. Frames without a line are left out.
[[nodiscard]] SourceLines parse_addr2line(std::string_view text);

/// A function's name for readers: without return type, parameters and clones, and, if it is still
/// long, without the arguments of templates: "sort<…>".
[[nodiscard]] std::string short_function_name(std::string_view name);

}  // namespace taskbench::reports::perf
