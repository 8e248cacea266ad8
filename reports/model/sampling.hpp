// How a process of a measured program samples its benchmarks: what paired trials, series, the
// ladder and each request to a program have in common.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace taskbench::reports::model {

struct Sampling {
  // Many short ones: on a busy machine a process loses its CPU for milliseconds at a time, which
  // some repetitions meet, and their median does not. The time goes into more processes.
  std::int64_t repetitions = 9;  ///< of each benchmark, whose median counts
  double min_time_s = 0.001;     ///< of a repetition whose iterations are not given
  std::uint64_t seed = 1;        ///< of everything that is drawn
  /// Of a repetition, by benchmark, where the program takes them: the same for all processes that
  /// are compared, as different counts bias the mean.
  std::map<std::string, std::int64_t> iterations{};
};

}  // namespace taskbench::reports::model
