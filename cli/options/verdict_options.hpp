// The options of the commands that give a verdict: ab and compare.
#pragma once

#include "cli/exit_code.hpp"
#include "cli/names.hpp"
#include "cli/options/options.hpp"
#include "reports/verdict/decision.hpp"

namespace taskbench::cli {

struct MeaningOfInconclusive;

class VerdictOptions {
 public:
  VerdictOptions();

  void declare(Options& options);

  /// The smallest slowdown that matters, relative.
  [[nodiscard]] double delta() const { return delta_; }
  /// Chance that anything fails where nothing is slower.
  [[nodiscard]] double alpha() const { return alpha_; }
  [[nodiscard]] bool is_delta_given() const { return delta_option_->count() > 0; }
  [[nodiscard]] bool is_alpha_given() const { return alpha_option_->count() > 0; }
  /// As the table of exit codes says, with --inconclusive. What could not have failed whatever it
  /// measured does not pass for being inconclusive, unless that is asked for by name; a note on
  /// standard error says so.
  [[nodiscard]] ExitCode exit_code(verdict::Verdict overall, bool could_fail = true) const;

 private:
  double delta_ = 0.03;
  double alpha_ = 0.01;
  const MeaningOfInconclusive* inconclusive_;
  const CLI::Option* delta_option_ = nullptr;
  const CLI::Option* alpha_option_ = nullptr;
};

}  // namespace taskbench::cli
