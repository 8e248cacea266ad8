// The measurements of `taskbench ladder`: a workload on a series of schedulers, each one step ahead
// of the one before. Plain values.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/machine_key.hpp"
#include "reports/model/sampling.hpp"

namespace taskbench::reports::model {

/// Version of the file. Raised when a reader of the old version would misread the new one.
inline constexpr int kLadderVersion = 1;

struct LadderRung {
  std::string scheduler;
  std::string step;      ///< the addition to the rung before
  bool is_ours = false;  ///< not in "Making the Tokio scheduler 10x faster"
};

struct LadderWorkload {
  std::string name;
  /// The time of an iteration on each rung, block by block; a block is one process.
  std::vector<std::vector<double>> blocks_ns;
};

struct Ladder : Sampling {
  std::string date;               ///< RFC 3339
  std::string commit;             ///< of the sources; may be empty
  std::vector<KeyField> machine;  ///< the machine fields of its key
  unsigned workers = 2;
  bool partial = false;  ///< interrupted
  std::vector<LadderRung> rungs;
  std::vector<LadderWorkload> workloads;
};

/// An iteration before and after, as reported by "Making the Tokio scheduler 10x faster".
struct DocumentedTotal {
  std::string_view workload;
  double before_ns;
  double after_ns;
  [[nodiscard]] constexpr double ratio() const { return before_ns / after_ns; }
};
inline constexpr std::array<DocumentedTotal, 4> kDocumentedTotals{{
    {"chained_spawn", 2'019'796, 168'854},
    {"ping_pong", 1'279'948, 562'659},
    {"spawn_many", 10'283'608, 7'320'737},
    {"yield_many", 21'450'748, 14'638'563},
}};

}  // namespace taskbench::reports::model
