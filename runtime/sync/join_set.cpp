#include "runtime/sync/join_set.hpp"

#include <stdexcept>

#include "runtime/task/context.hpp"

namespace taskbench::rt::sync::detail {

task::Spawner& scheduler_of_this_thread() {
  task::Spawner* const scheduler = task::thread_context().scheduler;
  if (scheduler == nullptr) {
    throw std::logic_error(
        "JoinSet::spawn needs a runtime: call it from a task or inside block_on, or use spawn_on");
  }
  return *scheduler;
}

}  // namespace taskbench::rt::sync::detail
