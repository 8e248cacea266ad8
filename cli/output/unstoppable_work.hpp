// Work that nothing can ask to stop, such as parsing a large file: a second thread says how far it
// is and ends the process when ^C asks for that.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "cli/names.hpp"
#include "cli/output/progress_line.hpp"

namespace taskbench::cli {

/// While one lives, an interrupt ends the process with status 130, whatever the main thread does.
/// So nothing may lie on the disk then that has to be removed. What takes longer than two seconds
/// is shown.
class UnstoppableWork {
 public:
  /// `farewell` is the note that an interrupt ends with. `stop` is of stop_on_signals().
  UnstoppableWork(ProgressStyle style, const std::stop_token& stop, std::string farewell);
  UnstoppableWork(const UnstoppableWork&) = delete;
  UnstoppableWork& operator=(const UnstoppableWork&) = delete;
  ~UnstoppableWork();

  /// What is done from now on: "reading result 3 of 1000".
  void show(std::string text);

 private:
  void watch(ProgressStyle style);

  std::stop_token stop_;
  const std::string farewell_;
  std::mutex mutex_;  // of the two below
  std::string text_;
  bool ended_ = false;
  std::condition_variable end_;
  std::thread watcher_;  // last: it starts when all the rest is there
};

}  // namespace taskbench::cli
