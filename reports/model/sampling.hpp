// How a process of a measured program samples its benchmarks: the settings shared by paired trials,
// series, the ladder and each request to a program.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace taskbench::reports::model {

struct Sampling {
  std::int64_t repetitions = 5;  ///< of each benchmark; their median counts
  double min_time_s = 0.02;      ///< of a repetition whose iterations are not given
  std::uint64_t seed = 1;        ///< of all random choices
  /// Of a repetition, by benchmark, if the program accepts them: the same for all processes that
  /// are compared, since different counts bias the mean.
  std::map<std::string, std::int64_t> iterations{};
};

}  // namespace taskbench::reports::model
