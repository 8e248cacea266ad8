// The pool whose workers run in turn: that a run can be repeated, and what its one driver must do
// that the threads of the others do. What all schedulers promise is tested on it elsewhere.

#include "runtime/sync/oneshot.hpp"
#include "tests/runtime/fixtures.hpp"

namespace taskbench::rt {
namespace {

using namespace testing;

using Log = std::vector<int>;

Task<> stepper(Log* log, int id, int steps) {
  for (int i = 0; i < steps; ++i) {
    log->push_back(id);
    co_await yield_now();
  }
}

/// Tasks that spawn, yield and join, over the workers of an in_turn runtime.
struct Outcome {
  Log log;
  WorkerCounters total;
};

Task<> parent(Log* log, int id) {
  std::vector<JoinHandle<void>> children;
  for (int i = 0; i < 5; ++i) children.push_back(spawn(stepper(log, 10 * id + i, i + 1)));
  for (auto& child : children) co_await std::move(child);
  log->push_back(id);
}

Task<> family(Log* log) {
  std::vector<JoinHandle<void>> parents;
  for (int id = 1; id <= 8; ++id) parents.push_back(spawn(parent(log, id)));
  for (auto& each : parents) co_await std::move(each);
}

Outcome outcome_of(std::uint64_t seed, unsigned workers = 4) {
  Outcome outcome;
  Runtime runtime = builder(kInTurn).workers(workers).seed(seed).build();
  runtime.block_on(family(&outcome.log));
  outcome.total = runtime.stats().total();
  return outcome;
}

TEST(InTurn, the_same_seed_gives_the_same_schedule) {
  const Outcome first = outcome_of(1);
  ASSERT_EQ(first.log.size(), 8U * (15 + 1));
  for (int again = 0; again < 5; ++again) {
    const Outcome next = outcome_of(1);
    EXPECT_EQ(next.log, first.log);
    EXPECT_EQ(next.total.polls, first.total.polls);
    EXPECT_EQ(next.total.searches, first.total.searches);
    EXPECT_EQ(next.total.parks, first.total.parks);
  }
}

TEST(InTurn, another_seed_gives_another_schedule) {
  const Log first = outcome_of(1).log;
  int others = 0;
  for (std::uint64_t seed = 2; seed < 10; ++seed) others += outcome_of(seed).log != first ? 1 : 0;
  EXPECT_GE(others, 6);
}

TEST(InTurn, its_workers_steal_park_and_are_woken) {
  Log log;
  Runtime runtime = builder(kInTurn).workers(4).build();
  for (int round = 0; round < 3; ++round) {
    runtime.block_on([](Log* lines) -> Task<> {
      co_await family(lines);
      for (int i = 0; i < 20; ++i) co_await yield_now();  // nothing else is left to do meanwhile
    }(&log));
  }
  const WorkerCounters total = runtime.stats().total();
  EXPECT_GT(total.stolen_tasks, 0U);
  EXPECT_GE(total.parks, 3U);
  EXPECT_GE(total.unparks, 2U);
  EXPECT_EQ(total.tasks_completed, 3U * (8 + 40));
}

TEST(InTurn, everything_runs_on_the_thread_that_blocks) {
  Runtime runtime = build(kInTurn);
  const auto self = std::this_thread::get_id();
  runtime.block_on([](std::thread::id expected) -> Task<> {
    for (int i = 0; i < 20; ++i) {
      const auto where =
          co_await spawn([]() -> Task<std::thread::id> { co_return std::this_thread::get_id(); }());
      EXPECT_EQ(where, expected);
    }
  }(self));
}

TEST(InTurn, what_another_thread_spawns_runs_while_the_driver_has_nothing_to_do) {
  Runtime runtime = build(kInTurn);
  auto [sender, receiver] = sync::oneshot::channel<int>();
  std::thread other([handle = runtime.handle(), sender = std::move(sender)]() mutable {
    handle
        .spawn([](sync::oneshot::Sender<int> to) -> Task<> {
          static_cast<void>(to.send(7));
          co_return;
        }(std::move(sender)))
        .detach();
  });
  const auto got = runtime.block_on([](sync::oneshot::Receiver<int> from) -> Task<int> {
    co_return *co_await from;
  }(std::move(receiver)));
  EXPECT_EQ(got, 7);
  other.join();
}

struct CountsDown {
  explicit CountsDown(std::atomic<int>* count) : count_(count) { count_->fetch_add(1); }
  CountsDown(CountsDown&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
  CountsDown(const CountsDown&) = delete;
  ~CountsDown() {
    if (count_ != nullptr) count_->fetch_sub(1);
  }
  std::atomic<int>* count_;
};

Task<> yields_forever(CountsDown) {
  for (;;) co_await yield_now();
}

TEST(InTurn, a_shutdown_destroys_every_task_whoever_calls_it) {
  std::atomic<int> living{0};
  {
    Runtime runtime = build(kInTurn);  // nobody was ever in block_on
    runtime.spawn(yields_forever(CountsDown(&living))).detach();
    EXPECT_EQ(living.load(), 1);
    runtime.shutdown();
    EXPECT_EQ(living.load(), 0);
  }
  {
    Runtime runtime = build(kInTurn);  // the root
    runtime.block_on([](Runtime* own, std::atomic<int>* count) -> Task<> {
      for (int i = 0; i < 9; ++i) spawn(yields_forever(CountsDown(count))).detach();
      for (int i = 0; i < 50; ++i) co_await yield_now();
      own->shutdown();
      EXPECT_EQ(count->load(), 0);
    }(&runtime, &living));
  }
  {
    Runtime runtime = build(kInTurn);  // a task
    EXPECT_THROW(runtime.block_on([](Runtime* own, std::atomic<int>* count) -> Task<> {
      co_await spawn([](Runtime* mine, CountsDown) -> Task<> {
        mine->shutdown();
        for (;;) co_await yield_now();
      }(own, CountsDown(count)));
    }(&runtime, &living)),
                 JoinError);
    EXPECT_EQ(living.load(), 0);
  }
  {
    Runtime runtime = build(kInTurn);  // another thread, while the driver waits for a task
    std::thread other([&] {
      while (living.load() == 0) std::this_thread::yield();
      runtime.shutdown();
      EXPECT_EQ(living.load(), 0);
    });
    EXPECT_THROW(runtime.block_on([](std::atomic<int>* count) -> Task<> {
      co_await spawn(yields_forever(CountsDown(count)));
    }(&living)),
                 JoinError);
    other.join();
  }
}

}  // namespace
}  // namespace taskbench::rt
