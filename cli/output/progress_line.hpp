// Shows on standard error how far a run is.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "cli/output/names.hpp"
#include "harness/bench/measure.hpp"

namespace taskbench::cli {

/// On a terminal one line, always the newest; elsewhere, as in CI, a line now and then, so that
/// logs stay short; with `quiet` nothing. Time counts from construction. Not thread-safe: for the
/// thread that measures. Clears its line on destruction.
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

  /// A note on standard error; nothing when it is quiet.
  void note(const std::string& text);

  /// Takes a rewritten line off the terminal, before anything else is written there.
  void clear();

 private:
  bool quiet_;
  bool is_rewritten_;
  Clock::time_point start_ = Clock::now();
  bool on_screen_ = false;
  std::optional<double> shown_at_s_;  ///< elapsed time of the last plain line
};

/// A listener that shows on a line what it hears, and unless it is quiet prints notes. The line is
/// clear once the listener, and each copy of it, is gone.
[[nodiscard]] Listener listener_on_a_line(bool quiet);

/// Work that nothing can ask to stop, such as parsing a large file, or waiting for one. Once it
/// takes longer than two seconds, a second thread shows how far it is.
///
/// While an object of this class lives, an interrupt ends the process with status 130, whatever the
/// main thread does. So there must be nothing on the disk then that has to be removed.
class UnstoppableWork {
 public:
  /// `stop` comes from stop_on_signals(); `farewell` is the note that an interrupt ends with.
  UnstoppableWork(const std::stop_token& stop, std::string farewell);

  /// Sets what is being done from now on: "reading result 3 of 1000". Empty: nothing to show.
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
