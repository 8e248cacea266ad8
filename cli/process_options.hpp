// The options of the commands that start many fresh processes: how each measures, and how long it
// may take.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace taskbench::cli {

/// What --timeout is when it is not given.
inline constexpr double kDefaultProcessTimeout_s = 300;

/// The most that --budget takes.
inline constexpr double kMaxBudget_s = 24 * 3600;

class ProcessOptions {
 public:
  /// Declares --repetitions, --min-time, --timeout and --seed.
  void declare(CLI::App& app);

  /// Declares --timeout alone, where the others are those of an earlier measurement.
  void declare_timeout(CLI::App& app);

  /// Sets what was given, or the defaults, in a PairedSetup or a SeriesSetup. Throws UsageError.
  template <class Setup>
  void apply_to(Setup& setup) const {
    setup.seed = seed();
    setup.repetitions = repetitions();
    setup.min_time_s = min_time_s();
  }

  /// Throws UsageError.
  [[nodiscard]] double timeout_s() const;

  [[nodiscard]] bool is_timeout_given() const { return !timeout_.empty(); }

  /// The names of the options that were given, without --timeout, which decides no result.
  [[nodiscard]] std::vector<std::string_view> given() const;

 private:
  [[nodiscard]] std::uint64_t seed() const;
  [[nodiscard]] std::int64_t repetitions() const;
  [[nodiscard]] double min_time_s() const;

  std::vector<std::string> repetitions_;
  std::vector<std::string> min_time_;
  std::vector<std::string> timeout_;
  std::vector<std::string> seed_;
};

}  // namespace taskbench::cli
