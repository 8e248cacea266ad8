// Binding threads to CPUs, for `--pin`.
#pragma once

#include <sched.h>

#include "harness/os/names.hpp"

namespace taskbench::harness {

/// The CPUs that the calling thread may use, in ascending order. Empty if unknown.
[[nodiscard]] std::vector<unsigned> allowed_cpus();

/// The number of these CPUs or, if unknown, of those of the machine. At least 1.
[[nodiscard]] unsigned usable_cpu_count();

/// Binds the calling thread to `cpu`. False if the kernel refuses.
[[nodiscard]] bool bind_to_cpu(unsigned cpu);

/// Binds the calling thread to one CPU; restores its CPUs on destruction.
class ScopedBinding {
 public:
  explicit ScopedBinding(unsigned cpu);
  ~ScopedBinding();
  ScopedBinding(const ScopedBinding&) = delete;
  ScopedBinding& operator=(const ScopedBinding&) = delete;

  [[nodiscard]] bool bound() const { return bound_; }

 private:
  cpu_set_t before_{};
  bool bound_ = false;
};

}  // namespace taskbench::harness
