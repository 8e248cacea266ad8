// Work for tasks that only uses the processor.
#pragma once

#include <cstdint>

namespace taskbench::workloads {

/// Does `steps` multiplications, each dependent on the one before: about a nanosecond each, without
/// memory accesses. This is an amount of work, not of time: a task that loses its CPU meanwhile
/// makes no progress.
inline void compute(std::uint64_t steps) {
  std::uint64_t value = 1;
  for (std::uint64_t i = 0; i < steps; ++i) {
    value = value * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(value));  // keeps the compiler from finding a shortcut
  }
}

}  // namespace taskbench::workloads
