// Blocking sections that end when other tasks have done something.
#pragma once

#include "runtime/park/parker.hpp"
#include "runtime/runtime.hpp"

namespace taskbench::rt::model {

/// Lets one thread continue after a given number of calls.
class Calls {
 public:
  explicit Calls(int wanted) : wanted_(wanted) {}
  void call() {
    // acq_rel: the last call hands over what all callers have done
    if (count_.fetch_add(1, base::acq_rel) + 1 == wanted_) (void)parker_.unpark();
  }
  void await() { parker_.park(); }

 private:
  const int wanted_;
  base::Atomic<int> count_{0};
  park::Parker parker_;
};

inline Task<int> makes_a_call(Calls& calls) {
  calls.call();
  co_return 1;
}

/// Blocks until `calls` has been called often enough.
inline Task<int> blocks_until(Calls& calls) {
  block_in_place([&] { calls.await(); });
  co_return 1;
}

/// Calls `other`, then blocks until `own` has been called often enough.
inline Task<int> calls_and_blocks_until(Calls& other, Calls& own) {
  block_in_place([&] {
    other.call();
    own.await();
  });
  co_return 1;
}

}  // namespace taskbench::rt::model
