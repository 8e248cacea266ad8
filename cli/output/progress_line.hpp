// Shows the progress of a run on standard error.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "cli/output/names.hpp"
#include "harness/bench/measure.hpp"

namespace taskbench::cli {

/// On a terminal, one line that is updated; elsewhere, as in CI, a line now and then, so that logs
/// stay short; nothing with `quiet`. Time counts from construction. Not thread-safe: for the
/// measuring thread. Clears its line on destruction.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  void show(const Progress& progress);
  /// For progress that is not counted in repetitions.
  void show(const std::string& text);
  template <class... Parts>
  requires(sizeof...(Parts) > 0) void show(fmt::format_string<Parts...> format, Parts&&... parts) {
    show(fmt::format(format, std::forward<Parts>(parts)...));
  }

  [[nodiscard]] double elapsed_s() const;

  /// Prints a note on standard error, unless quiet.
  void note(const std::string& text);

  /// Removes an updated line from the terminal, before anything else is written there.
  void clear();

 private:
  bool quiet_;
  bool is_rewritten_;
  Clock::time_point start_ = Clock::now();
  bool on_screen_ = false;
  std::optional<double> shown_at_s_;  ///< elapsed time of the last plain line
};

/// A listener that shows progress on a line and, unless quiet, prints notes. The line is cleared
/// when the listener and all its copies are gone.
[[nodiscard]] Listener listener_on_a_line(bool quiet);

/// Work that cannot be asked to stop, such as parsing a large file, or waiting for one. If it takes
/// longer than two seconds, a second thread shows its progress.
///
/// While an object of this class exists, an interrupt ends the process with status 130, whatever
/// the main thread does. So there must be nothing on the disk then that needs to be removed.
class UnstoppableWork {
 public:
  /// `stop` comes from stop_on_signals(); `farewell` is the note printed at an interrupt.
  UnstoppableWork(const std::stop_token& stop, std::string farewell);

  /// Sets the description of the current work: "reading result 3 of 1000". Empty: nothing to show.
  void show(std::string text);

 private:
  void watch(const std::stop_token& is_done);

  std::stop_token stop_;
  const std::string farewell_;
  std::mutex mutex_;  // for line_ and text_
  ProgressLine line_{false};
  std::string text_;
  std::condition_variable_any end_;
  std::jthread watcher_;  // last: it runs only while the other members exist
};

}  // namespace taskbench::cli
