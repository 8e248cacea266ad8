// The memory of one run: while one of these lives, operator new takes from it. So each run of a
// program finds its objects at the same addresses, on the same cache lines, whatever ran before.
// What a core has freed it uses again, the newest first, and passes on when it has too many.
//
// Threads: one. Nothing that was allocated meanwhile may be used afterwards.
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
