// Functions where a Task is expected: the function and its captures stay alive as long as the task
// runs. Also block_on of anything that a task can await, by a Runtime or a Handle.
#include <stdexcept>
#include <string>
#include <thread>

#include "runtime/sync/join_set.hpp"
#include "runtime/sync/mpsc.hpp"
#include "runtime/time/timeout.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

class Callable : public OnOneRuntime {
 protected:
  /// A temporary function that makes a coroutine, which waits at the gate and then returns a
  /// capture.
  auto captures(std::string text) {
    return [text = std::move(text), kept = Resident(census_), this]() -> Task<std::string> {
      co_await gate_.passed();
      const Resident copy(kept);
      co_return text;
    };
  }
  const std::string text_ = std::string(100, 'x');
};

TEST_P(Callable, is_kept_while_a_spawned_task_runs) {
  std::vector<JoinHandle<std::string>> handles;
  handles.push_back(runtime_.spawn(captures(text_)));
  handles.push_back(runtime_.handle().spawn(captures(text_)));
  run([&]() -> Task<> {
    handles.push_back(spawn(captures(text_)));
    co_await until([&] { return gate_.waiting() >= handles.size(); });
  });
  EXPECT_GE(census_.living(), 3);
  gate_.open();
  for (auto& handle : handles) EXPECT_EQ(runtime_.block_on(handle), text_);
  EXPECT_EQ(census_.living(), 0);
}

TEST_P(Callable, is_kept_while_a_member_of_a_join_set_runs) {
  sync::JoinSet<std::string> set;
  set.spawn_on(runtime_, captures(text_));
  run([&]() -> Task<> {
    set.spawn(captures(text_));
    gate_.open();
    while (auto ended = co_await set.join_next()) EXPECT_EQ(std::move(*ended).get(), text_);
  });
  EXPECT_EQ(census_.living(), 0);
}

TEST_P(Callable, is_kept_while_a_branch_runs) {
  std::thread opener([this] {
    EXPECT_TRUE(eventually([&] { return gate_.waiting() >= 4; }));
    gate_.open();
  });
  run([&]() -> Task<> {
    auto both = join(captures(text_), captures(text_));
    auto first = select(captures(text_), wait_forever(Resident(census_)));
    auto in_time = time::timeout(kPatience, captures(text_));
    const auto [a, b, c] = co_await join(std::move(in_time), both, first);
    EXPECT_EQ(a, text_);
    EXPECT_EQ(std::get<0>(b), text_);
    EXPECT_EQ(std::get<0>(c), text_);
  });
  opener.join();
  EXPECT_EQ(census_.living(), 0);
}

TEST_P(Callable, that_throws_fails_the_task) {
  JoinHandle<int> handle =
      runtime_.spawn([]() -> Task<int> { throw std::runtime_error("called"); });
  EXPECT_THROW(runtime_.block_on(handle), std::runtime_error);
}

TEST_P(Callable, may_return_whatever_a_task_can_await) {
  runtime_.block_on([] { return time::sleep(1ms); });
  runtime_.block_on(runtime_.spawn([] { return yield_now(); }));
}

TEST_P(Callable, block_on_takes_whatever_a_task_can_await) {
  auto channel = sync::mpsc::channel<int>(1);
  JoinHandle<int> handle = runtime_.spawn(number(2));
  EXPECT_TRUE(channel.first.try_send(1) == sync::mpsc::TrySend::sent);
  EXPECT_EQ(runtime_.block_on(channel.second.recv()), 1);
  EXPECT_EQ(runtime_.block_on(handle), 2);
  EXPECT_EQ(runtime_.block_on(join(number(3), number(4))), std::tuple(3, 4));
  EXPECT_EQ(runtime_.block_on([]() -> Task<int> { co_return 5; }), 5);
}

TEST_P(Callable, a_handle_blocks_on_other_threads) {
  const Handle handle = runtime_.handle();
  std::thread([&] {
    EXPECT_EQ(handle.block_on(number(1)), 1);
    EXPECT_EQ(handle.block_on([&]() -> Task<int> { co_return co_await spawn(number(2)); }), 2);
  }).join();
  run([&]() -> Task<> {
    EXPECT_THROW(handle.block_on(nothing()), std::logic_error);
    co_return;
  });
}

TEST_P(Callable, a_handle_blocks_on_what_needs_no_runtime_after_its_end) {
  const Handle handle = runtime_.handle();
  runtime_.shutdown();
  EXPECT_EQ(handle.block_on(number(1)), 1);
  EXPECT_THROW(handle.block_on(handle.spawn(number(2))), JoinError);
}

TASKBENCH_ON_EVERY_SCHEDULER(Callable);

}  // namespace
}  // namespace taskbench::rt
