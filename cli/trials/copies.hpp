// Whether programs are copies of one build: linked from the same objects, in different orders.
#pragma once

#include "cli/names.hpp"
#include "workloads/measure/program.hpp"

namespace taskbench::cli {

/// What scripts/relink leaves beside its copies: for each a line with the SHA-256 of the copy, that
/// of the objects it was linked from, and its name.
inline constexpr const char* kRelinkManifest = ".relink";

/// Why they are not known to be copies of one build; empty when they are.
[[nodiscard]] std::string why_not_copies(const std::vector<measure::Program>& programs,
                                         const std::stop_token& stop);

}  // namespace taskbench::cli
