// timeout(): operations that end in time, those that do not, and what becomes of them.
#include "runtime/time/timeout.hpp"

#include <atomic>
#include <optional>
#include <stdexcept>
#include <utility>

#include "runtime/sync/mpsc.hpp"
#include "runtime/sync/semaphore.hpp"
#include "tests/runtime/sync_support.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace std::chrono_literals;
using tests::Census;
using tests::Resident;
using time::timeout;

class Timeout : public tests::OnEverySync {};
TASKBENCH_SYNC_ON_EVERY_SCHEDULER(Timeout);

TEST_P(Timeout, gives_what_ended_in_time) {
  this->run([]() -> Task<> {
    const std::optional<int> value = co_await timeout(tests::kPatience, tests::number(7));
    EXPECT_EQ(value, 7);
    const bool ended = co_await timeout(tests::kPatience, tests::yield_times(3));
    EXPECT_TRUE(ended);
  });
}

TEST_P(Timeout, destroys_what_does_not_end_in_time) {
  Census census;
  this->run([&census]() -> Task<> {
    const auto begin = time::Clock::now();
    const bool ended = co_await timeout(2ms, tests::wait_forever(Resident(census)));
    EXPECT_FALSE(ended);
    EXPECT_EQ(census.living(), 0);
    EXPECT_GE(time::Clock::now() - begin, 2ms);
    const bool yielded = co_await timeout(1ms, tests::yield_forever(Resident(census)));
    EXPECT_FALSE(yielded);
    EXPECT_EQ(census.living(), 0);
  });
}

TEST_P(Timeout, throws_what_its_task_throws) {
  EXPECT_THROW(this->run([]() -> Task<> {
    co_await timeout(tests::kPatience, []() -> Task<int> {
      co_await yield_now();
      throw std::runtime_error("in time");
    }());
  }),
               std::runtime_error);
}

TEST_P(Timeout, of_nothing_lets_its_task_be_polled_once) {
  this->run([]() -> Task<> {
    const auto ready = co_await timeout(0ns, tests::number(1));
    EXPECT_EQ(ready, 1);
    const auto late = co_await timeout(-1s, tests::yield_times(1));
    EXPECT_FALSE(late);
  });
}

TEST_P(Timeout, of_nothing_again_and_again_lets_other_tasks_run) {
  this->run([]() -> Task<> {
    std::atomic<bool> ran{false};
    auto other = spawn([&ran]() -> Task<> {
      ran = true;
      co_return;
    });
    while (!ran) {
      const auto ended = co_await timeout(0ns, tests::forever());
      EXPECT_FALSE(ended.has_value());
    }
    co_await std::move(other);
  });
}

TEST_P(Timeout, a_receive_that_is_given_up_takes_no_message) {
  this->run([]() -> Task<> {
    auto ends = sync::mpsc::unbounded_channel<int>();
    const auto none = co_await timeout(1ms, ends.second.recv());
    EXPECT_FALSE(none);
    ends.first.send(1);
    const auto message = co_await timeout(tests::kPatience, ends.second.recv());
    EXPECT_TRUE(message && *message == 1);
  });
}

TEST_P(Timeout, the_inner_one_of_two_ends_first) {
  this->run([]() -> Task<> {
    const auto inner = co_await timeout(tests::kPatience, timeout(1ms, tests::forever()));
    EXPECT_TRUE(inner.has_value() && !inner->has_value());
    const auto outer = co_await timeout(1ms, timeout(tests::kPatience, tests::forever()));
    EXPECT_FALSE(outer.has_value());
  });
}

TEST_P(Timeout, many_that_never_fire_leave_nothing_behind) {
  this->run([]() -> Task<> {
    sync::Semaphore semaphore(1);
    for (int i = 0; i < 1000; ++i) {
      const auto permit = co_await timeout(tests::kPatience, semaphore.acquire());
      EXPECT_TRUE(permit && *permit);
    }
  });
}

}  // namespace
}  // namespace taskbench::rt
