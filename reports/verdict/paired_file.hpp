// What `taskbench ab --json` and `taskbench gate --json` have written, as it was read.
#pragma once

#include "reports/model/paired.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::verdict {

struct PairedFile {
  enum class Outcome {
    judged,
    identical,  ///< both programs are the same; nothing was run
    failed,     ///< there is nothing to judge
  };
  Outcome outcome = Outcome::judged;
  model::PairedTrial trial;      ///< but for a judged one: only the programs and `reproduce`
  PairedReport report;           ///< of a judged one
  model::PairedFailure failure;  ///< of a failed one
};

}  // namespace taskbench::reports::verdict
