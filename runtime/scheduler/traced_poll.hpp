// A poll that the tracer records, and how its end is counted.
#pragma once

#include "runtime/task/harness.hpp"
#include "runtime/trace/counters.hpp"
#include "runtime/trace/planted_delay.hpp"
#include "runtime/trace/recording.hpp"

namespace taskbench::rt::scheduler {

/// How a poll ended, as an enum of the tracer, which lies below the tasks and has its own.
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

/// task::poll(), recorded if tracing is on: one test for both events.
inline task::Polled poll(task::Header* task, trace::Recorder recorder) noexcept {
  return recorder.is_on() ? poll_and_record(task, recorder) : task::poll(task);
}

/// Counts how a poll ended, and calls `push_back` if the task goes to the back of the queue.
template <class PushBack>
void after_poll(task::Polled polled, trace::CounterBlock& counters, PushBack&& push_back) noexcept {
  switch (polled) {
    case task::Polled::finished:
      counters.tasks_completed.add();
      break;
    case task::Polled::idle:
      break;
    case task::Polled::yielded:
      counters.yields.add();
      trace::planted_delay(DelaySite::yield);
      push_back();
      break;
    case task::Polled::woken:
      push_back();
      break;
  }
}

}  // namespace taskbench::rt::scheduler
