// The options of the commands that give a verdict: ab and compare.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/exit_code.hpp"
#include "cli/option_values.hpp"
#include "reports/verdict/decision.hpp"

namespace taskbench::cli {

class VerdictOptions {
 public:
  void declare(CLI::App& app, OptionValueTable& values);

  /// Understands what was given. Throws UsageError. To be called before the others.
  void parse();

  /// The smallest slowdown that matters, relative.
  [[nodiscard]] double delta() const { return delta_; }
  /// Chance that anything fails where nothing is slower.
  [[nodiscard]] double alpha() const { return alpha_; }
  [[nodiscard]] bool is_delta_given() const { return !delta_text_.empty(); }
  [[nodiscard]] bool is_alpha_given() const { return !alpha_text_.empty(); }
  /// As the table of exit codes says, with --inconclusive. What could not have failed whatever it
  /// measured does not pass for being inconclusive, unless that is asked for by name; a note on
  /// standard error says so.
  [[nodiscard]] ExitCode exit_code(reports::verdict::Verdict overall, bool could_fail = true) const;

 private:
  std::vector<std::string> delta_text_;
  std::vector<std::string> alpha_text_;
  std::vector<std::string> inconclusive_text_;
  double delta_ = 0.03;
  double alpha_ = 0.01;
  ExitCode inconclusive_ = ExitCode::inconclusive;
  bool passes_always_ = false;
};

}  // namespace taskbench::cli
