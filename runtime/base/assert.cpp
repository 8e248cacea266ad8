#include "runtime/base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace taskbench::rt::base {

void fail_assertion(const char* what, const char* file, int line) noexcept {
  std::fprintf(stderr, "taskbench runtime: %s (%s:%d)\n", what, file, line);
  std::abort();
}

}  // namespace taskbench::rt::base
