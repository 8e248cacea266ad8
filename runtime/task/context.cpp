#include "runtime/task/context.hpp"

namespace taskbench::rt::task {

namespace {
constinit thread_local ThreadContext context{};
}  // namespace

[[gnu::noinline]] ThreadContext& thread_context() noexcept { return context; }

}  // namespace taskbench::rt::task
