#include "reports/perf/instruction_kinds.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "reports/model/lookup.hpp"
#include "reports/model/pieces.hpp"

namespace taskbench::reports::perf {

using model::next_line;
using model::read_number;
using model::trimmed;
namespace {

bool begins_with_any(std::string_view text, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [&](auto each) { return text.starts_with(each); });
}

/// The text after a lock prefix; empty if there is none.
std::string_view locked(std::string_view text) {
  constexpr std::string_view kLock = "lock ";
  if (text.starts_with(kLock)) return text.substr(kLock.size());
  const std::size_t lock = text.find(" lock ");  // after other prefixes
  return lock == std::string_view::npos ? std::string_view() : text.substr(lock + 1 + kLock.size());
}

/// Compilers also write a full fence as a locked "or" or "add" of 0 to the stack: it only orders
/// memory.
bool is_fence(std::string_view text, std::string_view /*function*/) {
  constexpr std::array<std::string_view, 3> kFences{"mfence", "lfence", "sfence"};
  constexpr std::array<std::string_view, 2> kIdle{"or", "add"};
  const std::string_view under_lock = locked(text);
  const bool is_idle = begins_with_any(under_lock, kIdle) &&
                       under_lock.find(" $0x0,") != std::string_view::npos &&
                       (under_lock.find("(%rsp)") != std::string_view::npos ||
                        under_lock.find("(%esp)") != std::string_view::npos);
  return is_idle || begins_with_any(text, kFences);
}

/// An xchg with memory is locked even without a prefix.
bool is_locked(std::string_view text, std::string_view /*function*/) {
  return !locked(text).empty() ||
         (text.starts_with("xchg") && text.find('(') != std::string_view::npos);
}

bool is_division(std::string_view text, std::string_view /*function*/) {
  constexpr std::array<std::string_view, 10> kDivisions{
      "div ", "divb ", "divw ", "divl ", "divq ", "idiv ", "idivb ", "idivw ", "idivl ", "idivq "};
  return begins_with_any(text, kDivisions);
}

/// Functions that read a clock make a system call only under valgrind, which hides the vDSO.
bool is_system_call(std::string_view text, std::string_view function) {
  constexpr std::array<std::string_view, 6> kInVdso{
      "clock_gettime", "gettimeofday", "time", "getcpu", "__vdso_clock_gettime", "sched_getcpu"};
  return text == "syscall" && !model::contains(kInVdso, function);
}

bool allocates(std::string_view function) {
  constexpr std::array<std::string_view, 9> kNames{
      "malloc", "calloc",  "realloc",      "aligned_alloc", "memalign",
      "valloc", "pvalloc", "reallocarray", "posix_memalign"};
  constexpr std::array<std::string_view, 2> kOperators{"operator new(", "operator new[]("};
  return model::contains(kNames, function) || begins_with_any(function, kOperators);
}

/// A call within an allocation, as from operator new to malloc, is not another allocation.
bool is_allocation(std::string_view caller, std::string_view callee) {
  return allocates(callee) && !allocates(caller);
}

/// The function of the marks for one bit: "void (anonymous namespace)::taskbench_allocated<5ul>()".
constexpr std::string_view kMark = "taskbench_allocated<";

bool is_mark(std::string_view /*caller*/, std::string_view callee) {
  return callee.find(kMark) != std::string_view::npos;
}

std::uint64_t bytes_of_mark(std::string_view callee) {
  constexpr unsigned kBits = 64;
  const std::string_view digits = callee.substr(callee.find(kMark) + kMark.size());
  unsigned bit = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), bit);
  return bit < kBits ? std::uint64_t{1} << bit : 0;
}

constexpr std::array<InstructionKind, 6> kKinds{{
    {"fences", is_fence, nullptr},
    {"locked-instructions", is_locked, nullptr},
    {"divisions", is_division, nullptr},
    {"system-calls", is_system_call, nullptr},
    {"allocations", nullptr, is_allocation},
    {"allocated-bytes", nullptr, is_mark, bytes_of_mark},
}};

/// Whether the instruction is of any kind, in some function.
bool may_be_of_a_kind(std::string_view text) {
  return std::ranges::any_of(kKinds, [&](const InstructionKind& kind) {
    return kind.is_instruction != nullptr && kind.is_instruction(text, "");
  });
}

/// Calls `visit` with the kind, place and count of everything that has a kind.
template <class Visit>
void for_each_of_a_kind(const CallgrindProfile& profile,
                        const std::map<std::string, Disassembly>& disassemblies,
                        const Visit& visit) {
  for (const CallgrindProfile::Cost& cost : profile.costs) {
    const auto* const object = model::find_in(disassemblies, profile.names[cost.object]);
    const auto* const text = object == nullptr ? nullptr : model::find_in(*object, cost.address);
    if (text == nullptr) continue;
    const auto is_of = [&](const InstructionKind& kind) {
      return kind.is_instruction != nullptr &&
             kind.is_instruction(*text, profile.names[cost.function]);
    };
    const auto kind = std::ranges::find_if(kKinds, is_of);
    if (kind != kKinds.end()) visit(*kind, cost, cost.instructions);
  }
  for (const CallgrindProfile::Call& call : profile.calls) {
    const auto is_of = [&](const InstructionKind& kind) {
      return kind.is_call != nullptr &&
             kind.is_call(profile.names[call.function], profile.names[call.callee]);
    };
    const auto kind = std::ranges::find_if(kKinds, is_of);
    if (kind == kKinds.end()) continue;
    const std::uint64_t weight =
        kind->weight == nullptr ? 1 : kind->weight(profile.names[call.callee]);
    visit(*kind, call, weight * call.calls);
  }
}

}  // namespace

std::span<const InstructionKind> instruction_kinds() { return kKinds; }

Disassembly parse_objdump(std::string_view text) {
  Disassembly result;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    const std::size_t colon = line.find(":\t");  // "    19a5:\tlock orq $0x0,(%rsp)"
    if (colon == std::string_view::npos) continue;
    std::uint64_t address = 0;
    const std::string_view instruction = trimmed(line.substr(colon + 2));
    if (!read_number(trimmed(line.substr(0, colon)), address, 16)) continue;
    if (may_be_of_a_kind(instruction)) result.emplace(address, instruction);
  }
  return result;
}

std::map<std::string, std::uint64_t> count_by_kind(
    const CallgrindProfile& profile, const std::map<std::string, Disassembly>& disassemblies) {
  std::map<std::string, std::uint64_t> counts;
  for (const InstructionKind& kind : kKinds) counts[std::string(kind.name)] = 0;
  for_each_of_a_kind(profile, disassemblies,
                     [&](const InstructionKind& kind, const CallgrindProfile::Place&,
                         std::uint64_t times) { counts[std::string(kind.name)] += times; });
  // Allocations of zero bytes only are rare; allocations that the marks do not see are common.
  const auto bytes = counts.find("allocated-bytes");
  if (bytes->second == 0 && counts["allocations"] > 0) counts.erase(bytes);
  return counts;
}

void leave_out_marks(CallgrindProfile& profile) {
  std::erase_if(profile.costs, [&](const CallgrindProfile::Cost& cost) {
    if (!std::string_view(profile.names[cost.object]).ends_with(kAllocationMarks)) return false;
    profile.instructions -= cost.instructions;
    return true;
  });
}

CallgrindProfile only_of_kind(const CallgrindProfile& profile,
                              const std::map<std::string, Disassembly>& disassemblies,
                              std::string_view name) {
  CallgrindProfile result;
  result.names = profile.names;
  result.sources = profile.sources;
  for_each_of_a_kind(
      profile, disassemblies,
      [&](const InstructionKind& kind, const CallgrindProfile::Place& place, std::uint64_t times) {
        if (kind.name == name) result.costs.push_back({place, times});
      });
  return result;
}

}  // namespace taskbench::reports::perf
