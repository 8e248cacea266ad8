// Storms: random spawns, wakes, steals, aborts and shutdowns, on several runtimes and threads, with
// an account of every task at the end: every task created is destroyed, and each ran exactly as
// often as it should have.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/sync/oneshot.hpp"
#include "tests/stress/storm.hpp"

namespace taskbench::rt::stress {
namespace {

namespace oneshot = sync::oneshot;

/// Wakers that tasks leave behind, and that any thread wakes, drops or clones at random.
class WakerPool {
 public:
  void put(Waker waker) {
    const std::lock_guard lock(mutex_);
    wakers_.push_back(std::move(waker));
  }
  /// Takes a random waker; empty when there is none.
  Waker take(Random& random) {
    const std::lock_guard lock(mutex_);
    if (wakers_.empty()) return {};
    std::swap(wakers_[below(random, wakers_.size())], wakers_.back());
    Waker waker = std::move(wakers_.back());
    wakers_.pop_back();
    return waker;
  }
  void wake_all() {
    std::vector<Waker> all;
    {
      const std::lock_guard lock(mutex_);
      all.swap(wakers_);
    }
    for (Waker& waker : all) std::move(waker).wake();
  }

 private:
  std::mutex mutex_;
  std::vector<Waker> wakers_;
};

void disturb(WakerPool& pool, Random& random) {
  Waker waker = pool.take(random);
  if (!waker) return;
  switch (below(random, 4)) {
    case 0:
      std::move(waker).wake();
      break;
    case 1:
      waker.wake_by_ref();
      pool.put(std::move(waker));
      break;
    case 2:
      pool.put(waker.clone());
      std::move(waker).wake();
      break;
    default:
      waker.wake_by_ref();  // then dropped
      break;
  }
}

Task<long> tree(Account* account, std::uint64_t choices, int depth, Entry entry) {
  entry.begin();
  Random random(choices);
  long nodes = 1;
  if (depth > 0) {
    std::vector<JoinHandle<long>> children;
    const std::uint64_t count = below(random, 5);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (one_in(random, 4)) co_await yield_now();
      children.push_back(spawn(tree(account, random(), depth - 1, Entry(*account))));
    }
    for (JoinHandle<long>& child : children) nodes += co_await child;
  }
  if (one_in(random, 100)) {
    block_in_place(
        [&] { std::this_thread::sleep_for(std::chrono::microseconds(below(random, 99))); });
  }
  if (one_in(random, 3)) co_await yield_now();
  entry.end();
  co_return nodes;
}

TEST(Storm, of_spawns_that_are_all_joined) {
  storm([](Random& random) {
    Account account;
    {
      Runtime runtime = any_runtime(random, any_scheduler(random));
      const long nodes = runtime.block_on(tree(&account, random(), 7, Entry(account)));
      EXPECT_EQ(nodes, account.created.load());
    }
    EXPECT_EQ(account.begun.load(), account.created.load());
    EXPECT_EQ(account.ended.load(), account.created.load());
    EXPECT_EQ(account.destroyed.load(), account.created.load());
  });
}

/// Has to be woken `wakes` times; every poll leaves a waker.
Task<> await_wakes(WakerPool* pool, std::uint64_t wakes, Entry entry) {
  entry.begin();
  std::uint64_t polls = 0;
  co_await poll_fn([&polls, pool, wakes](PollContext& context) -> std::optional<bool> {
    if (polls++ >= wakes) return true;
    pool->put(context.waker());
    return std::nullopt;
  });
  entry.end();
}

TEST(Storm, of_wakes_from_everywhere) {
  storm([](Random& random) {
    Account account;
    WakerPool pool;
    std::atomic<bool> stop{false};
    {
      Runtime runtime = any_runtime(random, any_scheduler(random));
      std::vector<JoinHandle<void>> handles;
      const std::uint64_t tasks = 1 + below(random, 200);
      for (std::uint64_t i = 0; i < tasks; ++i) {
        handles.push_back(runtime.spawn(await_wakes(&pool, below(random, 20), Entry(account))));
      }
      std::vector<std::thread> wakers;
      for (int i = 0; i < 2; ++i) {
        wakers.emplace_back([&pool, &stop, own = Random(random())]() mutable {
          while (!stop.load()) {
            for (int n = 0; n < 50; ++n) disturb(pool, own);
            // Makes up for wakers dropped without a wake: no task may wait forever.
            pool.wake_all();
            std::this_thread::yield();
          }
        });
      }
      runtime.block_on([](std::vector<JoinHandle<void>> all) -> Task<> {
        for (JoinHandle<void>& handle : all) co_await handle;
      }(std::move(handles)));
      stop.store(true);
      for (std::thread& waker : wakers) waker.join();
      EXPECT_EQ(account.ended.load(), static_cast<long>(tasks));
    }
    pool.wake_all();
    EXPECT_EQ(account.destroyed.load(), account.created.load());
  });
}

/// Does some work of every kind until the runtime ends.
Task<> live(Account* account, WakerPool* pool, std::uint64_t choices, Entry entry) {
  entry.begin();
  Random random(choices);
  std::vector<JoinHandle<void>> children;
  for (;;) {
    switch (below(random, 8)) {
      case 0:
        if (children.size() < 3) {
          children.push_back(spawn(live(account, pool, random(), Entry(*account))));
        }
        break;
      case 1:
        spawn(await_wakes(pool, below(random, 3), Entry(*account))).detach();
        break;
      case 2:
        if (!children.empty()) children.pop_back();
        break;
      case 3:
        if (!children.empty()) children.back().abort();
        break;
      case 4:
        disturb(*pool, random);
        break;
      case 5: {
        bool again = false;
        co_await poll_fn([&again, pool](PollContext& context) -> std::optional<bool> {
          if (std::exchange(again, true)) return true;
          pool->put(context.waker());
          context.wake_now();
          return std::nullopt;
        });
        break;
      }
      case 6:
        if (one_in(random, 3)) {
          entry.end();
          if (one_in(random, 2)) throw std::runtime_error("a storm's exception");
          co_return;
        }
        break;
      default:
        co_await yield_now();
        break;
    }
    co_await yield_now();
  }
}

/// Runs tasks, disturbed by threads outside, until `end` ends the runtime.
template <class End>
void shutdown_in_full_swing(Random& random, std::string_view scheduler, End end) {
  Account account;
  WakerPool pool;
  std::atomic<bool> stop{false};
  std::vector<AbortHandle> aborts;
  std::optional<Runtime> runtime = any_runtime(random, scheduler);
  const std::uint64_t tasks = 1 + below(random, 50);
  for (std::uint64_t i = 0; i < tasks; ++i) {
    JoinHandle<void> handle = runtime->spawn(live(&account, &pool, random(), Entry(account)));
    if (one_in(random, 2)) aborts.push_back(handle.abort_handle());
  }
  std::vector<std::thread> outside;
  for (int i = 0; i < 2; ++i) {
    outside.emplace_back([&, handle = runtime->handle(), own = Random(random())]() mutable {
      while (!stop.load()) {
        handle.spawn(await_wakes(&pool, below(own, 3), Entry(account))).detach();
        disturb(pool, own);
        if (!aborts.empty() && one_in(own, 20)) aborts[below(own, aborts.size())].abort();
      }
    });
  }
  runtime->block_on([](std::uint64_t turns) -> Task<> {
    for (std::uint64_t i = 0; i < turns; ++i) co_await yield_now();
  }(below(random, 300)));
  end(runtime);
  stop.store(true);
  for (std::thread& thread : outside) thread.join();
  for (const AbortHandle& abort : aborts) {
    abort.abort();
    EXPECT_TRUE(abort.is_finished());
  }
  pool.wake_all();
  EXPECT_EQ(account.destroyed.load(), account.created.load());
  EXPECT_LE(account.ended.load(), account.begun.load());
  EXPECT_LE(account.begun.load(), account.created.load());
}

TEST(Storm, of_everything_that_ends_in_a_shutdown) {
  storm([](Random& random) {
    shutdown_in_full_swing(random, any_scheduler(random),
                           [](std::optional<Runtime>& runtime) { runtime.reset(); });
  });
}

TEST(Storm, of_everything_that_ends_in_a_shutdown_with_a_limit) {
  storm([](Random& random) {
    const auto limit = std::chrono::microseconds(below(random, 500));
    shutdown_in_full_swing(random, any_pool(random), [limit](std::optional<Runtime>& runtime) {
      while (!runtime->shutdown_timeout(limit)) std::this_thread::yield();
      runtime.reset();
    });
  });
}

TEST(Storm, of_aborts_against_completion) {
  storm([](Random& random) {
    Account account;
    std::atomic<long> values{0};
    std::atomic<long> cancelled{0};
    const std::uint64_t tasks = 1 + below(random, 300);
    {
      Runtime runtime = any_runtime(random, any_scheduler(random));
      std::vector<JoinHandle<int>> handles;
      std::vector<AbortHandle> aborts;
      for (std::uint64_t i = 0; i < tasks; ++i) {
        handles.push_back(runtime.spawn([](std::uint64_t yields, Entry entry) -> Task<int> {
          entry.begin();
          for (std::uint64_t n = 0; n < yields; ++n) co_await yield_now();
          entry.end();
          co_return 1;
        }(below(random, 10), Entry(account))));
        aborts.push_back(handles.back().abort_handle());
      }
      std::thread aborter([&aborts, own = Random(random())]() mutable {
        for (std::size_t i = 0; i < aborts.size() / 2; ++i)
          aborts[below(own, aborts.size())].abort();
      });
      runtime.block_on([](std::vector<JoinHandle<int>> all, std::atomic<long>* got,
                          std::atomic<long>* lost) -> Task<> {
        for (JoinHandle<int>& handle : all) {
          try {
            got->fetch_add(co_await handle);
          } catch (const JoinError&) {
            lost->fetch_add(1);
          }
        }
      }(std::move(handles), &values, &cancelled));
      aborter.join();
      EXPECT_EQ(values.load(), account.ended.load()) << "each that ended was heard of";
      EXPECT_EQ(values.load() + cancelled.load(), static_cast<long>(tasks));
    }
    EXPECT_EQ(account.destroyed.load(), account.created.load());
  });
}

/// Keeps its worker busy for a moment, so that its queue has to be stolen from.
Task<> spawn_and_dawdle(Account* account, std::uint64_t choices, int depth, Entry entry) {
  entry.begin();
  Random random(choices);
  const std::uint64_t count = below(random, depth > 0 ? 400 : 1);
  std::vector<JoinHandle<void>> handles;
  for (std::uint64_t i = 0; i < count; ++i) {
    const int next = one_in(random, 100) ? depth - 1 : 0;
    handles.push_back(spawn(spawn_and_dawdle(account, random(), next, Entry(*account))));
  }
  const Clock::time_point until = Clock::now() + std::chrono::microseconds(below(random, 30));
  while (Clock::now() < until) {
  }
  for (JoinHandle<void>& handle : handles) co_await handle;
  entry.end();
}

TEST(Storm, of_steals_and_overflows) {
  storm([](Random& random) {
    Account account;
    {
      Runtime runtime = any_runtime(random, "work_stealing");
      std::vector<JoinHandle<void>> handles;
      for (int i = 0; i < 3; ++i) {
        handles.push_back(runtime.spawn(spawn_and_dawdle(&account, random(), 2, Entry(account))));
      }
      runtime.block_on([](std::vector<JoinHandle<void>> all) -> Task<> {
        for (JoinHandle<void>& handle : all) co_await handle;
      }(std::move(handles)));
    }
    EXPECT_EQ(account.ended.load(), account.created.load());
    EXPECT_EQ(account.destroyed.load(), account.created.load());
  });
}

/// Passes on what it receives, or drops the channel by chance.
Task<> relay(oneshot::Receiver<int> in, oneshot::Sender<int> out, bool drops, Entry entry) {
  entry.begin();
  const std::optional<int> heard = co_await std::move(in);
  if (heard && !drops) out.send(*heard + 1);
  entry.end();
}

TEST(Storm, of_messages_across_runtimes_that_come_and_go) {
  storm([](Random& random) {
    Account account;
    {
      Runtime hearer = any_runtime(random, any_scheduler(random));
      std::vector<Runtime> runtimes;
      for (int i = 0; i < 3; ++i) runtimes.push_back(any_runtime(random, any_pool(random)));
      const std::uint64_t chains = 1 + below(random, 30);
      for (std::uint64_t chain = 0; chain < chains; ++chain) {
        auto first = oneshot::channel<int>();
        oneshot::Receiver<int> in = std::move(first.second);
        const std::uint64_t links = 1 + below(random, 10);
        bool breaks = false;
        for (std::uint64_t i = 0; i < links; ++i) {
          auto next = oneshot::channel<int>();
          const bool drops = one_in(random, 30);
          breaks = breaks || drops;
          Runtime& runtime = runtimes[below(random, runtimes.size())];
          runtime.spawn(relay(std::move(in), std::move(next.first), drops, Entry(account)))
              .detach();
          in = std::move(next.second);
        }
        first.first.send(0);
        if (one_in(random, 10)) {
          // One of the runtimes ends with everything that it runs: the chain may break.
          runtimes[below(random, runtimes.size())] = any_runtime(random, any_pool(random));
          breaks = true;
        }
        const std::optional<int> heard =
            hearer.block_on([](oneshot::Receiver<int> end) -> Task<std::optional<int>> {
              co_return co_await std::move(end);
            }(std::move(in)));
        if (heard || !breaks) {
          EXPECT_EQ(heard, static_cast<int>(links));
        }
      }
    }
    EXPECT_EQ(account.destroyed.load(), account.created.load());
  });
}

/// Blocks until the next task's section has begun.
Task<> block_in_turn(std::uint64_t choices, std::uint64_t left, std::binary_semaphore* previous,
                     Entry entry) {
  entry.begin();
  Random random(choices);
  if (one_in(random, 3)) co_await yield_now();
  if (previous != nullptr) previous->release();
  if (left > 0) {
    std::binary_semaphore next_has_begun(0);
    JoinHandle<void> next =
        spawn(block_in_turn(random(), left - 1, &next_has_begun, Entry(*entry.account())));
    block_in_place([&] { next_has_begun.acquire(); });
    co_await next;
  }
  entry.end();
}

TEST(Storm, of_blocking_sections_that_wait_for_each_other) {
  storm([](Random& random) {
    Account account;
    {
      const auto chains = static_cast<unsigned>(1 + below(random, 3));
      // Threads in addition to the workers': as many as may be blocked at once, or one more.
      const auto threads = static_cast<unsigned>(chains + below(random, 2));
      Runtime::Builder builder = any_builder(random, one_in(random, 4) ? "go" : "work_stealing");
      // There is mostly no other worker to steal what waits, and no thread that starts or stops
      // standing by would look on its own: a missing call for a watcher hangs the storm.
      if (!one_in(random, 4)) builder.workers(1);
      const bool for_ever = !one_in(random, 4);
      Runtime runtime = builder.max_blocking_threads(threads)
                            .blocking_idle_timeout(for_ever ? std::chrono::nanoseconds::max()
                                                            : std::chrono::microseconds(50))
                            .build();
      std::vector<JoinHandle<void>> handles;
      for (unsigned i = 0; i < chains; ++i) {
        handles.push_back(
            runtime.spawn(block_in_turn(random(), below(random, 20), nullptr, Entry(account))));
      }
      runtime.block_on([](std::vector<JoinHandle<void>> all) -> Task<> {
        for (JoinHandle<void>& handle : all) co_await handle;
      }(std::move(handles)));
    }
    EXPECT_EQ(account.ended.load(), account.created.load());
    EXPECT_EQ(account.destroyed.load(), account.created.load());
  });
}

TEST(Storm, of_runtimes_that_are_built_and_ended) {
  storm([](Random& random) {
    Account account;
    std::vector<JoinHandle<void>> handles;
    {
      Runtime runtime = any_runtime(random, any_scheduler(random));
      const std::uint64_t tasks = below(random, 20);
      for (std::uint64_t i = 0; i < tasks; ++i) {
        handles.push_back(runtime.spawn([](Entry entry) -> Task<> {
          entry.begin();
          co_await yield_now();
          entry.end();
        }(Entry(account))));
      }
    }
    for (const JoinHandle<void>& handle : handles) EXPECT_TRUE(handle.is_finished());
    EXPECT_EQ(account.destroyed.load(), account.created.load());
    EXPECT_LE(account.ended.load(), account.begun.load());
  });
}

}  // namespace
}  // namespace taskbench::rt::stress
