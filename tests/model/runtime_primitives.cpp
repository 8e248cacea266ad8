#include "runtime/base/assert.hpp"

namespace taskbench::rt::base {

void fail_assertion(const char* what, const char* file, int line) noexcept {
  mc::fail(std::string("the runtime says: ") + what + ", at " + file + ":" + std::to_string(line));
}

}  // namespace taskbench::rt::base
