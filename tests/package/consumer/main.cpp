// Spawns a task, joins it and prints what it returned.
#include <cstdio>
#include <utility>

#include <taskbench/runtime/runtime.hpp>
#include <taskbench/runtime/sync/oneshot.hpp>

namespace rt = taskbench::rt;

namespace {

rt::Task<int> add(int a, int b) {
  co_await rt::yield_now();
  co_return a + b;
}

rt::Task<int> spawn_and_join() {
  auto handle = rt::spawn(add(40, 2));
  co_return co_await std::move(handle);
}

}  // namespace

int main() {
  auto runtime = rt::Runtime::Builder{}.workers(2).build();
  std::printf("%d\n", runtime.block_on(spawn_and_join()));
}
