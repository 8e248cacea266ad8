// Tasks that show in which order a scheduler runs them.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/runtime.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt::tests {

using Log = std::vector<int>;

inline Task<> note_id(Log* log, int id) {
  log->push_back(id);
  co_return;
}

/// Notes `id` before each of `yields` yields.
inline Task<> note_and_yield(Log* log, int id, int yields) {
  for (int i = 0; i < yields; ++i) {
    log->push_back(id);
    co_await yield_now();
  }
}

/// Runs `body` as a task of a pool with one worker, until it has ended and the log has `entries`.
inline Log log_of(Runtime runtime, Task<> (*body)(Log*), std::size_t entries) {
  Log log;
  run_as_task(runtime, [&]() -> Task<> {
    co_await body(&log);
    while (log.size() < entries) co_await yield_now();
  });
  return log;
}

/// A chain of tasks, each of which spawns the next one; counts them.
inline Task<> respawn_until(const std::atomic<bool>* stop, std::atomic<int>* links) {
  links->fetch_add(1);
  if (!stop->load()) spawn(respawn_until(stop, links)).detach();
  co_return;
}

/// Tasks from outside, each spawned when the previous one runs, and the number of other polls in
/// between. For a runtime with one worker.
class Arrivals {
 public:
  explicit Arrivals(Runtime& runtime) : runtime_(runtime) {}

  /// Spawns the first one. Must not be called before the other tasks exist.
  void begin() {
    std::thread([this] { runtime_.spawn(arrive()).detach(); }).join();
  }
  void count_poll() { ++polls_; }
  [[nodiscard]] bool are_over() const { return between_.size() == 5; }

  /// Leaves out the first, before which the worker may have looked at any time.
  [[nodiscard]] std::vector<int> polls_between() const {
    return {between_.begin() + 1, between_.end()};
  }

 private:
  Task<> arrive() {
    between_.push_back(std::exchange(polls_, 0));
    if (!are_over()) begin();
    co_return;
  }

  Runtime& runtime_;
  int polls_ = 0;
  std::vector<int> between_;
};

}  // namespace taskbench::rt::tests
