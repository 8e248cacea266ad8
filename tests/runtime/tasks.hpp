// Tasks that many tests of the runtime spawn.
#pragma once

#include "runtime/runtime.hpp"
#include "tests/runtime/fixtures.hpp"

namespace taskbench::rt::testing {

inline Task<> nothing() { co_return; }

inline Task<int> number(int value) { co_return value; }

inline Task<> yield_times(int times) {
  for (int i = 0; i < times; ++i) co_await yield_now();
}

inline Task<> yield_forever() {
  for (;;) co_await yield_now();
}

inline Task<> yield_forever(Resident) {
  for (;;) co_await yield_now();
}

inline Task<> wait_forever(Resident) { co_await forever(); }

inline Task<> wait_at(Gate* gate, Resident) { co_await gate->passed(); }

}  // namespace taskbench::rt::testing
