// Spawning from inside, from outside, from foreign threads while idle and under load, across
// runtimes, and in patterns that have broken schedulers before.

#include <memory>
#include <stdexcept>

#include "runtime/sync/oneshot.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;
namespace oneshot = sync::oneshot;

class Spawning : public OnOneRuntime {};

Task<> count(std::atomic<int>* counter) {
  counter->fetch_add(1);
  co_return;
}
TEST(SpawnOutside, throws_and_says_what_is_needed) {
  try {
    spawn(nothing()).detach();
    FAIL() << "there is no runtime";
  } catch (const std::logic_error& failure) {
    EXPECT_NE(std::string(failure.what()).find("runtime"), std::string::npos);
  }
  EXPECT_THROW(static_cast<void>(Handle::current()), std::logic_error);
}

TEST_P(Spawning, throws_again_outside_once_block_on_has_ended) {
  runtime_.block_on(nothing());
  EXPECT_THROW(spawn(nothing()).detach(), std::logic_error);
}

TEST_P(Spawning, runs_every_task_once) {
  std::atomic<int> ran{0};
  for (int i = 0; i < 5000; ++i) runtime_.spawn(count(&ran)).detach();
  runtime_.block_on(until([&] { return ran.load() == 5000; }));
  runtime_.block_on(yield_times(100));
  EXPECT_EQ(ran.load(), 5000);
}

/// Spawns `tasks` tasks, each waiting on a channel that a foreign thread sends into. Returns the
/// sum of what they received.
Task<int> hear_from_a_thread(int tasks) {
  std::vector<JoinHandle<int>> handles;
  std::vector<oneshot::Sender<int>> senders;
  for (int i = 0; i < tasks; ++i) {
    auto ends = oneshot::channel<int>();
    senders.push_back(std::move(ends.first));
    handles.push_back(spawn([](oneshot::Receiver<int> end) -> Task<int> {
      const std::optional<int> heard = co_await std::move(end);
      co_return heard.value_or(-1);
    }(std::move(ends.second))));
  }
  std::thread sender([&senders] {
    for (std::size_t i = 0; i < senders.size(); ++i) senders[i].send(static_cast<int>(i));
  });
  int sum = 0;
  for (JoinHandle<int>& handle : handles) sum += co_await handle;
  sender.join();
  co_return sum;
}

TEST_P(Spawning, many_from_block_on_that_hear_from_a_thread) {
  EXPECT_EQ(runtime_.block_on(hear_from_a_thread(500)), 499 * 500 / 2);
}

TEST_P(Spawning, many_from_a_task_that_hear_from_a_thread) {
  EXPECT_EQ(run_as_task(runtime_, [] { return hear_from_a_thread(500); }), 499 * 500 / 2);
}

TEST_P(Spawning, from_a_foreign_thread_while_idle) {
  std::atomic<int> ran{0};
  std::thread other([&, handle = runtime_.handle()] {
    for (int i = 0; i < 20; ++i) {
      std::this_thread::sleep_for(1ms);
      handle.spawn(count(&ran)).detach();
    }
  });
  // The root sleeps, so only the spawns themselves wake anybody.
  run([&]() -> Task<> {
    Gate all;
    std::thread watcher([&ran, &all] {
      EXPECT_TRUE(eventually([&ran] { return ran.load() == 20; }));
      all.open();
    });
    co_await all.passed();
    watcher.join();
  });
  other.join();
  EXPECT_EQ(ran.load(), 20);
}

TEST_P(Spawning, from_foreign_threads_under_load) {
  constexpr int kThreads = 3;
  constexpr int kEach = 500;
  std::atomic<int> ran{0};
  for (int i = 0; i < 10; ++i) runtime_.spawn(yield_forever()).detach();
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&ran, handle = runtime_.handle()] {
      for (int n = 0; n < kEach; ++n) handle.spawn(count(&ran)).detach();
    });
  }
  runtime_.block_on(until([&] { return ran.load() == kThreads * kEach; }));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran.load(), kThreads * kEach);
}

TEST_P(Spawning, a_task_that_is_spawned_while_all_sleep_runs_at_once) {
  for (int round = 0; round < 200; ++round) {
    EXPECT_EQ(run_as_task(runtime_, [&] { return number(round); }), round);
    if (round % 50 == 0) std::this_thread::sleep_for(1ms);
  }
}

TEST_P(Spawning, current_handle_spawns_on_the_same_runtime) {
  EXPECT_EQ(run([&]() -> Task<int> {
              const Handle handle =
                  co_await spawn([]() -> Task<Handle> { co_return Handle::current(); }());
              const Handle copy = handle;
              std::optional<JoinHandle<int>> from_elsewhere;
              std::thread([&] { from_elsewhere = copy.spawn(number(6)); }).join();
              co_return co_await std::move(*from_elsewhere);
            }),
            6);
}

Task<> send_through_tasks(oneshot::Sender<bool> sender, int depth) {
  if (depth > 0) {
    spawn(send_through_tasks(std::move(sender), depth - 1)).detach();
  } else {
    sender.send(true);
  }
  co_return;
}

// A task spawns others while their completion is awaited.
TEST_P(Spawning, multi_spawn) {
  for (int round = 0; round < 200; ++round) {
    ASSERT_TRUE(run([&]() -> Task<bool> {
      auto ends = oneshot::channel<bool>();
      spawn(send_through_tasks(std::move(ends.first), 2)).detach();
      const std::optional<bool> message = co_await std::move(ends.second);
      co_return message.value_or(false);
    }));
  }
}

/// A link of a chain through which messages are passed.
Task<> link(std::vector<oneshot::Receiver<int>> in, std::vector<oneshot::Sender<int>> out) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::optional<int> message = co_await in[i];
    if (!message) co_return;
    out[i].send(*message + 1);
  }
}

struct Line {
  std::vector<oneshot::Sender<int>> senders;
  std::vector<oneshot::Receiver<int>> receivers;
};

Line make_line(int messages) {
  Line line;
  for (int i = 0; i < messages; ++i) {
    auto ends = oneshot::channel<int>();
    line.senders.push_back(std::move(ends.first));
    line.receivers.push_back(std::move(ends.second));
  }
  return line;
}

TEST_P(Spawning, tracks_of_two_hundred_tasks) {
  constexpr int kTracks = tests::kWatched ? 10 : 50;
  constexpr int kLinks = 200;
  constexpr int kMessages = 5;
  std::vector<Line> starts;
  std::vector<Line> ends;
  for (int track = 0; track < kTracks; ++track) {
    Line first = make_line(kMessages);
    Line current;
    current.receivers = std::move(first.receivers);
    for (int i = 0; i < kLinks; ++i) {
      Line next = make_line(kMessages);
      runtime_.spawn(link(std::move(current.receivers), std::move(next.senders))).detach();
      current.receivers = std::move(next.receivers);
    }
    starts.push_back(std::move(first));
    ends.push_back(std::move(current));
  }
  const int sum = run([&]() -> Task<int> {
    int total = 0;
    for (int message = 0; message < kMessages; ++message) {
      for (Line& line : starts) line.senders[static_cast<std::size_t>(message)].send(0);
      for (Line& line : ends) {
        const std::optional<int> heard = co_await line.receivers[static_cast<std::size_t>(message)];
        total += heard.value_or(-1'000'000);
      }
    }
    co_return total;
  });
  EXPECT_EQ(sum, kTracks * kLinks * kMessages);
}

TEST_P(Spawning, a_tree_of_tasks) {
  struct Tree {
    static Task<int> grow(int depth) {
      if (depth == 0) co_return 1;
      JoinHandle<int> left = spawn(grow(depth - 1));
      JoinHandle<int> right = spawn(grow(depth - 1));
      const int from_left = co_await std::move(left);
      const int from_right = co_await std::move(right);
      co_return from_left + from_right;
    }
  };
  EXPECT_EQ(runtime_.block_on(Tree::grow(12)), 1 << 12);
}

TEST(SpawnAcross, tasks_of_two_runtimes_wake_each_other) {
  for (const Kind& kind : {kOneWorker, kFourWorkers}) {
    Runtime first = build(kind);
    Runtime second = build(kTwoWorkers);
    Runtime third = build(kCurrentThread);
    for (int round = 0; round < 200; ++round) {
      auto there = oneshot::channel<int>();
      auto back = oneshot::channel<int>();
      const auto relay = [](oneshot::Receiver<int> in, oneshot::Sender<int> out) -> Task<> {
        const std::optional<int> heard = co_await std::move(in);
        out.send(heard.value_or(0) + 1);
      };
      auto middle = oneshot::channel<int>();
      first.spawn(relay(std::move(there.second), std::move(middle.first))).detach();
      second.spawn(relay(std::move(middle.second), std::move(back.first))).detach();
      const auto drive = [](oneshot::Sender<int> out, oneshot::Receiver<int> in) -> Task<int> {
        out.send(10);
        const std::optional<int> heard = co_await std::move(in);
        co_return heard.value_or(-1);
      };
      EXPECT_EQ(third.block_on(drive(std::move(there.first), std::move(back.second))), 12);
    }
  }
}

TEST(SpawnAcross, a_task_joins_one_of_another_runtime) {
  Census census;
  Runtime outer = build(kTwoWorkers);
  Runtime inner = build(kTwoWorkers);
  const auto yield_and_end = [](Resident) -> Task<int> {
    co_await yield_now();
    co_return 8;
  };
  const auto join_inner = [&](Resident resident) -> Task<int> {
    co_return co_await inner.spawn(yield_and_end(resident));
  };
  for (int round = 0; round < 200; ++round) {
    EXPECT_EQ(run_as_task(outer, [&]() { return join_inner(Resident(census)); }), 8);
  }
  EXPECT_EQ(census.living(), 0);
}

TEST(SpawnAcross, a_task_drops_another_runtime) {
  Census census;
  Runtime outer = build(kTwoWorkers);
  for (const Kind& kind : {kCurrentThread, kOneWorker, kTwoWorkers}) {
    auto inner = std::make_unique<Runtime>(build(kind));
    for (int i = 0; i < 100; ++i) inner->spawn(wait_forever(Resident(census))).detach();
    run_as_task(outer, [&]() -> Task<> {
      inner.reset();
      co_return;
    });
    EXPECT_EQ(census.living(), 0);
  }
}

TASKBENCH_ON_EVERY_SCHEDULER(Spawning);

}  // namespace
}  // namespace taskbench::rt
