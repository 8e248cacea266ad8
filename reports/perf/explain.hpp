// Which functions execute more instructions on one side than on the other. Pure.
//
// What the program's own source did not write counts for the function of the program that called
// it: the instructions of the system's libraries, and of what headers of the system define, such as
// a template of the standard library. If the program has debug information, inlined code counts for
// the innermost inlined function that is the program's own; if it has none, for the function into
// which it was inlined.
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

/// What one side executed.
struct ProfiledSide {
  CallgrindProfile profile;
  double iterations = 1;
  std::map<std::string, SourceLines> sources{};  ///< by the objects' names; may lack some
};

/// Whether a library or a source belongs to the system, by its path, or is none of the program's.
[[nodiscard]] bool is_of_system(std::string_view path);

/// The functions that execute more instructions in head, the one that grew most first: at most
/// `most`, and none that makes less than a fiftieth of what all have grown by.
[[nodiscard]] std::vector<model::GrownFunction> grown_functions(const ProfiledSide& base,
                                                                const ProfiledSide& head,
                                                                std::size_t most);

}  // namespace taskbench::reports::perf
