// How a process of a measured program samples its benchmarks: what paired trials, series, the
// ladder and each request to a program have in common.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace taskbench::reports::model {

struct Sampling {
  std::int64_t repetitions = 5;  ///< of each benchmark, whose median counts
  double min_time_s = 0.02;      ///< of a repetition whose iterations are not given
  std::uint64_t seed = 1;        ///< of everything that is drawn
  /// Of a repetition, by benchmark, where the program takes them: the same for all processes that
  /// are compared, as different counts bias the mean.
  std::map<std::string, std::int64_t> iterations{};
};

}  // namespace taskbench::reports::model
