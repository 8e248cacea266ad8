// The socket operations (net/io.hpp) and the word that says whether a descriptor is ready, between
// the reading task and the driver.
#include "runtime/driver/readiness.hpp"

#include <gtest/gtest.h>

#include <sys/epoll.h>

#include <stdexcept>
#include <string_view>
#include <utility>

#include "runtime/driver/driver.hpp"
#include "runtime/driver/registration.hpp"
#include "runtime/net/async_fd.hpp"
#include "runtime/net/io.hpp"
#include "runtime/task/join.hpp"
#include "runtime/task/select.hpp"
#include "runtime/task/yield.hpp"
#include "tests/model/kernel.hpp"
#include "tests/model/on_a_thread.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

using net::detail::Attempt;

/// The kernel's state of a stream. Only the readiness orders accesses to it.
struct Stream {
  base::Atomic<int> bytes{0};
  base::Atomic<bool> ended{false};
  driver::Registration watched;

  [[nodiscard]] driver::Registration& registration() noexcept { return watched; }

  void send(int count) {
    bytes.fetch_add(count, base::relaxed);
    watched.on_events(EPOLLIN);
  }
  void send_and_end(int count) {
    bytes.fetch_add(count, base::relaxed);
    ended.store(true, base::release);  // released, as the kernel does under its own lock
    watched.on_events(EPOLLIN | EPOLLRDHUP);
  }
  /// What the end of the driver does to a waiting task.
  void close() {
    task::Header* const waiter = watched.reading().close();
    if (waiter != nullptr) task::wake(waiter);
  }
  /// Returns -1 if nothing has arrived yet, and 0 at the end of the stream.
  int receive(int most) {
    const int there = bytes.load(base::relaxed);
    if (there == 0) return ended.load(base::acquire) && bytes.load(base::relaxed) == 0 ? 0 : -1;
    const int taken = there < most ? there : most;
    bytes.fetch_sub(taken, base::relaxed);
    return taken;
  }
};

/// A system call that reads once.
struct Receive : net::detail::Call<Stream, net::Direction::read> {
  explicit Receive(int most_) : most(most_) {}
  Attempt attempt(Stream& stream, bool) {
    got = stream.receive(most);
    if (got < 0) return Attempt::again;
    return got == most ? Attempt::done : Attempt::exhausted;
  }
  [[nodiscard]] int take(const Stream&) const { return got; }

  int most;
  int got = 0;
};

constexpr int kRefused = -2;
constexpr int kEnded = -3;

/// Returns the number of bytes read, or the reason for a refusal.
Task<int> read_once(Stream& stream, int most) {
  try {
    co_return co_await net::detail::Operation<Receive>(stream, Receive(most));
  } catch (const std::logic_error& refusal) {
    co_return std::string_view(refusal.what()).find("another") == 0 ? kRefused : kEnded;
  }
}

Task<int> reads(Stream& stream, int count, int most) {
  int sum = 0;
  while (sum < count) {
    const int got = co_await read_once(stream, most);
    mc::require(got != kRefused, "nobody else reads");
    sum += got;
  }
  co_return sum;
}

Task<int> reads_to_the_end(Stream& stream, int most) {
  int sum = 0;
  for (;;) {
    const int got = co_await read_once(stream, most);
    if (got == 0) co_return sum;
    sum += got;
  }
}

TEST(ReadinessModel, who_reads_less_than_there_may_be_misses_nothing_that_comes) {
  holds([] {
    Stream stream;
    base::Thread other([&] {
      stream.send(1);
      stream.send(1);
    });
    mc::require(run_here(reads(stream, 2, 2)) == 2, "both");
    other.join();
  });
}

TEST(ReadinessModel, who_leaves_something_comes_back_for_it_without_another_event) {
  holds([] {
    Stream stream;
    base::Thread other([&] { stream.send(2); });
    mc::require(run_here(reads(stream, 2, 1)) == 2, "both");
    other.join();
  });
}

/// `first` bytes come, then `last` together with the end.
void all_is_read_to_the_end(int first, int last) {
  holds(
      [=] {
        Stream stream;
        base::Thread other([&] {
          stream.send(first);
          stream.send_and_end(last);
        });
        mc::require(run_here(reads_to_the_end(stream, 2)) == first + last, "all, then the end");
        other.join();
      },
      {.preemptions = 3, .weak_failures = 0});
}

TEST(ReadinessModel, the_end_that_came_with_the_last_bytes_is_seen_after_them) {
  holds([] {
    Stream stream;
    base::Thread other([&] { stream.send_and_end(1); });
    mc::require(run_here(reads_to_the_end(stream, 2)) == 1, "the byte, then the end");
    other.join();
  });
}

TEST(ReadinessModel, the_end_that_comes_after_the_last_bytes_is_seen) {
  all_is_read_to_the_end(1, 0);
}

TEST(ReadinessModel, the_end_that_comes_while_the_readiness_is_given_back_is_seen) {
  all_is_read_to_the_end(2, 1);
}

TEST(ReadinessModel, a_read_that_is_given_up_loses_no_event) {
  holds(
      [] {
        Stream stream;
        base::Thread other([&] { stream.send(1); });
        const bool given_up = polled_and_given_up(reads(stream, 1, 2));
        mc::sometimes("given up", given_up);
        mc::sometimes("read", !given_up);
        if (given_up) mc::require(run_here(reads(stream, 1, 2)) == 1, "the byte");
        other.join();
      },
      kNoWeakFailures);
}

/// Expects of a read beside a waiting one that it is refused, or finds the other one done.
void expect_of_the_second(int got) {
  mc::sometimes("refused", got == kRefused);
  mc::sometimes("read", got == 1);
  mc::require(got == kRefused || got == 1, "one or the other");
}

TEST(ReadinessModel, a_second_read_in_another_branch_of_the_task_takes_nothing_from_the_first) {
  holds([] {
    Stream stream;
    base::Thread other([&] {
      stream.send(1);
      stream.send(1);
    });
    run_here([](Stream& shared) -> Task<int> {
      auto late = [](Stream& own) -> Task<int> {
        co_await yield_now();
        co_return co_await read_once(own, 1);
      };
      const auto [second, first] = co_await join(late(shared), read_once(shared, 1));
      mc::require(first == 1, "it came first");
      expect_of_the_second(second);
      co_return 0;
    }(stream));
    other.join();
  });
}

TEST(ReadinessModel, a_second_read_that_is_given_up_leaves_the_first_waiting) {
  holds([] {
    Stream stream;
    base::Thread other([&] { stream.send(1); });
    run_here([](Stream& shared) -> Task<int> {
      auto late = [](Stream& own) -> Task<int> {
        co_await yield_now();
        co_return co_await read_once(own, 1);
      };
      auto gives_up = [&late](Stream& own) -> Task<int> {
        co_await select(late(own), [](int turns) -> Task<int> {
          for (int i = 0; i < turns; ++i) co_await yield_now();
          co_return 0;
        }(2));
        co_return 0;
      };
      const auto [ignored, first] = co_await join(gives_up(shared), read_once(shared, 1));
      mc::require(first == 1, "it came first");
      co_return ignored;
    }(stream));
    other.join();
  });
}

TEST(ReadinessModel, a_second_read_of_another_task_takes_nothing_from_the_first) {
  holds(
      [] {
        Stream stream;
        OnAThread first;
        task::Header* const header = read_once(stream, 1).release_for_spawn(&first);
        JoinHandle<int> handle(header);
        mc::require(!first.poll(header), "it waits");
        base::Thread other([&] {
          stream.send(1);
          stream.send(1);
        });
        base::Thread second([&] { expect_of_the_second(run_here(read_once(stream, 1))); });
        first.run_once_woken(header);
        mc::require(std::move(handle).operator co_await().await_resume() == 1, "it came first");
        other.join();
        second.join();
      },
      {.preemptions = 2, .weak_failures = 0});
}

// Both tasks find nothing before either of them waits.
TEST(ReadinessModel, of_two_tasks_that_begin_to_read_at_once_one_waits) {
  holds(
      [] {
        Stream stream;
        int got[2] = {};
        base::Thread first([&] { got[0] = run_here(read_once(stream, 1)); });
        base::Thread second([&] { got[1] = run_here(read_once(stream, 1)); });
        stream.send(1);
        stream.send(1);
        first.join();
        second.join();
        mc::sometimes("refused", got[0] == kRefused || got[1] == kRefused);
        mc::require(got[0] == 1 || got[1] == 1, "one reads");
      },
      {.preemptions = 2, .weak_failures = 0});
}

// Reuse of a descriptor number is ordered by the system only, not by anything the language knows
// of.
TEST(ReadinessModel, G1_the_next_of_a_number_sees_what_its_owner_did) {
  holds(
      [] {
        const base::Ref<driver::Driver> driver(new driver::Driver(0));
        const Connection connection(0, Connection::Reports::itself);
        base::Cell<int> uses{0};
        base::Atomic<bool> is_free{false};
        base::Thread owner([&] {
          driver::Registration& own = driver->registrations().add(*driver, 0);
          uses.set(1);
          own.retire();
          is_free.store(true, base::relaxed);
        });
        while (!is_free.load(base::relaxed)) base::yield_thread();
        driver::Registration& next = driver->registrations().add(*driver, 0);
        uses.set(2);
        next.retire();
        owner.join();
      },
      kNoWeakFailures);
}

TEST(ReadinessModel, a_read_that_waits_while_the_driver_ends_fails) {
  holds([] {
    Stream stream;
    base::Thread other([&] { stream.close(); });
    mc::require(run_here(read_once(stream, 2)) == kEnded, "there is nothing");
    other.join();
  });
}

TEST(ReadinessModel, an_event_beside_the_end_of_the_driver_leaves_nobody_waiting) {
  holds(
      [] {
        Stream stream;
        base::Thread other([&] { stream.send(1); });
        base::Thread closer([&] { stream.close(); });
        const int got = run_here(read_once(stream, 2));
        mc::sometimes("read", got == 1);
        mc::sometimes("told", got == kEnded);
        if (got == 1) mc::require(run_here(read_once(stream, 2)) == kEnded, "told then");
        other.join();
        closer.join();
      },
      kNoWeakFailures);
}

}  // namespace
}  // namespace taskbench::rt::model
