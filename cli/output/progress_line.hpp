// Shows on standard error how far a run is.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "cli/output/names.hpp"
#include "harness/bench/measure.hpp"

namespace taskbench::cli {

/// One line, always the newest, on a terminal; elsewhere, as in CI, a line now and then, so that
/// logs stay short; and nothing when it is quiet. Counts from its construction. Not thread-safe:
/// for the thread that measures. Clears its line when it is destroyed.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  void show(const harness::Progress& progress);
  /// Where something else than repetitions is counted.
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
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool on_screen_ = false;
  std::optional<double> shown_at_s_;  ///< elapsed time of the last plain line
};

/// Shows what a trial says of itself on the line, which must outlive it; and, unless that is quiet,
/// its notes.
[[nodiscard]] Listener listener_on(ProgressLine& line);

/// Work that nothing can ask to stop, such as parsing a large file: a second thread says how far it
/// is and ends the process when ^C asks for that.
///
/// While one lives, an interrupt ends the process with status 130, whatever the main thread does.
/// So nothing may lie on the disk then that has to be removed. What takes longer than two seconds
/// is shown.
class UnstoppableWork {
 public:
  /// `farewell` is the note that an interrupt ends with. `stop` is of stop_on_signals().
  UnstoppableWork(const std::stop_token& stop, std::string farewell);
  UnstoppableWork(const UnstoppableWork&) = delete;
  UnstoppableWork& operator=(const UnstoppableWork&) = delete;
  ~UnstoppableWork();

  /// What is done from now on: "reading result 3 of 1000".
  void show(std::string text);

 private:
  void watch();

  std::stop_token stop_;
  const std::string farewell_;
  std::mutex mutex_;  // of the two below
  std::string text_;
  bool ended_ = false;
  std::condition_variable end_;
  std::thread watcher_;  // last: it starts when all the rest is there
};

}  // namespace taskbench::cli
