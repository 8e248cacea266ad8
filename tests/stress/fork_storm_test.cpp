// Storms of forks: trees of random shapes whose forks throw, block and spawn, in several tasks at a
// time that are awaited, aborted or shut down.
#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/stress/storm.hpp"

namespace taskbench::rt::stress {
namespace {

Task<> counted(Entry entry) {
  entry.begin();
  entry.end();
  co_return;
}

/// Returns the number of forks in the tree. `throws`: one fork in this many throws; 0: none.
Fork<long> fork_tree(std::uint64_t choices, int depth, std::uint64_t throws, Entry entry) {
  entry.begin();
  Account& account = *entry.account();
  Random random(choices);
  const auto child = [&account, choices, depth, throws](std::size_t i) {
    return fork_tree(choices + 977 * i + 1, depth - 1, throws, Entry(account));
  };
  if (one_in(random, 50)) {
    block_in_place(
        [&] { std::this_thread::sleep_for(std::chrono::microseconds(below(random, 99))); });
  }
  if (one_in(random, 50)) spawn(counted(Entry(account))).detach();
  if (throws != 0 && one_in(random, throws)) throw std::runtime_error("thrown on purpose");
  long forks = 1;
  if (depth > 0) {
    switch (below(random, 4)) {
      case 0: {
        const auto [one, two] = co_await fork_join(child(0), child(1));
        forks += one + two;
        break;
      }
      case 1:
        forks += co_await child(0);
        break;
      case 2: {
        const auto three = co_await fork_join<3>(child);
        for (const long each : three) forks += each;
        break;
      }
      default: {
        const std::size_t count = one_in(random, 20) ? 40 : below(random, 4);
        const std::vector<long> many = co_await fork_join(count, child);
        for (const long each : many) forks += each;
      }
    }
  }
  entry.end();
  co_return forks;
}

Task<long> forks_in_rounds(Account* account, std::uint64_t choices, std::uint64_t throws) {
  Random random(choices);
  long forks = 0;
  for (int round = 0; round < 3; ++round) {
    forks += co_await fork_tree(random(), 5, throws, Entry(*account));
    if (one_in(random, 2)) co_await yield_now();
  }
  co_return forks;
}

TEST(ForkStorm, of_trees_that_are_all_joined) {
  storm([](Random& random) {
    Account account;
    {
      Runtime runtime = any_runtime(random, any_scheduler(random));
      std::vector<JoinHandle<long>> handles;
      for (std::uint64_t i = below(random, 6); i != 0; --i) {
        handles.push_back(runtime.spawn(forks_in_rounds(&account, random(), 0)));
      }
      long forks = runtime.block_on(forks_in_rounds(&account, random(), 0));
      for (JoinHandle<long>& each : handles) {
        forks += runtime.block_on([&each]() -> Task<long> { co_return co_await each; });
      }
      EXPECT_GE(account.created.load(), forks);
    }
    EXPECT_EQ(account.destroyed.load(), account.created.load());
  });
}

TEST(ForkStorm, of_trees_that_throw_or_are_aborted_or_shut_down) {
  storm([](Random& random) {
    Account account;
    {
      Runtime runtime = any_builder(random, any_scheduler(random))
                            .on_unhandled_exception([](const std::exception_ptr&) {})
                            .build();
      std::vector<JoinHandle<long>> handles;
      for (std::uint64_t i = 1 + below(random, 8); i != 0; --i) {
        handles.push_back(runtime.spawn(forks_in_rounds(&account, random(), 100)));
      }
      const auto await_or_abort = [&](JoinHandle<long>& handle) {
        if (one_in(random, 2)) handle.abort();
        if (one_in(random, 3)) return;
        try {
          runtime.block_on([&handle]() -> Task<long> { co_return co_await handle; });
        } catch (const JoinError&) {
        } catch (const std::runtime_error&) {
        }
      };
      std::thread other;
      if (one_in(random, 2)) {
        other = std::thread([&account, &runtime, choices = random()] {
          try {
            runtime.block_on(forks_in_rounds(&account, choices, 0));
          } catch (const JoinError&) {
          }
        });
      }
      if (one_in(random, 2)) {
        for (JoinHandle<long>& each : handles) await_or_abort(each);
      }
      if (other.joinable()) other.join();
    }
    EXPECT_EQ(account.destroyed.load(), account.created.load());
  });
}

}  // namespace
}  // namespace taskbench::rt::stress
