// Awaiting signals.
#include "runtime/signal/signal.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <deque>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "runtime/base/sync_primitives.hpp"
#include "runtime/runtime.hpp"
#include "runtime/time/timeout.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/net_support.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt::tests {
namespace {

using signal::Signal;

class Signals : public OnOneRuntime {};

TEST_P(Signals, each_listener_hears_of_the_signal) {
  run([&]() -> Task<> {
    Signal first(SIGUSR1);
    Signal second(SIGUSR1);
    Signal other(SIGUSR2);
    const auto wait = [](Signal* signal) -> Task<int> {
      const auto count = co_await signal->next();
      co_return static_cast<int>(count);
    };
    JoinHandle<int> waiting = spawn(wait(&first));
    co_await yield_now();
    std::raise(SIGUSR1);
    EXPECT_EQ(co_await waiting, 1);
    std::raise(SIGUSR1);
    // A signal that has already arrived counts.
    EXPECT_EQ(co_await second.next(), 2);
    EXPECT_EQ(co_await first.next(), 1);
    JoinHandle<int> given_up = spawn(wait(&first));
    co_await yield_now();
    given_up.abort();
    bool cancelled = false;
    try {
      co_await given_up;
    } catch (const JoinError&) {
      cancelled = true;
    }
    EXPECT_TRUE(cancelled);
    std::raise(SIGUSR1);
    EXPECT_EQ(co_await first.next(), 1);
    std::raise(SIGUSR2);
    EXPECT_EQ(co_await other.next(), 1);
  });
}

TASKBENCH_ON_EVERY_SCHEDULER(Signals);

volatile std::sig_atomic_t before_us = 0;

TEST(Signal, puts_back_what_handled_it_before) {
  struct sigaction before = {};
  before.sa_handler = [](int) { before_us = before_us + 1; };
  struct sigaction original = {};
  ASSERT_EQ(sigaction(SIGUSR1, &before, &original), 0);
  std::raise(SIGUSR1);
  EXPECT_EQ(before_us, 1);
  build(kOneWorker).block_on([]() -> Task<> {
    std::optional<Signal> first(SIGUSR1);
    Signal second(SIGUSR1);
    first.reset();
    std::raise(SIGUSR1);
    EXPECT_EQ(co_await second.next(), 1);
  }());
  EXPECT_EQ(before_us, 1);
  std::raise(SIGUSR1);
  EXPECT_EQ(before_us, 2);
  ASSERT_EQ(sigaction(SIGUSR1, &original, nullptr), 0);
}

std::atomic<int> earlier_signals{0};

TEST(Signal, hears_of_each_signal_that_its_predecessor_does_not) {
  struct sigaction before = {};
  before.sa_handler = [](int) { earlier_signals.fetch_add(1); };
  struct sigaction original = {};
  ASSERT_EQ(sigaction(SIGUSR1, &before, &original), 0);
  const int count = tries(1'000);
  std::atomic<int> begun{0};
  std::atomic<int> sent{0};
  // Sends each signal at about the moment at which a Signal begins to listen. The system interrupts
  // the main thread with it, which does that.
  std::thread sender([&] {
    for (int i = 1; i <= count; ++i) {
      while (begun.load() < i) std::this_thread::yield();
      for (int pause = i % 200; pause > 0; --pause) base::spin_hint();
      ::kill(::getpid(), SIGUSR1);
      sent.store(i);
    }
  });
  build(kOneWorker).block_on([&]() -> Task<> {
    for (int i = 1; i <= count; ++i) {
      const int earlier = earlier_signals.load();
      begun.store(i);
      Signal signal(SIGUSR1);
      while (sent.load() < i) std::this_thread::yield();
      if (earlier_signals.load() != earlier) continue;
      const auto heard = co_await time::timeout(5s, signal.next());
      if (heard) continue;
      ADD_FAILURE() << "signal " << i << " was lost";
      break;
    }
    begun.store(count);
  });
  sender.join();
  ASSERT_EQ(sigaction(SIGUSR1, &original, nullptr), 0);
}

TEST(Signal, refuses_what_cannot_be_waited_for) {
  EXPECT_THROW(Signal{SIGTERM}, std::logic_error);  // outside a runtime
  build(kOneWorker).block_on([]() -> Task<> {
    for (const int number : {0, -1, NSIG, SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
      EXPECT_THROW(Signal{number}, std::invalid_argument) << number;
    }
    co_return;
  }());
}

// The C library keeps a few numbers to itself.
TEST(Signal, that_the_system_refuses_takes_no_place) {
  build(kOneWorker).block_on([]() -> Task<> {
    for (unsigned i = 0; i <= signal::kMostSignals; ++i) {
      try {
        const Signal refused(SIGRTMIN - 1);
        ADD_FAILURE() << "it is the C library's";
      } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), std::errc::invalid_argument) << error.what();
      }
    }
    co_return;
  }());
}

TEST(Signal, more_than_the_limit_are_refused_until_one_is_gone) {
  build(kOneWorker).block_on([]() -> Task<> {
    std::deque<Signal> all;
    for (unsigned i = 0; i < signal::kMostSignals; ++i) all.emplace_back(SIGUSR1);
    EXPECT_THROW(Signal{SIGUSR2}, std::system_error);
    all.pop_front();
    Signal last(SIGUSR2);
    std::raise(SIGUSR2);
    EXPECT_EQ(co_await last.next(), 1);
  }());
}

TEST(Signal, leaves_what_was_installed_meanwhile) {
  struct sigaction original = {};
  ASSERT_EQ(sigaction(SIGUSR1, nullptr, &original), 0);
  struct sigaction later = {};
  later.sa_handler = [](int) { before_us = before_us + 1; };
  build(kOneWorker).block_on([&]() -> Task<> {
    const Signal listens(SIGUSR1);
    EXPECT_EQ(sigaction(SIGUSR1, &later, nullptr), 0);
    co_return;
  }());
  struct sigaction now = {};
  ASSERT_EQ(sigaction(SIGUSR1, &original, &now), 0);
  EXPECT_EQ(now.sa_handler, later.sa_handler);
}

// What the handler interrupts is the program's, which knows nothing of it.
TEST(Signal, disturbs_neither_system_calls_nor_errno) {
  build(kOneWorker).block_on([]() -> Task<> {
    // The lowest number that is free, which the next descriptor has as well.
    const int descriptor = ::dup(STDERR_FILENO);
    ::close(descriptor);
    const Signal listens(SIGUSR1);
    struct sigaction now = {};
    EXPECT_EQ(sigaction(SIGUSR1, nullptr, &now), 0);
    EXPECT_NE(now.sa_flags & SA_RESTART, 0);
    EXPECT_EQ(sigismember(&now.sa_mask, SIGUSR2), 1) << "another handler could come between";
    // With that, the handler's write fails.
    const std::uint64_t most = UINT64_MAX - 1;
    EXPECT_EQ(::write(descriptor, &most, sizeof(most)), 8);
    errno = 0;
    std::raise(SIGUSR1);
    EXPECT_EQ(errno, 0);
    co_return;
  }());
}

#if !defined(TASKBENCH_ASAN)
TEST(Signal, needs_a_descriptor) {
  build(kOneWorker).block_on([]() -> Task<> {
    const Signal other(SIGUSR1);  // so that the runtime has those that it needs itself
    const tests::DescriptorLimit none(0);
    try {
      const Signal signal(SIGTERM);
      ADD_FAILURE() << "a signal needs a descriptor";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::too_many_files_open) << error.what();
    }
    co_return;
  }());
}
#endif

}  // namespace
}  // namespace taskbench::rt::tests
