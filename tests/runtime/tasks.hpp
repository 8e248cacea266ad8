// Tasks that many tests of the runtime spawn.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/runtime.hpp"
#include "tests/runtime/fixtures.hpp"

namespace taskbench::rt::tests {

inline Task<> nothing() { co_return; }

inline Task<int> number(int value) { co_return value; }

inline Task<> yield_times(int times) {
  for (int i = 0; i < times; ++i) co_await yield_now();
}

/// Lets other tasks take their turns until `condition` holds.
inline Task<> until(std::function<bool()> condition) {
  while (!condition()) co_await yield_now();
}

/// Gives way by waking itself, with the waker that yield_now() does not need.
inline Task<> wake_itself() {
  bool again = false;
  co_await poll_fn([&again](PollContext& context) -> std::optional<bool> {
    if (std::exchange(again, true)) return true;
    context.wake_now();
    return std::nullopt;
  });
}

template <class T>
Task<> join_all(std::vector<JoinHandle<T>>& handles) {
  for (JoinHandle<T>& handle : handles) co_await handle;
}

/// Runs what `body` makes as a task of a worker; block_on() alone would poll it as the root. It may
/// refer to captures of `body`.
template <class Body>
auto run_as_task(Runtime& runtime, Body body) {
  return runtime.block_on(
      [](Body& made) -> std::invoke_result_t<Body&> { co_return co_await spawn(made()); }(body));
}

inline Task<> yield_forever() {
  for (;;) co_await yield_now();
}

inline Task<> yield_forever(Resident) {
  for (;;) co_await yield_now();
}

inline Task<> wait_forever(Resident) { co_await forever(); }

inline Task<> wait_at(Gate* gate, Resident) { co_await gate->passed(); }

}  // namespace taskbench::rt::tests
