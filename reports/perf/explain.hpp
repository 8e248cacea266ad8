// Finds the functions that execute more instructions on one side than on the other. Pure.
//
// Instructions that are not from the program's own source are attributed to the program's function
// that called them: those of the system's libraries, and of code defined in the system's headers,
// such as a template of the standard library. If the program has debug information, inlined code is
// attributed to the innermost inlined function of the program's own; otherwise, to the function
// that it was inlined into.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/paired.hpp"
#include "reports/perf/callgrind_profile.hpp"
#include "reports/perf/source_lines.hpp"

namespace taskbench::reports::perf {

/// The profile of one side.
struct ProfiledSide {
  CallgrindProfile profile;
  double iterations = 1;
  std::map<std::string, SourceLines> sources{};  ///< by object name; some may be missing
};

/// Whether a library or a source belongs to the system rather than the program, by its path.
[[nodiscard]] bool is_of_system(std::string_view path);

/// The functions that execute more instructions in head, the largest growth first: at most `most`,
/// and none with less than a fiftieth of the total growth.
[[nodiscard]] std::vector<model::GrownFunction> grown_functions(const ProfiledSide& base,
                                                                const ProfiledSide& head,
                                                                std::size_t most);

}  // namespace taskbench::reports::perf
