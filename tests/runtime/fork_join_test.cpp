// Forks on every scheduler: results, exceptions, aborts and shutdowns.
#include "runtime/task/fork_join.hpp"

#include <sys/eventfd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/net/async_fd.hpp"
#include "runtime/runtime.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"
#include "tests/runtime/transfers.hpp"

namespace taskbench::rt {
namespace tests {

Fork<int> leaves_here(int levels) {
  if (levels == 0) co_return 1;
  const auto [one, two] =
      co_await fork_join(leaves_elsewhere(levels - 1), leaves_elsewhere(levels - 1));
  co_return one + two;
}

}  // namespace tests

namespace {

using tests::block_worker_until;
using tests::Census;
using tests::kDeep;
using tests::OnOneRuntime;
using tests::Resident;
using tests::run_as_task;

Fork<long> fib(int n) {
  if (n < 2) co_return n;
  const auto [one, two] = co_await fork_join(fib(n - 1), fib(n - 2));
  co_return one + two;
}

Fork<int> value(int number) { co_return number; }

Fork<> add(std::atomic<int>& sum, int number) {
  sum += number;
  co_return;
}

Fork<int> fails(const char* what) {
  throw std::runtime_error(what);
  co_return 0;
}

class ForkJoin : public OnOneRuntime {};
TASKBENCH_ON_EVERY_SCHEDULER(ForkJoin);

TEST_P(ForkJoin, gives_the_results_in_the_order_of_the_forks) {
  run([]() -> Task<> {
    const auto [one, nothing, text] = co_await fork_join(
        value(1), []() -> Fork<> { co_return; }(), []() -> Fork<std::string> { co_return "3"; }());
    static_assert(std::is_same_v<decltype(nothing), const std::monostate>);
    EXPECT_EQ(one, 1);
    EXPECT_EQ(text, "3");
  });
}

TEST_P(ForkJoin, is_awaited_by_a_task_of_a_worker_and_by_the_root_of_a_block_on) {
  EXPECT_EQ(run_as_task(runtime_, []() -> Task<long> { co_return co_await fib(15); }), 610);
  EXPECT_EQ(runtime_.block_on(fib(15)), 610);
  EXPECT_EQ(runtime_.block_on([] { return fib(15); }), 610);
  EXPECT_EQ(runtime_.block_on(fork_join(fib(15), fib(10))), (std::tuple{610L, 55L}));
}

TEST_P(ForkJoin, is_awaited_again_and_again_by_one_task) {
  const long sum = run_as_task(runtime_, []() -> Task<long> {
    long all = 0;
    for (int i = 0; i < 200; ++i) {
      all += co_await fib(5);
      co_await yield_now();
    }
    co_return all;
  });
  EXPECT_EQ(sum, 1000);
}

TEST_P(ForkJoin, runs_a_single_fork) {
  const int result = run([]() -> Task<int> {
    co_return co_await []() -> Fork<int> { co_return 1 + co_await value(1); }();
  });
  EXPECT_EQ(result, 2);
}

TEST_P(ForkJoin, takes_a_constant_number_and_a_function) {
  run([]() -> Task<> {
    const std::array<int, 1> one = co_await fork_join<1>([](std::size_t) { return value(1); });
    EXPECT_EQ(one, (std::array{1}));
    const std::array<int, 20> twenty =
        co_await fork_join<20>([](std::size_t i) { return value(static_cast<int>(i)); });
    for (int i = 0; i < 20; ++i) EXPECT_EQ(twenty[static_cast<std::size_t>(i)], i);
  });
}

TEST_P(ForkJoin, takes_a_vector_of_any_length) {
  for (const int count : {0, 1, 2, 16, 17, 33, 3000}) {
    run([count]() -> Task<> {
      std::vector<Fork<int>> forks;
      for (int i = 0; i < count; ++i) forks.push_back(value(i));
      const std::vector<int> results = co_await fork_join(std::move(forks));
      EXPECT_EQ(results.size(), static_cast<std::size_t>(count));
      for (int i = 0; i < count; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)], i);
    });
  }
}

TEST_P(ForkJoin, takes_a_number_and_a_function) {
  for (const std::size_t count : {0U, 1U, 2U, 16U, 17U, 33U, 3000U}) {
    run([count]() -> Task<> {
      const std::vector<std::size_t> squares =
          co_await fork_join(count, [](std::size_t i) -> Fork<std::size_t> { co_return i* i; });
      EXPECT_EQ(squares.size(), count);
      for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(squares[i], i * i);
    });
  }
}

TEST_P(ForkJoin, gives_a_vector_of_bool) {
  run([]() -> Task<> {
    const auto is_odd = [](std::size_t i) -> Fork<bool> { co_return i % 2 != 0; };
    const std::vector<bool> made = co_await fork_join(40, is_odd);
    std::vector<Fork<bool>> forks;
    for (std::size_t i = 0; i < 40; ++i) forks.push_back(is_odd(i));
    const std::vector<bool> given = co_await fork_join(std::move(forks));
    EXPECT_EQ(made.size(), 40U);
    EXPECT_EQ(made, given);
    for (std::size_t i = 0; i < made.size(); ++i) EXPECT_EQ(made[i], i % 2 != 0);
  });
}

TEST_P(ForkJoin, gives_nothing_for_many_forks_without_results) {
  std::atomic<int> sum = 0;
  run([&sum]() -> Task<> {
    static_assert(std::is_void_v<decltype(fork_join(std::vector<Fork<>>{}).await_resume())>);
    co_await fork_join<3>([&sum](std::size_t) { return add(sum, 1); });
    co_await fork_join(100, [&sum](std::size_t) { return add(sum, 1); });
    std::vector<Fork<>> forks;
    for (int i = 0; i < 100; ++i) forks.push_back(add(sum, 1));
    co_await fork_join(std::move(forks));
  });
  EXPECT_EQ(sum, 203);
}

TEST_P(ForkJoin, gives_results_that_can_only_be_moved) {
  run([]() -> Task<> {
    const auto boxed = [](std::size_t i) -> Fork<std::unique_ptr<std::size_t>> {
      co_return std::make_unique<std::size_t>(i);
    };
    const auto [one, two] = co_await fork_join(boxed(1), boxed(2));
    EXPECT_EQ(*one + *two, 3U);
    const auto few = co_await fork_join<2>(boxed);
    EXPECT_EQ(*few[1], 1U);
    const auto many = co_await fork_join(100, boxed);
    EXPECT_EQ(*many[99], 99U);
  });
}

TEST_P(ForkJoin, throws_the_first_exception_in_the_order_of_the_forks) {
  std::atomic<int> sum = 0;
  run([&sum]() -> Task<> {
    std::string what;
    try {
      co_await fork_join(add(sum, 1), fails("first"), add(sum, 2), fails("second"), add(sum, 4));
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    EXPECT_EQ(what, "first");
    EXPECT_EQ(sum, 7);  // all forks have run
  });
}

TEST_P(ForkJoin, throws_what_one_of_many_forks_throws) {
  const auto fails_at_50 = [](std::size_t i) -> Fork<std::size_t> {
    if (i >= 50) throw std::runtime_error(std::to_string(i));
    co_return i;
  };
  const auto thrown_by = [&](auto awaitable) {
    return run([&awaitable]() -> Task<std::string> {
      std::string what;
      try {
        co_await awaitable();
      } catch (const std::runtime_error& error) {
        what = error.what();
      }
      co_return what;
    });
  };
  EXPECT_EQ(thrown_by([&] { return fork_join(100, fails_at_50); }), "50");
  EXPECT_EQ(thrown_by([&] {
              std::vector<Fork<std::size_t>> forks;
              for (std::size_t i = 0; i < 100; ++i) forks.push_back(fails_at_50(i));
              return fork_join(std::move(forks));
            }),
            "50");
  EXPECT_EQ(thrown_by([&] { return fork_join<60>(fails_at_50); }), "50");
}

TEST_P(ForkJoin, passes_exceptions_up_through_many_levels) {
  struct Deep {
    static Fork<int> below(int levels) {
      if (levels == 0) throw std::runtime_error("bottom");
      const auto [one, two] = co_await fork_join(below(levels - 1), value(1));
      co_return one + two;
    }
  };
  EXPECT_THROW(run([]() -> Task<int> { co_return co_await Deep::below(50); }), std::runtime_error);
}

TEST_P(ForkJoin, ends_what_forks_hold) {
  const auto holds = [](Resident own, int levels, const auto& self) -> Fork<Resident> {
    if (levels == 0) co_return own;
    const auto results = co_await fork_join(self(own, levels - 1, self), self(own, 0, self));
    if (levels == 3) throw std::runtime_error("thrown away");
    co_return std::get<0>(results);
  };
  run([&]() -> Task<> { co_await holds(Resident(census_), 2, holds); });
  EXPECT_THROW(run([&]() -> Task<> { co_await holds(Resident(census_), 5, holds); }),
               std::runtime_error);
  { const Fork<Resident> never_awaited = holds(Resident(census_), 1, holds); }
  { const auto never_awaited = fork_join(holds(Resident(census_), 1, holds)); }
}

TEST_P(ForkJoin, replaces_a_result_by_what_a_destructor_throws) {
  struct Throws {
    ~Throws() noexcept(false) { throw std::runtime_error("destructor"); }
  };
  EXPECT_THROW(run([]() -> Task<> {
                 co_await []() -> Fork<std::string> {
                   const Throws local;
                   co_return "a string that lies on the heap, as it is long";
                 }();
               }),
               std::runtime_error);
}

TEST_P(ForkJoin, goes_as_deep_as_memory_allows) {
  struct Deep {
    static Fork<int> below(int levels) {
      if (levels == 0) co_return 0;
      co_return 1 + co_await below(levels - 1);
    }
    // More forks wait for their turn than a deque holds.
    static Fork<int> forking(int levels) {
      if (levels == 0) co_return 0;
      const auto [one, two] = co_await fork_join(forking(levels - 1), value(1));
      co_return one + two;
    }
  };
  EXPECT_EQ(run([]() -> Task<int> { co_return co_await Deep::below(kDeep); }), kDeep);
  EXPECT_EQ(run([]() -> Task<int> { co_return co_await Deep::forking(kDeep); }), kDeep);
}

TEST_P(ForkJoin, takes_no_stack_in_a_long_loop) {
  const auto loop = []() -> Fork<int> {
    int sum = 0;
    for (int i = 0; i < kDeep; ++i) {
      const auto [one, two] = co_await fork_join(value(1), value(1));
      sum += one + two;
    }
    co_return sum;
  };
  EXPECT_EQ(run_as_task(runtime_, [&]() -> Task<int> { co_return co_await loop(); }), 2 * kDeep);
  const auto in_a_task = []() -> Task<int> {
    int sum = 0;
    for (int i = 0; i < kDeep; ++i) sum += co_await value(1);
    co_return sum;
  };
  EXPECT_EQ(run_as_task(runtime_, in_a_task), kDeep);
}

TEST_P(ForkJoin, may_be_compiled_in_units_that_transfer_in_different_ways) {
  EXPECT_EQ(runtime_.block_on(tests::leaves_here(12)), 4096);
  const auto loop = []() -> Fork<int> {
    int sum = 0;
    for (int i = 0; i < kDeep; ++i) {
      const auto [one, two] = co_await fork_join(tests::leaves_elsewhere(0), value(1));
      sum += one + two;
    }
    co_return sum;
  };
  EXPECT_EQ(runtime_.block_on(loop()), 2 * kDeep);
}

TEST_P(ForkJoin, may_be_a_branch_of_a_join_or_select) {
  run([]() -> Task<> {
    const auto [one, two] = co_await join(fib(10), fork_join(fib(10), fib(11)));
    EXPECT_EQ(one, 55);
    EXPECT_EQ(two, (std::tuple{55L, 89L}));
    const auto first = co_await select(fib(10), tests::forever());
    EXPECT_EQ(std::get<0>(first), 55);
  });
}

TEST_P(ForkJoin, may_spawn_tasks) {
  std::atomic<int> ran = 0;
  run([&ran]() -> Task<> {
    std::vector<JoinHandle<void>> handles =
        co_await fork_join(100, [&ran](std::size_t) -> Fork<JoinHandle<void>> {
          co_return spawn([&ran]() -> Task<> {
            ++ran;
            co_return;
          });
        });
    co_await tests::join_all(handles);
  });
  EXPECT_EQ(ran, 100);
}

TEST_P(ForkJoin, runs_beside_other_tasks) {
  std::vector<JoinHandle<long>> handles;
  for (int i = 0; i < 50; ++i) {
    handles.push_back(runtime_.spawn([]() -> Task<long> {
      long sum = 0;
      for (int round = 0; round < 5; ++round) {
        const auto [one, two] = co_await fork_join(fib(8), fib(9));
        co_await yield_now();
        sum += one + two;
      }
      co_return sum;
    }));
  }
  run([&]() -> Task<> {
    for (auto& each : handles) EXPECT_EQ(co_await each, 5 * 55);
  });
}

/// Splits endlessly, and aborts the task it belongs to after a while.
Fork<> splits(std::atomic<int>& begun, const std::function<void()>& stop, int depth) {
  if (++begun == 1000) stop();
  if (depth == 0) co_return;
  co_await fork_join(splits(begun, stop, depth - 1), splits(begun, stop, depth - 1));
}

TEST_P(ForkJoin, an_abort_ends_the_task_and_begins_no_more_forks) {
  std::atomic<int> begun = 0;
  std::optional<AbortHandle> abort;
  int begun_at_abort = 0;
  bool went_on = false;
  const std::function<void()> stop = [&] {
    abort->abort();
    begun_at_abort = begun;  // more than 1000, as other workers continue until they see the abort
  };
  JoinHandle<void> handle = runtime_.spawn([&, own = Resident(census_)]() -> Task<> {
    co_await gate_.passed();
    try {
      co_await splits(begun, stop, 40);
    } catch (...) {
      went_on = true;
    }
    went_on = true;
  });
  abort = handle.abort_handle();
  gate_.open();
  EXPECT_THROW(run([&]() -> Task<> { co_await handle; }), JoinError);
  EXPECT_LT(begun, begun_at_abort + 100);
  EXPECT_FALSE(went_on);
}

TEST_P(ForkJoin, a_co_await_of_an_aborted_task_s_fork_throws) {
  std::atomic<bool> thrown = false;
  std::optional<AbortHandle> abort;
  const auto child = [&]() -> Fork<> {
    abort->abort();
    try {
      co_await fork_join(value(1), value(2));
    } catch (const JoinError&) {
      thrown = true;
    }
  };
  JoinHandle<void> handle = runtime_.spawn([&]() -> Task<> {
    co_await gate_.passed();
    co_await child();
  });
  abort = handle.abort_handle();
  gate_.open();
  EXPECT_THROW(run([&]() -> Task<> { co_await handle; }), JoinError);
  EXPECT_TRUE(thrown);
}

TEST_P(ForkJoin, an_abort_in_a_branch_ends_the_task) {
  std::atomic<int> begun = 0;
  std::optional<AbortHandle> abort;
  const std::function<void()> stop = [&] { abort->abort(); };
  JoinHandle<void> handle = runtime_.spawn([&, own = Resident(census_)]() -> Task<> {
    co_await gate_.passed();
    co_await join(splits(begun, stop, 40), tests::forever());
  });
  abort = handle.abort_handle();
  gate_.open();
  EXPECT_THROW(run([&]() -> Task<> { co_await handle; }), JoinError);
}

class ForkShutdown : public OnOneRuntime {};
TASKBENCH_ON_POOLS(ForkShutdown);

TEST_P(ForkShutdown, a_shutdown_waits_for_the_forks_that_run) {
  std::atomic<int> begun = 0;
  const std::function<void()> nothing = [] {};
  runtime_.spawn([&, own = Resident(census_)]() -> Task<> { co_await splits(begun, nothing, 60); })
      .detach();
  while (begun < 2000) std::this_thread::yield();
  runtime_.shutdown();
  const int at_the_end = begun;
  EXPECT_EQ(census_.living(), 0);
  std::this_thread::yield();
  EXPECT_EQ(begun, at_the_end);
}

TEST_P(ForkShutdown, a_shutdown_ends_the_forks_of_a_block_on) {
  std::atomic<int> begun = 0;
  const std::function<void()> nothing = [] {};
  std::thread ends([&] {
    while (begun < 2000) std::this_thread::yield();
    runtime_.shutdown();
  });
  EXPECT_THROW(run([&]() -> Task<> { co_await splits(begun, nothing, 60); }), JoinError);
  ends.join();
  // Its forks would be sent to a worker, but none is left.
  EXPECT_THROW(run([]() -> Task<> { co_await fib(3); }), JoinError);
}

class ForkStealing : public OnOneRuntime {};
INSTANTIATE_TEST_SUITE_P(Pools, ForkStealing,
                         ::testing::Values(tests::kTwoWorkers, tests::kFourWorkers),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST_P(ForkStealing, idle_workers_take_forks) {
  for (const bool as_task : {false, true}) {
    std::atomic<bool> other = false;
    const auto forks = [&other]() -> Task<bool> {
      const auto waits = [&other]() -> Fork<bool> { co_return block_worker_until(other); };
      const auto opens = [&other]() -> Fork<> {
        other = true;
        co_return;
      };
      const auto [met, nothing] = co_await fork_join(waits(), opens());
      co_return met;
    };
    EXPECT_TRUE(as_task ? run_as_task(runtime_, forks) : runtime_.block_on(forks()));
  }
}

// While sockets are watched, a worker looks everywhere once, and again after running what it found:
// here a task, then one fork after the other.
TEST_P(ForkStealing, workers_take_forks_beside_tasks_where_sockets_are_watched) {
  std::atomic<bool> is_held = false;
  std::atomic<bool> is_offered = false;
  std::atomic<int> ran = 0;
  const auto counts = [&ran](auto result) {
    ran.fetch_add(1);
    return result;
  };
  const auto hold = [&]() -> Task<> {
    is_held = true;
    EXPECT_TRUE(block_worker_until(is_offered));
    co_return;
  };
  const auto task = [&]() -> Task<int> { co_return counts(0); };
  const auto waits = [&]() -> Fork<int> {
    is_offered = true;
    co_return tests::eventually([&] { return ran.load() >= 4; }) ? 0 : 1;
  };
  const auto helps = [&]() -> Fork<int> { co_return counts(0); };
  runtime_.block_on([]() -> Task<> {
    const AsyncFd watched = AsyncFd::own(eventfd(0, 0));
    co_return;
  }());
  run_as_task(runtime_, [&]() -> Task<> {
    JoinHandle<void> held = spawn(hold());
    JoinHandle<void> next = spawn(tests::nothing());  // displaces `held` from the LIFO slot
    EXPECT_TRUE(block_worker_until(is_held));
    JoinHandle<int> queued = spawn(task());
    JoinHandle<int> last = spawn(task());
    const auto [late, one, two, three] = co_await fork_join(waits(), helps(), helps(), helps());
    EXPECT_EQ(late + one + two + three, 0) << "all have run meanwhile";
    EXPECT_EQ(co_await queued + co_await last, 0);
    co_await held;
    co_await next;
  });
}

TEST_P(ForkStealing, the_last_to_end_goes_on_whoever_that_is) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> begun = false;
    std::atomic<std::thread::id> stolen_by;
    const bool went_on_there = run_as_task(runtime_, [&]() -> Task<bool> {
      const auto inner = [&]() -> Fork<bool> {
        const auto waits = [&]() -> Fork<> {
          block_worker_until(begun);
          co_return;
        };
        const auto late = [&]() -> Fork<> {
          stolen_by = std::this_thread::get_id();
          begun = true;
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
          co_return;
        };
        co_await fork_join(waits(), late());
        const bool there = std::this_thread::get_id() == stolen_by.load();
        // Forks continue there, too.
        co_return there&& co_await fib(10) == 55;
      };
      const bool there = co_await inner();
      co_return there;
    });
    if (went_on_there) return;
  }
  FAIL() << "a fork went on where it began each time, though another was the last to end";
}

TEST_P(ForkStealing, a_fork_may_block_in_place) {
  const auto blocks = [](int n, const auto& self) -> Fork<int> {
    if (n == 0) {
      block_in_place([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
      co_return 1;
    }
    const auto [one, two] = co_await fork_join(self(n - 1, self), self(n - 1, self));
    co_return one + two;
  };
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(run_as_task(runtime_, [&]() -> Task<int> { co_return co_await blocks(5, blocks); }),
              32);
  }
}

TEST_P(ForkStealing, stolen_forks_are_counted) {
  run([]() -> Task<> { co_await fib(24); });
  runtime_.shutdown();
  std::uint64_t stolen = 0;
  for (const auto& worker : runtime_.stats().workers) stolen += worker.stolen_tasks;
  EXPECT_EQ(stolen > 0, tests::kCounted);
}

}  // namespace
}  // namespace taskbench::rt
