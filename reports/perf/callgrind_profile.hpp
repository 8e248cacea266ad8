// Reads callgrind's output with the options kCallgrindFormat: costs for each instruction and call,
// and their sum.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace taskbench::reports::perf {

/// The options that make callgrind write what parse_callgrind() reads.
inline constexpr std::array<const char*, 3> kCallgrindFormat{
    "--dump-instr=yes", "--compress-strings=no", "--compress-pos=no"};

struct CallgrindProfile {
  /// The place of executed code. Names are indices into `names`.
  struct Place {
    std::size_t object = 0;  ///< the executable or library
    std::size_t function = 0;
    std::size_t file = 0;  ///< the source; of the inlined function for inlined code
    std::uint64_t address = 0;
    int line = 0;  ///< 0: not known
  };
  struct Cost : Place {
    std::uint64_t instructions = 0;
  };
  struct Call : Place {
    std::size_t callee_object = 0;
    std::size_t callee = 0;
    std::uint64_t calls = 0;         ///< 0: called before the counting began
    std::uint64_t instructions = 0;  ///< including those of its callees
  };

  std::vector<std::string> names;
  std::vector<Cost> costs;
  std::vector<Call> calls;
  std::unordered_map<std::size_t, std::size_t> sources;  ///< the file of each function
  std::uint64_t instructions = 0;                        ///< total
  std::string trigger;  ///< why the file was written: "--dump-before=f()"
};

/// Empty for a file that is not callgrind's or was cut off. Function names lack callgrind's
/// additions: the depth of a recursion, the version of a symbol.
[[nodiscard]] std::optional<CallgrindProfile> parse_callgrind(std::string_view content);

/// Adds the profile of another process.
void add(const CallgrindProfile& other, CallgrindProfile& to);

}  // namespace taskbench::reports::perf
