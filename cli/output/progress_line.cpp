#include "cli/output/progress_line.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "cli/output/output.hpp"

namespace taskbench::cli {
namespace {

constexpr double kFirstLineAfterS = 2;  // a run shorter than this needs no line in a log
constexpr double kBetweenLinesS = 10;
constexpr int kUnknownWidth = 80;

void write_to_stderr(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

ProgressStyle progress_style(bool quiet) {
  if (quiet) return ProgressStyle::none;
  return takes_escapes(STDERR_FILENO) ? ProgressStyle::rewritten : ProgressStyle::lines;
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<long long>(std::llround(std::max(0.0, seconds)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

namespace {

/// "12/45 repetitions, 3 s elapsed, 8 s left: chained_spawn/work_stealing/workers:2".
std::string progress_text(const measure::Progress& progress) {
  std::string text = fmt::format("{}/{} repetitions, {} elapsed", progress.repetitions_done,
                                 progress.repetitions_total, duration_text(progress.elapsed_s));
  if (progress.remaining_s) {  // rounded up: what is not done yet takes no 0 s
    text +=
        fmt::format(", {} left", duration_text(std::max(1.0, std::ceil(*progress.remaining_s))));
  }
  if (!progress.case_name.empty()) text += fmt::format(": {}", progress.case_name);
  return text;
}

}  // namespace

void ProgressLine::show(const measure::Progress& progress) {
  // Done: the result says so.
  if (style_ == ProgressStyle::lines && progress.case_name.empty()) return;
  show(progress_text(progress));
}

double ProgressLine::elapsed_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void ProgressLine::show(const std::string& text) {
  switch (style_) {
    case ProgressStyle::none:
      return;
    case ProgressStyle::lines: {
      const double since = elapsed_s() - shown_at_s_.value_or(0);
      if (since < (shown_at_s_ ? kBetweenLinesS : kFirstLineAfterS)) return;
      shown_at_s_ = elapsed_s();
      write_to_stderr(fmt::format("taskbench: {}\n", text));
      return;
    }
    case ProgressStyle::rewritten: {
      // One column stays free: a full last column makes some terminals wrap.
      const int width = std::max(2, columns(STDERR_FILENO, kUnknownWidth));
      write_to_stderr(
          fmt::format("\r{}\x1b[K", text.substr(0, static_cast<std::size_t>(width) - 1)));
      on_screen_ = true;
      return;
    }
  }
}

void ProgressLine::clear() {
  if (!on_screen_) return;
  write_to_stderr("\r\x1b[K");
  on_screen_ = false;
}

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
  ProgressLine line(style);
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, kBetweenLooks, [this] { return ended_; })) {
    if (stop_.stop_requested()) {
      line.clear();
      print_note(farewell_);
      std::_Exit(static_cast<int>(ExitCode::interrupted));  // the other thread still works
    }
    if (line.elapsed_s() < kFirstLineAfterS) continue;
    line.show("{}, {} elapsed", text_, duration_text(line.elapsed_s()));
  }
}

}  // namespace taskbench::cli
