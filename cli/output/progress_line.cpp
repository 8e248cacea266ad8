#include "cli/output/progress_line.hpp"

#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "cli/output/output.hpp"
#include "reports/model/date.hpp"
#include "reports/render/columns.hpp"

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

ProgressLine::ProgressLine(bool quiet)
    : quiet_(quiet), is_rewritten_(takes_escapes(STDERR_FILENO)) {}

void ProgressLine::show(const Progress& progress) {
  if (!is_rewritten_ && progress.case_name.empty()) return;  // the result shows that it is done
  std::string text =
      fmt::format("{}/{} repetitions, {} elapsed", progress.repetitions_done,
                  progress.repetitions_total, model::duration_text(progress.elapsed_s));
  if (progress.remaining_s) {  // rounded up: unfinished work never has 0 s left
    text += fmt::format(", {} left",
                        model::duration_text(std::max(1.0, std::ceil(*progress.remaining_s))));
  }
  if (!progress.case_name.empty()) text += fmt::format(": {}", progress.case_name);
  show(text);
}

void ProgressLine::note(const std::string& text) {
  if (quiet_) return;
  clear();
  print_note(text);
}

Listener listener_on_a_line(bool quiet) {
  const auto line = std::make_shared<ProgressLine>(quiet);
  return {.progress = [line](const std::string& text) { line->show(text); },
          .note = [line](const std::string& text) { line->note(text); }};
}

double ProgressLine::elapsed_s() const { return seconds_since(start_); }

void ProgressLine::show(const std::string& text) {
  if (quiet_) return;
  // The text may contain the name of a benchmark, which must not control the terminal.
  const std::string line = for_people(render::one_line(text));
  if (is_rewritten_) {
    // One column stays free: a full last column makes some terminals wrap.
    const int width = std::max(2, columns(STDERR_FILENO, kUnknownWidth));
    write_to_stderr(
        fmt::format("\r{}\x1b[K", render::beginning(line, static_cast<std::size_t>(width) - 1)));
    on_screen_ = true;
    return;
  }
  const double since = elapsed_s() - shown_at_s_.value_or(0);
  if (since < (shown_at_s_ ? kBetweenLinesS : kFirstLineAfterS)) return;
  shown_at_s_ = elapsed_s();
  write_to_stderr(fmt::format("taskbench: {}\n", line));
}

void ProgressLine::clear() {
  if (!on_screen_) return;
  write_to_stderr("\r\x1b[K");
  on_screen_ = false;
}

UnstoppableWork::UnstoppableWork(const std::stop_token& stop, std::string farewell)
    : stop_(stop),
      farewell_(std::move(farewell)),
      watcher_([this](const std::stop_token& is_done) { watch(is_done); }) {}

void UnstoppableWork::show(std::string text) {
  const std::lock_guard lock(mutex_);
  text_ = std::move(text);
  if (text_.empty()) line_.clear();
}

void UnstoppableWork::watch(const std::stop_token& is_done) {
  constexpr std::chrono::milliseconds kBetweenLooks{50};
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, is_done, kBetweenLooks, [&] { return is_done.stop_requested(); })) {
    if (stop_.stop_requested()) {
      line_.clear();
      print_note(farewell_);
      std::_Exit(static_cast<int>(ExitCode::interrupted));  // the main thread is still working
    }
    if (text_.empty() || line_.elapsed_s() < kFirstLineAfterS) continue;
    line_.show("{}, {} elapsed", text_, model::duration_text(line_.elapsed_s()));
  }
}

}  // namespace taskbench::cli
