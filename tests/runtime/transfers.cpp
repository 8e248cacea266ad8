#include "tests/runtime/transfers.hpp"

namespace taskbench::rt::tests {

Task<int> add_elsewhere(int left, int right) { co_return left + right; }

Task<int> depth_elsewhere(int levels) {
  if (levels == 0) co_return 0;
  const int below = co_await depth_here(levels - 1);
  co_return 1 + below;
}

Fork<int> leaves_elsewhere(int levels) {
  if (levels == 0) co_return 1;
  const auto [one, two] = co_await fork_join(leaves_here(levels - 1), leaves_here(levels - 1));
  co_return one + two;
}

}  // namespace taskbench::rt::tests
