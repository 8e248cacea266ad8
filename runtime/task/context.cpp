#include "runtime/task/context.hpp"

#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt::task {

namespace {
struct ContextTag;
}  // namespace

[[gnu::noinline]] ThreadContext& thread_context() noexcept {
  return base::of_this_thread<ThreadContext, ContextTag>();
}

}  // namespace taskbench::rt::task
