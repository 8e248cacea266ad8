// Shows on standard error how far a run is.
#pragma once

#include <chrono>

#include "cli/names.hpp"
#include "workloads/measure/measure.hpp"

namespace taskbench::cli {

enum class ProgressStyle {
  none,       ///< --quiet
  lines,      ///< not a terminal, as in CI: a line now and then, so that logs stay short
  rewritten,  ///< a terminal: one line, always the newest
};

/// The style that suits standard error.
[[nodiscard]] ProgressStyle progress_style(bool quiet);

/// Counts from its construction. Not thread-safe: for the thread that measures. Clears its line
/// when it is destroyed.
class ProgressLine {
 public:
  explicit ProgressLine(ProgressStyle style) : style_(style) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  void show(const measure::Progress& progress);
  /// Where something else than repetitions is counted.
  void show(const std::string& text);

  [[nodiscard]] double elapsed_s() const;

  /// Takes a rewritten line off the terminal, before anything else is written there.
  void clear();

 private:
  ProgressStyle style_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool on_screen_ = false;
  std::optional<double> shown_at_s_;  ///< elapsed time of the last plain line
};

/// "8 s", "2 min 05 s", "1 h 07 min".
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace taskbench::cli
