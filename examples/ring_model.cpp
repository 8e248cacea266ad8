// A model of ring.hpp: two threads, and all that can come of them, explored by taskbench::model.
// The ring has one slot here, so that it is full at once: then push() waits for pop() to have read
// it.
#include "ring.hpp"

#include <cstdio>

#include <taskbench/model/check.hpp>

namespace {

void one_pushes_what_another_pops() {
  Ring<int, 1> ring;
  int pushed = 0;
  mc::Thread pusher([&] {
    for (int value = 1; value <= 2; ++value) pushed += ring.push(value) ? value : 0;
  });
  int popped = 0;
  for (int value = 0, look = 0; look < 2; ++look) {
    if (ring.pop(value)) popped += value;
  }
  pusher.join();
  mc::sometimes("the ring was full", pushed == 1);
  mc::sometimes("a slot was used twice", popped == 3);
  for (int value = 0; ring.pop(value);) popped += value;
  mc::require(popped == pushed, "what was pushed is popped, once");
}

}  // namespace

int main() {
  const mc::Result result = mc::check({}, one_pushes_what_another_pops);
  std::printf("%llu executions, %s\n", static_cast<unsigned long long>(result.executions),
              result.failed ? result.message.c_str() : "all as it should be");
  if (!result.failed) return 0;
  std::printf("MC_TRACE=%s\n%s", result.trace.c_str(), result.events.c_str());
  return 1;
}
