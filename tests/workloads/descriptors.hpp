// The number of open descriptors of this process.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>

namespace taskbench::workloads {

inline std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator open("/proc/self/fd");
  return std::distance(begin(open), end(open));
}

}  // namespace taskbench::workloads
