// Binding threads to CPUs, for `--pin`.
#pragma once

#include <sched.h>

#include <vector>

namespace taskbench::harness {

/// The CPUs that the calling thread may use, in ascending order. Empty where that cannot be asked.
[[nodiscard]] std::vector<unsigned> allowed_cpus();

/// How many these are, or, where that cannot be asked, how many the machine has. At least 1.
[[nodiscard]] unsigned usable_cpu_count();

/// Binds the calling thread to `cpu`. False when the kernel refuses.
[[nodiscard]] bool bind_to_cpu(unsigned cpu);

/// Binds the calling thread to one CPU and gives it back what it had.
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
