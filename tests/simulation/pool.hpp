// The pool of work_stealing on the simulated machine. Behind the machine's primitives only.
#pragma once

#include "runtime/scheduler/engine.hpp"

namespace taskbench::rt {

/// A pool with the machine's Changes, its threads started. Its lines are put down to what they
/// belong to.
[[nodiscard]] base::Ref<scheduler::Engine> simulated_pool(RuntimeOptions options);

}  // namespace taskbench::rt
