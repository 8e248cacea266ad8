// The noise of one machine, as measured there by `taskbench calibrate`. Plain values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/model/machine_key.hpp"

namespace taskbench::reports::model {

/// Version of the file. Raised when a reader of the old version would misread the new one.
inline constexpr int kNoiseVersion = 1;

/// The trials that the noise was derived from.
struct NoiseOrigin {
  std::string date;                 ///< RFC 3339
  std::vector<std::string> copies;  ///< commands, measured against each other
  int blocks = 0;                   ///< in each trial
  double block_s = 0;               ///< mean duration of a block
  bool checked = false;             ///< whether the copies were linked from the same objects

  friend bool operator==(const NoiseOrigin&, const NoiseOrigin&) = default;
};

struct BenchmarkNoise {
  double epsilon = 0;    ///< noise floor, relative: 0.01 is 1 %
  double deviation = 0;  ///< of the difference of one block, log ratio; median over the trials
  std::vector<double> effects;  ///< estimate of each trial, log ratio
  std::vector<double> levels;   ///< of each copy, log ratio to their mean; fitted to the effects
  /// The calibration that the values are from, if the last one did not have this benchmark.
  std::optional<NoiseOrigin> earlier{};
};

/// The last calibration, completed by earlier results for other benchmarks.
struct NoiseCalibration : NoiseOrigin {
  std::vector<KeyField> machine;                     ///< the machine fields of its key
  std::map<std::string, BenchmarkNoise> benchmarks;  ///< by name
};

}  // namespace taskbench::reports::model
