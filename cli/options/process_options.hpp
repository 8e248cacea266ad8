// The options of the commands that start many fresh processes: how each measures, and how long it
// may take.
#pragma once

#include <cstdint>

#include "cli/names.hpp"
#include "cli/options/options.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::cli {

/// What --timeout is when it is not given.
inline constexpr double kDefaultProcessTimeout_s = 300;

/// The most that --budget takes.
inline constexpr double kMaxBudget_s = 24 * 3600;

class ProcessOptions {
 public:
  /// Declares --repetitions, --min-time, --timeout and --seed.
  void declare(Options& options);

  /// Declares --timeout alone, where the others are those of an earlier measurement.
  void declare_timeout(Options& options);

  /// Sets what was given, or the defaults, in a PairedSetup or a SeriesSetup.
  template <class Setup>
  void apply_to(Setup& setup) const {
    setup.seed = seed_;
    setup.repetitions = repetitions_;
    setup.min_time_s = min_time_s_;
  }

  [[nodiscard]] double timeout_s() const { return timeout_s_; }

 private:
  // What reports leave out of the command that reproduces them.
  std::int64_t repetitions_ = model::PairedSetup{}.repetitions;
  double min_time_s_ = model::PairedSetup{}.min_time_s;
  double timeout_s_ = kDefaultProcessTimeout_s;
  std::uint64_t seed_ = 1;
};

}  // namespace taskbench::cli
