// Work for tasks that takes a processor and nothing else.
#pragma once

#include <cstdint>

namespace taskbench::workloads {

/// `steps` multiplications that each wait for the one before, about a nanosecond each; touches no
/// memory. An amount of work, not of time: a task that loses its CPU meanwhile has not done any.
inline void compute(std::uint64_t steps) {
  std::uint64_t value = 1;
  for (std::uint64_t i = 0; i < steps; ++i) {
    value = value * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(value));  // keeps the compiler from finding a shorter way
  }
}

}  // namespace taskbench::workloads
