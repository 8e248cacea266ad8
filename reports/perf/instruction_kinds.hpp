// The kinds of instructions and calls that are counted: those that cost far more than one
// instruction, so that the number of instructions hides their cost.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "reports/perf/callgrind_profile.hpp"

namespace taskbench::reports::perf {

/// A kind is recognised by the text of an instruction, or by a call of one function by another.
struct InstructionKind {
  std::string_view name;  ///< in files and options: "system-calls"; a plural
  /// Whether an instruction, as printed by objdump, in that function is of this kind; may be empty.
  bool (*is_instruction)(std::string_view text, std::string_view function);
  bool (*is_call)(std::string_view caller, std::string_view callee);  ///< may be empty
  /// The count for each such call; empty: one.
  std::uint64_t (*weight)(std::string_view callee) = nullptr;
};

/// The file of the library that reveals allocated bytes by calls of its functions, each for a bit
/// of a size. It is loaded into counted programs, and is not part of them.
inline constexpr std::string_view kAllocationMarks = "taskbench-allocations.so";

/// Removes the instructions of that library from a profile, and keeps its calls.
void leave_out_marks(CallgrindProfile& profile);

/// Each instruction is of the first kind that recognises it, if any.
[[nodiscard]] std::span<const InstructionKind> instruction_kinds();

/// The text, by address, of those instructions of one object that may be of a kind.
using Disassembly = std::unordered_map<std::uint64_t, std::string>;

/// Reads the output of `objdump -d --no-show-raw-insn` for x86-64 code.
[[nodiscard]] Disassembly parse_objdump(std::string_view text);

/// How often each kind was executed; 0 if never. `disassemblies` is by object name: in other
/// objects, nothing has a kind.
[[nodiscard]] std::map<std::string, std::uint64_t> count_by_kind(
    const CallgrindProfile& profile, const std::map<std::string, Disassembly>& disassemblies);

/// A profile that counts this kind in place of instructions.
[[nodiscard]] CallgrindProfile only_of_kind(const CallgrindProfile& profile,
                                            const std::map<std::string, Disassembly>& disassemblies,
                                            std::string_view name);

}  // namespace taskbench::reports::perf
