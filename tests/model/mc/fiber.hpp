// Switching between stacks on one OS thread. A fiber that is not resumed any more is abandoned: its
// stack is used again, and nothing on it is destroyed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mc {

/// Where a stack that does not run will go on.
struct Context {
  void* stack_pointer = nullptr;
};

/// Saves where this stack is in `from` and goes on with `to`. The C++ exceptions that are being
/// handled belong to a stack, and are switched with it.
void switch_to(Context& from, const Context& to);

/// A context that calls entry(), which must not return, on the stack of `size` bytes.
[[nodiscard]] Context make_context(std::byte* stack, std::size_t size, void (*entry)());

}  // namespace mc
