// Which executed instructions and calls are counted by kind: those that cost far more than one
// instruction does, so that the number of instructions does not show them.
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
  /// Whether an instruction as objdump prints it, in that function, is of this kind; or empty.
  bool (*is_instruction)(std::string_view text, std::string_view function);
  bool (*is_call)(std::string_view caller, std::string_view callee);  ///< or empty
  /// What each such call counts for; empty: one.
  std::uint64_t (*weight)(std::string_view callee) = nullptr;
};

/// The file of the library that shows how many bytes are allocated: by calls of its functions, each
/// for a bit of a size. It is loaded into programs that are counted, and no part of them.
inline constexpr std::string_view kAllocationMarks = "taskbench-allocations.so";

/// Takes the instructions of that library out of a profile, and leaves its calls.
void leave_out_marks(CallgrindProfile& profile);

/// Each instruction is of the first kind that recognises it, if any does.
[[nodiscard]] std::span<const InstructionKind> instruction_kinds();

/// The text of those instructions of one object that may be of a kind, by their addresses.
using Disassembly = std::unordered_map<std::uint64_t, std::string>;

/// Reads what `objdump -d --no-show-raw-insn` prints of x86-64 code.
[[nodiscard]] Disassembly parse_objdump(std::string_view text);

/// How often each kind was executed; 0 for those that were not. `disassemblies` is by the objects'
/// names: what was executed in others is of no kind.
[[nodiscard]] std::map<std::string, std::uint64_t> count_by_kind(
    const CallgrindProfile& profile, const std::map<std::string, Disassembly>& disassemblies);

/// A profile that counts what is of this kind in place of instructions.
[[nodiscard]] CallgrindProfile only_of_kind(const CallgrindProfile& profile,
                                            const std::map<std::string, Disassembly>& disassemblies,
                                            std::string_view name);

}  // namespace taskbench::reports::perf
