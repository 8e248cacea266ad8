// Each kind of error, planted: the tester must find it and say what it is.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "tests/model/mc/check.hpp"
#include "tests/model/mc/primitives.hpp"
#include "tests/model/mc/vector_clock.hpp"

namespace mc::testing {
namespace {

/// Expects the check to fail with these words in its message. Returns the result.
template <class Body>
Result fails(const std::string& words, Body body, const Options& options = {}) {
  Result result = check(options, body);
  EXPECT_TRUE(result.failed);
  EXPECT_NE(result.message.find(words), std::string::npos) << result.message;
  return result;
}

template <class Body>
Result holds(Body body, const Options& options = {}) {
  Result result = check(options, body);
  EXPECT_FALSE(result.failed) << result.message << '\n' << result.events;
  EXPECT_TRUE(result.complete);
  return result;
}

TEST(Races, of_two_threads_without_anything_between_them) {
  fails("data race", [] {
    Cell<int> cell{0};
    Thread other([&] { cell.set(1); });
    (void)cell.get();
    other.join();
  });
}

TEST(Races, right_after_the_store_that_hands_over) {
  fails("data race", [] {
    Cell<int> cell{0};
    Atomic<bool> ready{false};
    Thread writer([&] {
      ready.store(true, release);
      cell.set(1);
    });
    if (ready.load(acquire)) (void)cell.get();
    writer.join();
  });
}

TEST(Races, between_the_fence_that_hands_over_and_the_store_that_tells) {
  for (const Fence kind : {Fence::release, Fence::acq_rel, Fence::seq_cst}) {
    fails("data race", [kind] {
      Cell<int> cell{0};
      Atomic<bool> ready{false};
      Thread writer([&] {
        fence(kind);
        cell.set(1);
        ready.store(true, relaxed);
      });
      if (ready.load(acquire)) (void)cell.get();
      writer.join();
    });
  }
}

TEST(Races, of_what_a_thread_does_first) {
  fails("data race", [] {
    Cell<int> cell{0};
    Atomic<bool> turn{false};
    Thread other([&] {
      cell.set(1);
      turn.store(true, relaxed);
    });
    if (turn.load(relaxed)) cell.set(2);
    other.join();
  });
}

TEST(Races, of_a_write_with_what_a_thread_reads_first) {
  fails("data race", [] {
    Cell<int> cell{0};
    Atomic<bool> turn{false};
    Thread other([&] {
      (void)cell.get();
      turn.store(true, relaxed);
    });
    if (turn.load(relaxed)) cell.set(2);
    other.join();
  });
}

// The third thread passes the flag on without synchronising, so the second fence always comes after
// the first, and still nothing happens before the read.
TEST(Races, are_not_hidden_by_seq_cst_fences) {
  fails("data race", [] {
    Cell<int> cell{0};
    Atomic<bool> told{false};
    Atomic<bool> told_again{false};
    Thread other([&] {
      cell.set(1);
      fence(Fence::seq_cst);
      told.store(true, relaxed);
    });
    Thread carrier([&] {
      if (told.load(relaxed)) told_again.store(true, relaxed);
    });
    if (told_again.load(relaxed)) {
      fence(Fence::seq_cst);
      (void)cell.get();
    }
    other.join();
    carrier.join();
  });
}

TEST(Races, none_through_a_mutex_a_join_or_a_released_flag) {
  holds([] {
    Cell<int> guarded{0};
    Cell<int> handed{0};
    Atomic<bool> ready{false};
    Mutex mutex;
    Thread other([&] {
      {
        const Guard guard(mutex);
        guarded.set(guarded.get() + 1);
      }
      handed.set(1);
      ready.store(true, release);
    });
    {
      const Guard guard(mutex);
      guarded.set(guarded.get() + 1);
    }
    if (ready.load(acquire)) require(handed.get() == 1, "handed over");
    other.join();
    require(guarded.get() == 2, "both have counted");
  });
}

/// A cell is handed over by a fence and a relaxed flag. The reader loads the flag with `load`, then
/// passes its own fence, if any. `through`: a third thread adds to the flag in between.
std::function<void()> handed_over(Fence writers, Order load, std::optional<Fence> readers,
                                  bool through = false) {
  return [=] {
    Cell<int> cell{0};
    Atomic<int> flag{0};
    Thread writer([&] {
      cell.set(1);
      fence(writers);
      flag.store(1, relaxed);
    });
    Thread other([&] {
      if (through) flag.fetch_add(1, relaxed);
    });
    if (flag.load(load) == (through ? 2 : 1)) {
      if (readers) fence(*readers);
      (void)cell.get();
    }
    writer.join();
    other.join();
  };
}

TEST(Races, none_through_a_light_fence_and_a_heavy_one) {
  for (const bool through : {false, true}) {
    holds(handed_over(Fence::light, relaxed, Fence::heavy, through));
    holds(handed_over(Fence::heavy, relaxed, Fence::light, through));
    holds(handed_over(Fence::heavy, relaxed, Fence::heavy, through));
    fails("data race", handed_over(Fence::light, relaxed, Fence::light, through));
  }
}

TEST(Races, are_not_hidden_by_a_light_fence_that_meets_no_heavy_one) {
  fails("data race", handed_over(Fence::light, acquire, std::nullopt));
  fails("data race", handed_over(Fence::light, relaxed, Fence::acquire));
  fails("data race", handed_over(Fence::release, relaxed, Fence::light));
}

TEST(Races, after_a_compare_exchange_that_fails_depend_on_its_order_for_that) {
  const auto body = [](Order failure) {
    return [failure] {
      Cell<int> cell{0};
      Atomic<int> flag{0};
      Thread writer([&] {
        cell.set(1);
        flag.store(1, release);
      });
      int expected = 2;
      require(!flag.compare_exchange_strong(expected, 3, acquire, failure), "it is never 2");
      if (expected == 1) (void)cell.get();
      writer.join();
    };
  };
  fails("data race", body(relaxed));
  holds(body(acquire));
}

TEST(Races, of_the_maker_of_an_atomic_with_a_user_of_it) {
  fails("data race: an atomic is used that another thread is only making", [] {
    Atomic<Atomic<int>*> place{nullptr};
    Thread other([&] { place.store(new Atomic<int>{0}, relaxed); });
    if (Atomic<int>* const made = place.load(relaxed)) (void)made->load(relaxed);
    other.join();
    delete place.load(relaxed);
  });
}

TEST(Races, of_a_writer_with_who_frees) {
  fails("data race: thread 0 destroys or frees what thread 1 writes", [] {
    auto* cell = new Cell<int>{0};
    Atomic<bool> written{false};
    Thread other([&] {
      cell->set(1);
      written.store(true, relaxed);
    });
    while (!written.load(relaxed)) yield();
    delete cell;
    other.join();
  });
}

struct Counted {
  Atomic<int> references{2};
  Atomic<int> uses{0};
};

void drop(Counted* counted, Order order) {
  counted->uses.fetch_add(1, relaxed);
  if (counted->references.fetch_sub(1, order) == 1) delete counted;
}

TEST(References, counted_relaxed_destroy_what_another_thread_uses) {
  const auto body = [](Order order) {
    return [order] {
      auto* counted = new Counted;
      Thread other([=] { drop(counted, order); });
      drop(counted, order);
      other.join();
    };
  };
  fails("data race", body(relaxed));
  fails("data race", body(release));
  holds(body(acq_rel));
}

TEST(Memory, that_is_never_freed_is_a_leak) {
  fails("leak: 4 bytes that thread 0 allocated", [] {
    void* volatile memory = operator new(4);  // volatile: the compiler would remove the allocation
    (void)memory;
  });
}

TEST(Memory, freed_twice) {
  fails("double free", [] {
    void* memory = operator new(4);
    void* volatile again = memory;  // volatile: the compiler would notice the double free
    operator delete(memory);
    operator delete(again);
  });
}

TEST(Memory, used_after_it_was_freed) {
  fails("use after free", [] {
    auto* counted = new Counted;
    Counted* volatile left = counted;
    delete counted;
    (void)left->uses.load(relaxed);
  });
}

TEST(Memory, of_a_cell_used_after_it_was_freed) {
  fails("use after free: a cell", [] {
    auto* cell = new Cell<int>{0};
    Cell<int>* volatile left = cell;
    delete cell;
    (void)left->get();
  });
}

TEST(Memory, that_nobody_allocated_or_nobody_has) {
  fails("freed memory that was not allocated", [] {
    char* const memory = static_cast<char*>(operator new(8));
    void* volatile inside = memory + 1;
    operator delete(inside);
  });
  fails("out of memory", [] {
    void* volatile memory = operator new(5 << 20);
    (void)memory;
  });
}

TEST(Memory, of_an_execution_that_was_given_up_is_forgotten) {
  holds([] {
    std::vector<std::string> texts;
    Atomic<int> x{0};
    Thread one([&] { x.store(1, relaxed); });
    Thread two([&] { x.store(2, relaxed); });
    for (int i = 0; i < 3; ++i) texts.emplace_back(100, 'x');
    one.join();
    two.join();
  });
}

TEST(Waiting, two_locks_in_two_orders) {
  fails("deadlock", [] {
    Mutex a;
    Mutex b;
    Thread other([&] {
      const Guard first(b);
      const Guard second(a);
    });
    {
      const Guard first(a);
      const Guard second(b);
    }
    other.join();
  });
}

TEST(Waiting, for_oneself_or_nobody) {
  fails("locks a mutex that it holds", [] {
    Mutex mutex;
    mutex.lock();
    mutex.lock();
  });
  fails("unlocks a mutex that it does not hold", [] {
    Mutex mutex;
    mutex.unlock();
  });
}

TEST(Waiting, is_not_done_by_who_only_tries_to_lock) {
  holds([] {
    Mutex mutex;
    Cell<int> guarded{0};
    Atomic<int> x{0};
    Thread other([&] {
      const Guard guard(mutex);
      x.store(1, relaxed);
      guarded.set(1);
    });
    const bool taken = mutex.try_lock();
    if (taken) {
      (void)guarded.get();
      mutex.unlock();
    }
    sometimes("taken", taken);
    sometimes("held by another", !taken);
    other.join();
  });
}

TEST(Waiting, for_a_wake_up_that_was_lost) {
  fails("deadlock", [] {
    Atomic<std::uint32_t> word{0};
    Thread waker([&] {
      futex_wake(&word);
      word.store(1, release);
    });
    if (word.load(acquire) == 0) (void)futex_wait(&word, 0, 0, false);
    waker.join();
  });
  holds([] {
    Atomic<std::uint32_t> word{0};
    Thread waker([&] {
      word.store(1, release);
      futex_wake(&word);
    });
    while (word.load(acquire) == 0) (void)futex_wait(&word, 0, 0, false);
    waker.join();
  });
}

TEST(Waiting, for_what_nobody_writes_is_a_livelock) {
  fails("livelock", [] {
    Atomic<bool> flag{false};
    Thread other([&] {
      while (!flag.load(acquire)) yield();
    });
    other.join();
  });
}

// What is written between the look and the first yield is seen by the next look, so the second
// yield must end, too.
TEST(Waiting, in_a_loop_that_yields_twice_ends) {
  holds([] {
    Atomic<bool> flag{false};
    Thread other([&] { flag.store(true, relaxed); });
    while (!flag.load(relaxed)) {
      yield();
      yield();
    }
    other.join();
  });
}

TEST(Waiting, in_a_loop_that_reads_the_past_ends) {
  holds([] {
    Atomic<bool> flag{false};
    Thread other([&] { flag.store(true, relaxed); });
    while (!flag.load(relaxed)) yield();
    other.join();
  });
}

TEST(Waiting, notify_one_wakes_each_waiter_in_some_execution) {
  holds([] {
    Mutex mutex;
    Condition condition;
    Atomic<int> tokens{0};
    std::vector<int> came;
    std::vector<int> went;
    const auto wait_for_token = [&](int number) {
      const Guard guard(mutex);
      came.push_back(number);
      while (tokens.load(relaxed) == 0) condition.wait(mutex);
      tokens.fetch_sub(1, relaxed);
      went.push_back(number);
    };
    const auto give_token = [&] {
      {
        const Guard guard(mutex);
        tokens.fetch_add(1, relaxed);
      }
      condition.notify_one();
    };
    Thread one(wait_for_token, 1);
    Thread two(wait_for_token, 2);
    bool both_wait = false;
    {
      const Guard guard(mutex);
      both_wait = came.size() == 2;
    }
    give_token();
    while (tokens.load(relaxed) != 0) yield();
    give_token();
    one.join();
    two.join();
    sometimes("the one that waits longer", both_wait && went.front() == came.front());
    sometimes("the one that came later", both_wait && went.front() != came.front());
  });
}

TEST(Waiting, notify_all_wakes_all) {
  holds([] {
    Mutex mutex;
    Condition condition;
    bool ready = false;
    const auto wait = [&] {
      const Guard guard(mutex);
      while (!ready) condition.wait(mutex);
    };
    Thread one(wait);
    Thread two(wait);
    {
      const Guard guard(mutex);
      ready = true;
    }
    condition.notify_all();
    one.join();
    two.join();
  });
}

TEST(Waiting, does_not_time_out_unless_asked_for) {
  fails("deadlock", [] {
    Atomic<std::uint32_t> word{0};
    (void)futex_wait(&word, 0, 0, true);
  });
}

TEST(Waiting, a_timeout_races_a_notification) {
  Options options;
  options.timeouts = true;
  holds(
      [] {
        Atomic<std::uint32_t> word{0};
        Thread waker([&] {
          word.store(1, release);
          futex_wake(&word);
        });
        const bool woken = futex_wait(&word, 0, 0, true);
        sometimes("woken", woken);
        sometimes("timed out", !woken);
        waker.join();
      },
      options);
}

// Otherwise a thread that looks again and again would keep all others from running.
TEST(Waiting, a_thread_that_looks_again_and_again_lets_others_go_on) {
  Options options;
  options.timeouts = true;
  options.early = 2;
  holds(
      [] {
        Atomic<std::uint32_t> flag{0};
        Atomic<std::uint32_t> word{0};
        Thread other([&] { flag.store(1, release); });
        int looks = 0;
        for (; flag.load(acquire) == 0; ++looks) (void)futex_wait(&word, 0, 0, true);
        sometimes("at once", looks == 0);
        sometimes("in the end", looks == 2);
        other.join();
      },
      options);
}

TEST(Threads, are_refused_where_the_system_gives_no_more) {
  Options options;
  options.threads = 2;
  holds(
      [] {
        Thread other([] {});
        bool refused = false;
        try {
          Thread one_too_many([] {});
        } catch (const std::system_error&) {
          refused = true;
        }
        require(refused, "the third");
        other.join();
      },
      options);
}

TEST(Waiting, spurious_wake_ups_are_tried_as_often_as_asked_for) {
  const auto body = [] {
    Atomic<std::uint32_t> word{0};
    Thread waker([&] {
      word.store(1, release);
      futex_wake(&word);
    });
    (void)futex_wait(&word, 0, 0, false);
    require(word.load(relaxed) == 1, "woken only when the word has changed");
    waker.join();
  };
  fails("not so: woken only", body, {.spurious = 1});
  fails("not so: notified",
        [] {
          Mutex mutex;
          Condition condition;
          bool ready = false;
          Thread waker([&] {
            const Guard guard(mutex);
            ready = true;
            condition.notify_one();
          });
          {
            const Guard guard(mutex);
            if (!ready) condition.wait(mutex);
            require(ready, "notified");
          }
          waker.join();
        },
        {.spurious = 1});
  holds(
      [] {
        Atomic<std::uint32_t> word{0};
        Thread waker([&] {
          word.store(1, release);
          futex_wake(&word);
        });
        int wake_ups = 0;
        for (; word.load(acquire) == 0; ++wake_ups) (void)futex_wait(&word, 0, 0, false);
        require(wake_ups <= 2, "one that was asked for, one for no reason");
        waker.join();
      },
      {.spurious = 1});
}

TEST(Assertions, say_what_did_not_hold_and_where) {
  const Result result = fails("not so: never two, at ", [] {
    Atomic<int> count{0};
    Thread other([&] { count.fetch_add(1, relaxed); });
    count.fetch_add(1, relaxed);
    require(count.load(relaxed) != 2, "never two");
    other.join();
  });
  EXPECT_NE(result.message.find("errors_test.cpp:"), std::string::npos);
}

TEST(Assertions, that_nothing_reaches_fail_the_check) {
  fails("never: three", [] { sometimes("three", false); });
}

TEST(Threads, that_are_not_joined) {
  fails("destroyed that was not joined", [] { const Thread other([] {}); });
}

TEST(Threads, that_are_too_many_or_end_by_an_exception) {
  fails("more threads than the tester has", [] {
    std::vector<Thread> threads;
    for (int i = 0; i < kMaxThreads; ++i) threads.emplace_back([] {});
  });
  fails("an exception left a thread: lost", [] { throw std::runtime_error("lost"); });
}

TEST(Threads, have_variables_of_their_own) {
  holds([] {
    static const int key = 0;
    static int destroyed;
    destroyed = 0;
    const auto count = [] {
      return ++*static_cast<int*>(
          of_this_thread(&key, sizeof(int), alignof(int), [](void*) { ++destroyed; }));
    };
    require(count() == 1, "zero at first");
    Thread other([&] { require(count() == 1, "its own"); });
    require(count() == 2, "kept");
    other.join();
    require(destroyed == 1, "gone with its thread");
  });
}

TEST(Bodies, that_depend_on_something_else_are_reported) {
  int calls = 0;
  fails("does not do the same each time", [&] {
    const bool odd = ++calls % 2 == 1;
    Atomic<int> x{0};
    Atomic<int> y{0};
    Thread other([&] { x.store(1, relaxed); });
    (void)(odd ? x : y).load(relaxed);
    if (odd) (void)choose(3);
    other.join();
  });
  int choices = 0;
  fails("does not do the same each time", [&] {
    for (int i = 0; i < 3; ++i) (void)choose(2 + choices++ / 4);
  });
}

TEST(Bodies, that_end_before_a_choice_of_an_earlier_execution_are_reported) {
  int calls = 0;
  fails("does not do the same each time", [&] {
    if (++calls == 1) (void)choose(2);
  });
}

TEST(Steps, that_are_more_than_the_clocks_count_are_refused) {
  holds([] {}, {.steps = 30'000});
  fails("steps may be at most 30000, not 30001", [] {}, {.steps = 30'001});
}

void lose_an_increment() {
  Atomic<int> count{0};
  const auto increment = [&] { count.store(count.load(relaxed) + 1, relaxed); };
  Thread one(increment);
  Thread two(increment);
  one.join();
  two.join();
  require(count.load(relaxed) == 2, "no increment is lost");
}

TEST(Failures, come_with_what_each_thread_did) {
  const Result found = fails("no increment is lost", lose_an_increment);
  EXPECT_NE(found.events.find("  1       load              #0      relaxed 0 (initial)  "),
            std::string::npos)
      << found.events;
  EXPECT_NE(found.events.find("  2       store             #0      relaxed 1  "), std::string::npos)
      << found.events;
  EXPECT_NE(found.events.find("errors_test.cpp:"), std::string::npos);
  EXPECT_EQ(found.events.find("primitives.hpp:"), std::string::npos) << found.events;
}

TEST(Failures, are_found_by_a_random_search_and_under_a_bound) {
  fails("no increment", lose_an_increment, {.search = Search::random, .executions = 1000});
  fails("no increment", lose_an_increment, {.preemptions = 1});
  EXPECT_FALSE(check({.preemptions = 0}, [] {
                 Atomic<int> count{0};
                 Mutex mutex;
                 Thread one([&] {
                   const Guard guard(mutex);
                   count.store(count.load(relaxed) + 1, relaxed);
                 });
                 one.join();
               }).failed);
}

}  // namespace
}  // namespace mc::testing
