// The unit of cache traffic, for keeping apart data that different threads write.
#pragma once

#include <cstddef>

namespace taskbench::rt::base {

/// Bytes. A constant rather than std::hardware_destructive_interference_size, whose value may
/// change with the compiler's flags and would then change the layout of an installed library.
inline constexpr std::size_t kCacheLineBytes = 64;

/// Neighbouring lines are fetched in pairs on current x86: two cells that different threads write
/// often lie this far apart.
inline constexpr std::size_t kFalseSharingBytes = 128;

}  // namespace taskbench::rt::base
