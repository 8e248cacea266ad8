#include "cli/output/unstoppable_work.hpp"

#include <chrono>
#include <cstdlib>

#include "cli/exit_code.hpp"
#include "cli/output/streams.hpp"

namespace taskbench::cli {

UnstoppableWork::UnstoppableWork(ProgressStyle style, const std::stop_token& stop,
                                 std::string farewell)
    : stop_(stop), farewell_(std::move(farewell)), watcher_([this, style] { watch(style); }) {}

UnstoppableWork::~UnstoppableWork() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  end_.notify_one();
  watcher_.join();
}

void UnstoppableWork::show(std::string text) {
  const std::lock_guard lock(mutex_);
  text_ = std::move(text);
}

void UnstoppableWork::watch(ProgressStyle style) {
  constexpr std::chrono::milliseconds kBetweenLooks{50};
  constexpr double kPatienceS = 2;
  ProgressLine line(style);
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, kBetweenLooks, [this] { return ended_; })) {
    if (stop_.stop_requested()) {
      line.clear();
      print_note(farewell_);
      std::_Exit(static_cast<int>(ExitCode::interrupted));  // the other thread still works
    }
    if (line.elapsed_s() < kPatienceS) continue;
    line.show(fmt::format("{}, {} elapsed", text_, duration_text(line.elapsed_s())));
  }
}

}  // namespace taskbench::cli
