#include "harness/trials/allocation_marks_file.hpp"

#include "harness/os/atomic_file.hpp"

// The library as it was built is a part of this object file.
asm(R"(
  .pushsection .rodata
taskbench_allocation_marks:
  .incbin ")" TASKBENCH_ALLOCATION_MARKS R"("
taskbench_allocation_marks_end:
  .popsection
)");

extern "C" const char taskbench_allocation_marks[];
extern "C" const char taskbench_allocation_marks_end[];

namespace taskbench::harness {

fs::path allocation_marks_in(const fs::path& folder) {
  fs::path file = folder / perf::kAllocationMarks;
  if (!fs::exists(file)) {
    const auto size = taskbench_allocation_marks_end - taskbench_allocation_marks;
    // If it fails, allocations are counted without their bytes.
    (void)write_atomically(file, {taskbench_allocation_marks, static_cast<std::size_t>(size)});
  }
  return file;
}

}  // namespace taskbench::harness
