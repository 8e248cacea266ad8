// Coroutines from a translation unit in which control is transferred in the other way than in the
// rest of the tests (TASKBENCH_TAIL_CALLS), as when a debug build uses a library built for release.
#pragma once

#include "runtime/task/fork_join.hpp"
#include "runtime/task/task.hpp"

namespace taskbench::rt::tests {

Task<int> add_elsewhere(int left, int right);

/// `levels` coroutines, each awaiting the next: every second one comes from the caller's unit.
Task<int> depth_elsewhere(int levels);
Task<int> depth_here(int levels);

/// A tree of `levels` levels, in which every second fork comes from the caller's unit.
Fork<int> leaves_elsewhere(int levels);
Fork<int> leaves_here(int levels);

}  // namespace taskbench::rt::tests
