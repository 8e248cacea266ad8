// Switching between stacks on one OS thread. A fiber that is not resumed any more is abandoned: its
// stack is reused, and nothing on it is destroyed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mc {

/// Where a suspended stack resumes.
struct Context {
  void* stack_pointer = nullptr;
};

/// Saves the state of this stack in `from` and resumes `to`. The C++ exceptions being handled
/// belong to a stack and are switched with it.
void switch_to(Context& from, const Context& to);

/// A context that calls entry(), which must not return, on the stack of `size` bytes.
[[nodiscard]] Context make_context(std::byte* stack, std::size_t size, void (*entry)());

}  // namespace mc
