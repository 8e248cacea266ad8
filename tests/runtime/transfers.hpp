// Coroutines of a unit that is compiled to hand control on in the other way than the rest of the
// tests (TASKBENCH_TAIL_CALLS): what a debug build does with a library built for release.
#pragma once

#include "runtime/task/fork_join.hpp"
#include "runtime/task/task.hpp"

namespace taskbench::rt::tests {

Task<int> add_elsewhere(int left, int right);

/// `levels` coroutines, each of which awaits the next: every second one is the caller's.
Task<int> depth_elsewhere(int levels);
Task<int> depth_here(int levels);

/// A tree of so many levels, in which every second fork is the caller's.
Fork<int> leaves_elsewhere(int levels);
Fork<int> leaves_here(int levels);

}  // namespace taskbench::rt::tests
