// The system's futex, for code that times sleeping.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace taskbench::harness {

/// FUTEX_WAIT_PRIVATE or FUTEX_WAKE_PRIVATE on `word`; returns the system call's result.
inline long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr,
                   nullptr, 0);
}

}  // namespace taskbench::harness
