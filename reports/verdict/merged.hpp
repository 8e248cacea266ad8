// Merges the parts of a trial, which were measured on many machines or on one. Pure: the same parts
// give the same trial, in any order.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "reports/model/paired.hpp"

namespace taskbench::reports::verdict {

/// The journal of a part.
struct PartFile {
  std::string path;  ///< for messages
  model::PairedTrial trial;
};

struct MergeRules {
  bool may_miss_some = false;         ///< go on although parts are missing or have not ended
  int rounds = 1;                     ///< looks: see model::PairedSetup::rounds
  std::optional<model::Unit> unit{};  ///< empty: machines, if there are enough of them
};

/// The parts do not belong together, or some are missing; what() says what to do.
class MergeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The trial of all parts. Its blocks are in rounds: the first of each part, then the second of
/// each; an incomplete block is left out. It has no end if more rounds are expected and some part
/// has not ended. If the parts were not measured because the programs are identical,
/// setup.identical says so. Throws MergeError.
[[nodiscard]] model::PairedTrial merge(std::vector<PartFile> files, const MergeRules& rules);

}  // namespace taskbench::reports::verdict
