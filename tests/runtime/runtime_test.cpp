// The façade: what the builder accepts, names and hooks of threads, from one worker to far more
// than there are cores, several runtimes in one process, and the reproducible order of
// current_thread.
#include "runtime/runtime.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <system_error>

#include "tests/runtime/allocations.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/no_threads.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

TEST(RuntimeBuilder, refuses_settings_that_make_no_sense) {
  EXPECT_THROW(static_cast<void>(Runtime::Builder{}.global_queue_interval(0).build()),
               std::invalid_argument);
  EXPECT_THROW(static_cast<void>(Runtime::Builder{}.scheduler("current_thread").workers(2).build()),
               std::invalid_argument);
  EXPECT_THROW(static_cast<void>(Runtime::Builder{}.scheduler("nobody's")), std::invalid_argument);
}

TEST(RuntimeBuilder, has_a_worker_a_cpu_that_it_may_use_by_default) {
  cpu_set_t all;
  CPU_ZERO(&all);
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  EXPECT_EQ(Runtime::Builder{}.build().worker_count(), static_cast<unsigned>(CPU_COUNT(&all)));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  const unsigned workers_of_one = Runtime::Builder{}.build().worker_count();
  EXPECT_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
  EXPECT_EQ(workers_of_one, 1U);
}

TEST(RuntimeBuilder, has_one_worker_by_default_where_the_scheduler_has_no_more) {
  EXPECT_EQ(Runtime::Builder{}.scheduler("current_thread").build().worker_count(), 1U);
}

TEST(RuntimeBuilder, builds_as_often_as_it_is_asked) {
  const Runtime::Builder builder = Runtime::Builder{}.workers(2).thread_name("again");
  Runtime first = builder.build();
  Runtime second = builder.build();
  EXPECT_EQ(first.block_on(number(1)) + second.block_on(number(2)), 3);
}

TEST(RuntimeBuilder, leaves_no_thread_behind_whichever_allocation_is_the_first_to_fail) {
  std::atomic<int> running{0};
  const Runtime::Builder configured = builder(kTwoWorkers)
                                          .on_thread_start([&](unsigned) { running.fetch_add(1); })
                                          .on_thread_stop([&](unsigned) { running.fetch_sub(1); });
  bool built = false;
  for (std::size_t before = 0; !built; ++before) {
    std::optional<Runtime> runtime;
    try {
      const NoMemory no_memory(SIZE_MAX, before);
      runtime.emplace(configured.build());
    } catch (const std::bad_alloc&) {
      EXPECT_EQ(running.load(), 0) << "after " << before << " allocations";
    }
    built = runtime.has_value();
  }
}

class RuntimeOn : public OnEveryScheduler {};

TEST_P(RuntimeOn, is_built_and_destroyed_without_work) {
  for (int i = 0; i < 50; ++i) build_runtime();
}

TEST_P(RuntimeOn, moves) {
  Census census;
  Runtime first = build_runtime();
  first.spawn(wait_forever(Resident(census))).detach();
  Runtime second = std::move(first);
  EXPECT_EQ(second.block_on(number(1)), 1);
  second = build_runtime();
  EXPECT_EQ(census.living(), 0) << "the runtime that it held was shut down";
  EXPECT_EQ(second.block_on(number(2)), 2);
}

TEST_P(RuntimeOn, several_in_one_process_do_not_mix) {
  std::vector<Runtime> runtimes;
  for (int i = 0; i < 4; ++i) runtimes.push_back(build_runtime());
  for (std::size_t i = 0; i < runtimes.size(); ++i) {
    std::vector<JoinHandle<int>> handles;
    for (int n = 0; n < 100; ++n) handles.push_back(runtimes[i].spawn(number(1)));
    const int sum = runtimes[i].block_on([&]() -> Task<int> {
      int total = 0;
      for (JoinHandle<int>& handle : handles) total += co_await handle;
      co_return total;
    }());
    EXPECT_EQ(sum, 100);
  }
  for (const Runtime& runtime : runtimes) {
#if !defined(TASKBENCH_NO_COUNTERS)
    EXPECT_EQ(runtime.stats().total().tasks_spawned, 100U);
#endif
  }
}

TASKBENCH_ON_EVERY_SCHEDULER(RuntimeOn);

class WorkerCounts : public ::testing::TestWithParam<unsigned> {};

TEST_P(WorkerCounts, any_number_of_workers_runs_all_tasks) {
  std::atomic<int> ran{0};
  Runtime runtime = Runtime::Builder{}.workers(GetParam()).build();
  EXPECT_EQ(runtime.worker_count(), GetParam());
  const auto count = [&]() -> Task<> {
    co_await yield_now();
    ran.fetch_add(1);
  };
  runtime.block_on([&]() -> Task<> {
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < 2000; ++i) handles.push_back(spawn(count()));
    co_await join_all(handles);
  }());
  EXPECT_EQ(ran.load(), 2000);
}

INSTANTIATE_TEST_SUITE_P(Counts, WorkerCounts, ::testing::Values(1U, 2U, 3U, 7U, 64U, 256U));

std::string name_of_this_thread() {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return name.data();
}

TEST(RuntimeThreads, are_named_and_the_number_is_never_cut) {
  for (const std::string base : {"bench", "a-name-that-is-far-too-long", ""}) {
    std::mutex mutex;
    std::set<std::string> names;
    {
      const Runtime runtime = Runtime::Builder{}
                                  .workers(12)
                                  .thread_name(base)
                                  .on_thread_start([&](unsigned) {
                                    const std::lock_guard lock(mutex);
                                    names.insert(name_of_this_thread());
                                  })
                                  .build();
    }
    EXPECT_EQ(names.size(), 12U) << "of " << base;
    for (const std::string& name : names) {
      EXPECT_LE(name.size(), 15U);
      EXPECT_NE(name.find('-'), std::string::npos);
    }
    EXPECT_EQ(names.count(base.substr(0, 12) + "-11"), 1U);
  }
}

TEST(RuntimeThreads, hooks_run_once_a_worker_on_its_thread_around_its_tasks) {
  std::mutex mutex;
  std::vector<std::thread::id> started(4);
  std::vector<std::thread::id> stopped(4);
  std::atomic<int> wrong{0};
  const auto note_in = [&](std::vector<std::thread::id>& noted) {
    return [&](unsigned worker) {
      const std::lock_guard lock(mutex);
      if (noted.at(worker) != std::thread::id()) wrong.fetch_add(1);
      noted.at(worker) = std::this_thread::get_id();
    };
  };
  std::optional<Runtime> runtime = Runtime::Builder{}
                                       .workers(4)
                                       .on_thread_start(note_in(started))
                                       .on_thread_stop(note_in(stopped))
                                       .build();
  const auto begun_here = [&]() -> Task<> {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(std::ranges::count(started, std::this_thread::get_id()));
    co_return;
  };
  runtime->block_on([&]() -> Task<> {
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < 100; ++i) handles.push_back(spawn(begun_here()));
    co_await join_all(handles);
  }());
  runtime.reset();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(started, stopped);
  EXPECT_EQ(std::set<std::thread::id>(started.begin(), started.end()).size(), 4U);
}

TEST(RuntimeThreads, hooks_may_spawn) {
  Census census;
  std::atomic<int> ran{0};
  const auto count = [&](Resident) -> Task<> {
    ran.fetch_add(1);
    co_return;
  };
  {
    const Runtime runtime =
        Runtime::Builder{}
            .workers(3)
            .on_thread_start([&](unsigned) { spawn(count(Resident(census))).detach(); })
            .on_thread_stop([&](unsigned) { spawn(wait_forever(Resident(census))).detach(); })
            .build();
    EXPECT_TRUE(eventually([&] { return ran.load() == 3; }));
  }
  EXPECT_EQ(census.living(), 0);
  EXPECT_EQ(ran.load(), 3);
}

TEST(RuntimeThreads, hooks_are_refused_block_on) {
  std::atomic<int> refused{0};
  std::mutex mutex;
  Runtime other = build(kCurrentThread);
  {
    const Runtime runtime = Runtime::Builder{}
                                .workers(2)
                                .on_thread_start([&](unsigned) {
                                  const std::lock_guard lock(mutex);
                                  EXPECT_THROW(other.block_on(nothing()), std::logic_error);
                                  refused.fetch_add(1);
                                })
                                .build();
  }
  EXPECT_EQ(refused.load(), 2);
}

// The sanitizers make threads in their own way.
#if !defined(TASKBENCH_SYSTEM_BLOCKS)
// The first worker to begin starts a blocking call, and then the system gives no more threads. Left
// to itself, the thread of the call would wait an hour for another one.
TEST(RuntimeThreads, that_the_system_does_not_give_leave_no_blocking_call_behind) {
  bool refused = false;
  // All workers may have been started before.
  for (int attempt = 0; attempt < 100 && !refused; ++attempt) {
    std::mutex mutex;
    std::optional<NoThreads> none;
    try {
      const Runtime runtime = Runtime::Builder{}
                                  .workers(256)
                                  .blocking_idle_timeout(1h)
                                  .on_thread_start([&](unsigned) {
                                    const std::lock_guard lock(mutex);
                                    if (none.has_value()) return;
                                    spawn_blocking([] {}).detach();
                                    none.emplace();
                                  })
                                  .build();
    } catch (const std::system_error&) {
      refused = true;
    }
  }
  EXPECT_TRUE(refused);
}
#endif

/// Returns the order in which a few dozen tasks that spawn, yield and wake each other run.
std::vector<int> order_of_a_run(std::uint64_t seed) {
  std::vector<int> order;
  Runtime runtime = builder(kCurrentThread).seed(seed).build();
  Gate gate;
  const auto note = [&](int id) -> Task<> {
    order.push_back(id);
    co_return;
  };
  const auto live = [&](int id) -> Task<> {
    for (int n = 0; n < id % 4; ++n) {
      order.push_back(id);
      co_await yield_now();
    }
    if (id % 5 == 0) co_await gate.passed();
    spawn(note(1000 + id)).detach();
    order.push_back(-id);
  };
  runtime.block_on([&]() -> Task<> {
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < 30; ++i) handles.push_back(spawn(live(i)));
    co_await yield_times(3);
    gate.open();
    co_await join_all(handles);
  }());
  return order;
}

TEST(CurrentThreadOrder, the_same_seed_gives_the_same_order) {
  for (const std::uint64_t seed : {0U, 1U, 99U}) {
    const std::vector<int> first = order_of_a_run(seed);
    EXPECT_GE(first.size(), 60U);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(order_of_a_run(seed), first);
  }
}

TEST(CurrentThreadOrder, is_first_in_first_out) {
  std::vector<int> order;
  Runtime runtime = build(kCurrentThread);
  const auto note_twice = [&](int id) -> Task<> {
    order.push_back(id);
    co_await yield_now();
    order.push_back(1000 + id);
  };
  for (int i = 0; i < 200; ++i) runtime.spawn(note_twice(i)).detach();
  runtime.block_on(until([&] { return order.size() == 400; }));
  ASSERT_EQ(order.size(), 400U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(CurrentThreadOrder, runs_everything_on_the_thread_that_called_block_on) {
  Runtime runtime = build(kCurrentThread);
  const auto caller = std::this_thread::get_id();
  const auto here = []() -> Task<std::thread::id> {
    co_await yield_now();
    co_return std::this_thread::get_id();
  };
  EXPECT_EQ(runtime.block_on(here()), caller);
  EXPECT_EQ(run_as_task(runtime, here), caller);
}

}  // namespace
}  // namespace taskbench::rt
