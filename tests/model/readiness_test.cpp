// The word that says whether a descriptor is ready: between the task that reads and the driver.
#include "runtime/driver/readiness.hpp"

#include <gtest/gtest.h>

#include <coroutine>
#include <utility>

#include "runtime/task/join.hpp"
#include "runtime/task/leaf.hpp"
#include "runtime/task/select.hpp"
#include "runtime/task/yield.hpp"
#include "tests/model/on_a_thread.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

using driver::Readiness;
using State = Readiness::State;

/// What the kernel keeps of a stream; what orders it is the readiness alone.
struct Stream {
  base::Atomic<int> bytes{0};
  base::Atomic<bool> ended{false};
  Readiness readiness;

  void send(int count) {
    bytes.fetch_add(count, base::relaxed);
    readiness.set(State::yes);
  }
  void send_and_end(int count) {
    bytes.fetch_add(count, base::relaxed);
    ended.store(true, base::release);  // as the kernel, under its own lock
    readiness.set(State::lasting);
  }
  /// Ends the driver.
  void close() {
    task::Header* const waiter = readiness.close();
    if (waiter != nullptr) task::wake(waiter);
  }
  /// Returns -1 if nothing is there now, and 0 if nothing will be.
  int receive(int most) {
    const int there = bytes.load(base::relaxed);
    if (there == 0) return ended.load(base::acquire) && bytes.load(base::relaxed) == 0 ? 0 : -1;
    const int taken = there < most ? there : most;
    bytes.fetch_sub(taken, base::relaxed);
    return taken;
  }
};

constexpr int kRefused = -2;

/// Reads once, as the awaiters of rt::net do.
class Read : private task::Leaf {
 public:
  Read(Stream& stream, int most) : Leaf(&Read::poll_read), stream_(stream), most_(most) {}
  ~Read() {
    if (waiter_ != nullptr) stream_.readiness.withdraw(waiter_);
  }

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) {
    return task::suspend_on(*this, coroutine);
  }
  int await_resume() const noexcept { return got_; }

 private:
  static bool poll_read(task::Leaf* leaf, task::Header* task) {
    auto& self = *static_cast<Read*>(leaf);
    Readiness& readiness = self.stream_.readiness;
    for (;;) {
      const State state = readiness.take(self.waiter_);
      if (state == State::occupied) return self.refuse();
      if (state == State::no) {
        if (self.waiter_ != nullptr) return false;
        const auto wait = readiness.wait(task);
        if (wait == Readiness::Wait::refused) return self.refuse();
        if (wait == Readiness::Wait::ready) continue;
        self.waiter_ = task;
        return false;
      }
      self.waiter_ = nullptr;
      self.got_ = self.stream_.receive(self.most_);
      if (self.got_ < 0 && state == State::closed) return true;
      if (self.got_ < 0) continue;
      if (self.got_ == self.most_ || state == State::lasting) readiness.give_back(state);
      return true;
    }
  }

  bool refuse() {
    mc::require(waiter_ == nullptr, "who waits is not refused");
    got_ = kRefused;
    return true;
  }

  Stream& stream_;
  int most_;
  int got_ = 0;
  task::Header* waiter_ = nullptr;
};

/// Returns -1 if the driver has ended.
Task<int> reads_once(Stream& stream, int most = 2) { co_return co_await Read(stream, most); }

Task<int> reads(Stream& stream, int count, int most) {
  int sum = 0;
  while (sum < count) {
    const int got = co_await Read(stream, most);
    mc::require(got != kRefused, "nobody else reads");
    sum += got;
  }
  co_return sum;
}

Task<int> reads_to_the_end(Stream& stream, int most) {
  int sum = 0;
  for (;;) {
    const int got = co_await Read(stream, most);
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

/// What a second read gets beside the one that waits: it is refused, or finds that one done.
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
        co_return co_await Read(own, 1);
      };
      const auto [second, first] = co_await join(late(shared), reads_once(shared, 1));
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
        co_return co_await Read(own, 1);
      };
      auto gives_up = [&late](Stream& own) -> Task<int> {
        co_await select(late(own), [](int turns) -> Task<int> {
          for (int i = 0; i < turns; ++i) co_await yield_now();
          co_return 0;
        }(2));
        co_return 0;
      };
      const auto [ignored, first] = co_await join(gives_up(shared), reads_once(shared, 1));
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
        task::Header* const header = reads_once(stream, 1).release_for_spawn(&first);
        JoinHandle<int> handle(header);
        mc::require(!first.poll(header), "it waits");
        base::Thread other([&] {
          stream.send(1);
          stream.send(1);
        });
        base::Thread second([&] { expect_of_the_second(run_here(reads_once(stream, 1))); });
        first.run_once_woken(header);
        mc::require(std::move(handle).operator co_await().await_resume() == 1, "it came first");
        other.join();
        second.join();
      },
      {.preemptions = 2, .weak_failures = 0});
}

TEST(ReadinessModel, a_read_that_waits_while_the_driver_ends_fails) {
  holds([] {
    Stream stream;
    base::Thread other([&] { stream.close(); });
    mc::require(run_here(reads_once(stream)) == -1, "there is nothing");
    other.join();
  });
}

TEST(ReadinessModel, an_event_beside_the_end_of_the_driver_leaves_nobody_waiting) {
  holds(
      [] {
        Stream stream;
        base::Thread other([&] { stream.send(1); });
        base::Thread closer([&] { stream.close(); });
        const int got = run_here(reads_once(stream));
        mc::sometimes("read", got == 1);
        mc::sometimes("told", got == -1);
        if (got == 1) mc::require(run_here(reads_once(stream)) == -1, "told then");
        other.join();
        closer.join();
      },
      kNoWeakFailures);
}

}  // namespace
}  // namespace taskbench::rt::model
