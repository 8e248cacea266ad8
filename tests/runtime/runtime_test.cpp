// The façade: what the builder accepts, names and hooks of threads, worker counts from one to far
// above the cores, several runtimes in one process, and the reproducible order of current_thread.
#include "runtime/runtime.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace testing;

TEST(RuntimeBuilder, refuses_settings_that_make_no_sense) {
  EXPECT_THROW(static_cast<void>(Runtime::Builder{}.global_queue_interval(0).build()),
               std::invalid_argument);
  EXPECT_THROW(static_cast<void>(Runtime::Builder{}.scheduler("current_thread").workers(2).build()),
               std::invalid_argument);
}

TEST(RuntimeBuilder, has_a_worker_a_cpu_by_default) {
  const Runtime runtime = Runtime::Builder{}.build();
  EXPECT_GE(runtime.worker_count(), 1U);
  EXPECT_LE(runtime.worker_count(), std::max(1U, std::thread::hardware_concurrency()));
}

TEST(RuntimeBuilder, builds_as_often_as_it_is_asked) {
  const Runtime::Builder builder = Runtime::Builder{}.workers(2).thread_name("again");
  Runtime first = builder.build();
  Runtime second = builder.build();
  EXPECT_EQ(first.block_on(number(1)) + second.block_on(number(2)), 3);
}

class RuntimeOn : public OnEveryScheduler {};

TEST_P(RuntimeOn, is_built_and_destroyed_without_work) {
  for (int i = 0; i < 50; ++i) build_runtime();
}

TEST_P(RuntimeOn, moves) {
  Census census;
  Runtime first = build_runtime();
  first.spawn([](Resident) -> Task<> { co_await forever(); }(Resident(census))).detach();
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
    const int sum = runtimes[i].block_on([](std::vector<JoinHandle<int>> all) -> Task<int> {
      int total = 0;
      for (JoinHandle<int>& handle : all) total += co_await handle;
      co_return total;
    }(std::move(handles)));
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

TEST_P(WorkerCounts, p1_any_number_of_workers_runs_all_tasks) {
  std::atomic<int> ran{0};
  Runtime runtime = Runtime::Builder{}.workers(GetParam()).build();
  EXPECT_EQ(runtime.worker_count(), GetParam());
  runtime.block_on([](std::atomic<int>* count) -> Task<> {
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < 2000; ++i) {
      handles.push_back(spawn([](std::atomic<int>* counter) -> Task<> {
        co_await yield_now();
        counter->fetch_add(1);
      }(count)));
    }
    for (JoinHandle<void>& handle : handles) co_await handle;
  }(&ran));
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
  std::optional<Runtime> runtime = Runtime::Builder{}
                                       .workers(4)
                                       .on_thread_start([&](unsigned worker) {
                                         const std::lock_guard lock(mutex);
                                         if (started.at(worker) != std::thread::id())
                                           wrong.fetch_add(1);
                                         started.at(worker) = std::this_thread::get_id();
                                       })
                                       .on_thread_stop([&](unsigned worker) {
                                         const std::lock_guard lock(mutex);
                                         if (stopped.at(worker) != std::thread::id())
                                           wrong.fetch_add(1);
                                         stopped.at(worker) = std::this_thread::get_id();
                                       })
                                       .build();
  runtime->block_on([](std::mutex* m, std::vector<std::thread::id>* ids) -> Task<> {
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < 100; ++i) {
      handles.push_back(spawn([](std::mutex* guard, std::vector<std::thread::id>* begun) -> Task<> {
        const std::lock_guard lock(*guard);
        EXPECT_NE(std::find(begun->begin(), begun->end(), std::this_thread::get_id()),
                  begun->end());
        co_return;
      }(m, ids)));
    }
    for (JoinHandle<void>& handle : handles) co_await handle;
  }(&mutex, &started));
  runtime.reset();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(started, stopped);
  EXPECT_EQ(std::set<std::thread::id>(started.begin(), started.end()).size(), 4U);
}

TEST(RuntimeThreads, hooks_may_spawn) {
  Census census;
  std::atomic<int> ran{0};
  {
    std::optional<Runtime> runtime =
        Runtime::Builder{}
            .workers(3)
            .on_thread_start([&](unsigned) {
              spawn([](std::atomic<int>* counter, Resident) -> Task<> {
                counter->fetch_add(1);
                co_return;
              }(&ran, Resident(census)))
                  .detach();
            })
            .on_thread_stop([&](unsigned) {
              spawn([](Resident) -> Task<> { co_await forever(); }(Resident(census))).detach();
            })
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

/// The order in which a few dozen tasks that spawn, yield and wake each other run.
std::vector<int> order_of_a_run(std::uint64_t seed) {
  std::vector<int> order;
  Runtime runtime = builder(kCurrentThread).seed(seed).build();
  runtime.block_on([](std::vector<int>* log) -> Task<> {
    std::vector<JoinHandle<void>> handles;
    Gate gate;
    for (int i = 0; i < 30; ++i) {
      handles.push_back(spawn([](std::vector<int>* lines, Gate* closed, int id) -> Task<> {
        for (int n = 0; n < id % 4; ++n) {
          lines->push_back(id);
          co_await yield_now();
        }
        if (id % 5 == 0) co_await closed->passed();
        spawn([](std::vector<int>* more, int child) -> Task<> {
          more->push_back(1000 + child);
          co_return;
        }(lines, id))
            .detach();
        lines->push_back(-id);
      }(log, &gate, i)));
    }
    for (int i = 0; i < 3; ++i) co_await yield_now();
    gate.open();
    for (JoinHandle<void>& handle : handles) co_await handle;
  }(&order));
  return order;
}

TEST(CurrentThreadOrder, v6_the_same_seed_gives_the_same_order) {
  for (const std::uint64_t seed : {0U, 1U, 99U}) {
    const std::vector<int> first = order_of_a_run(seed);
    EXPECT_GE(first.size(), 60U);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(order_of_a_run(seed), first);
  }
}

TEST(CurrentThreadOrder, v6_is_first_in_first_out) {
  std::vector<int> order;
  Runtime runtime = build(kCurrentThread);
  for (int i = 0; i < 200; ++i) {
    runtime
        .spawn([](std::vector<int>* log, int id) -> Task<> {
          log->push_back(id);
          co_await yield_now();
          log->push_back(1000 + id);
        }(&order, i))
        .detach();
  }
  runtime.block_on([](std::vector<int>* log) -> Task<> {
    while (log->size() < 400) co_await yield_now();
  }(&order));
  ASSERT_EQ(order.size(), 400U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(CurrentThreadOrder, v6_runs_everything_on_the_thread_that_called_block_on) {
  Runtime runtime = build(kCurrentThread);
  runtime.block_on([](std::thread::id caller) -> Task<> {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    const std::thread::id of_task = co_await spawn([]() -> Task<std::thread::id> {
      co_await yield_now();
      co_return std::this_thread::get_id();
    }());
    EXPECT_EQ(of_task, caller);
  }(std::this_thread::get_id()));
}

}  // namespace
}  // namespace taskbench::rt
