// The work_stealing pool on the simulated machine. Only for sources behind the machine's
// primitives.
#pragma once

#include "runtime/scheduler/engine.hpp"

namespace taskbench::rt {

/// A pool with the machine's Changes and its threads started. Its lines are attributed to what they
/// belong to.
[[nodiscard]] base::Ref<scheduler::Engine> simulated_pool(RuntimeOptions options);

}  // namespace taskbench::rt
