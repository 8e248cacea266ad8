// The memory of one run: while an Arena exists, operator new takes from it. Each run of a program
// thus finds its objects at the same addresses, on the same cache lines, whatever ran before. A
// core reuses what it has freed, newest first, and passes blocks on when it has too many.
//
// Threads: one. Nothing allocated while an Arena exists may be used after it.
#pragma once

#include <cstddef>

namespace sim {

class Arena {
 public:
  Arena();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
};

}  // namespace sim
