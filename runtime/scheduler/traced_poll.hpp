// A poll that the tracer records.
#pragma once

#include "runtime/task/harness.hpp"
#include "runtime/trace/recording.hpp"

namespace taskbench::rt::scheduler {

/// How a poll ended, in the words of the tracer, which stands below the tasks and has its own.
constexpr PollEnd poll_end(task::Polled polled) { return static_cast<PollEnd>(polled); }

static_assert(poll_end(task::Polled::finished) == PollEnd::finished &&
              poll_end(task::Polled::idle) == PollEnd::idle &&
              poll_end(task::Polled::yielded) == PollEnd::yielded &&
              poll_end(task::Polled::woken) == PollEnd::woken);

[[gnu::noinline, gnu::cold]] inline task::Polled poll_and_record(
    task::Header* task, trace::Recorder recorder) noexcept {
  recorder.poll_start(task);
  const task::Polled polled = task::poll(task);
  recorder.poll_end(poll_end(polled));
  return polled;
}

/// task::poll(), recorded where something is traced: one test for both events.
inline task::Polled poll(task::Header* task, trace::Recorder recorder) noexcept {
  return recorder.is_on() ? poll_and_record(task, recorder) : task::poll(task);
}

}  // namespace taskbench::rt::scheduler
