// TCP streams as shipped, down to the system calls, which the model answers: a task that waits for
// bytes, or for room, gets them whenever they come.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "runtime/task/context.hpp"
#include "runtime/task/join.hpp"
#include "runtime/task/select.hpp"
#include "runtime/task/yield.hpp"
#include "tests/model/near_end.hpp"
#include "tests/model/on_a_thread.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

/// A connection and its near end. The peer is a thread of the model that passes on its own events,
/// as a thread that holds the driver would.
struct Connected {
  explicit Connected(int room = 0) : peer(0, Connection::Reports::itself, room) {}

  const base::Ref<NetOnly> runtime{new NetOnly};
  const task::EnterContext enter{runtime.get(), nullptr};
  Connection peer;
  NearEnd stream{peer};
};

constexpr std::size_t kRoom = 4;

Task<int> reads(net::Stream& stream, std::size_t most) {
  std::array<char, kRoom> bytes;
  co_return static_cast<int>(co_await stream.read(bytes.data(), most));
}

/// Reads up to `most` bytes at a time until `count` were read, or the end was reached.
Task<int> reads_all(net::Stream& stream, int count, std::size_t most) {
  int sum = 0;
  while (sum < count) {
    const int got = co_await reads(stream, most);
    if (got == 0) break;
    sum += got;
  }
  co_return sum;
}

Task<int> reads_exactly(net::Stream& stream, std::size_t count) {
  std::array<char, kRoom> bytes;
  co_await stream.read_exact({bytes.data(), count});
  co_return static_cast<int>(count);
}

Task<int> writes_all(net::Stream& stream, std::size_t count) {
  const std::array<char, kRoom> bytes{};
  co_await stream.write_all(bytes.data(), count);
  co_return static_cast<int>(count);
}

/// Writes two bytes, each from a buffer of its own.
Task<int> writes_all_of_two(net::Stream& stream) {
  std::array<char, 2> bytes{};
  std::array<iovec, 2> buffers{{{&bytes[0], 1}, {&bytes[1], 1}}};
  co_await stream.write_all(net::Buffers(buffers));
  co_return 2;
}

TEST(NetModel, bytes_that_come_one_by_one_are_all_read) {
  holds(
      [] {
        Connected ends;
        base::Thread peer([&] {
          for (int i = 0; i < 2; ++i) ends.peer.deliver(1);
        });
        mc::require(run_here(reads_all(ends.stream, 2, 2)) == 2, "both");
        peer.join();
      },
      {.preemptions = 3, .weak_failures = 0});
}

TEST(NetModel, bytes_that_come_at_once_are_read_one_by_one) {
  holds([] {
    Connected ends;
    base::Thread peer([&] { ends.peer.deliver(2); });
    mc::require(run_here(reads_all(ends.stream, 2, 1)) == 2, "both");
    peer.join();
  });
}

TEST(NetModel, what_is_read_exactly_comes_in_pieces) {
  holds(
      [] {
        Connected ends;
        base::Thread peer([&] {
          ends.peer.deliver(1);
          ends.peer.deliver(2);
        });
        mc::require(run_here(reads_exactly(ends.stream, 3)) == 3, "all");
        peer.join();
      },
      {.preemptions = 3, .weak_failures = 0});
}

TEST(NetModel, the_end_of_the_stream_is_read_after_the_last_bytes) {
  holds(
      [] {
        Connected ends;
        base::Thread peer([&] {
          ends.peer.deliver(1);
          ends.peer.deliver_and_end(1);
        });
        mc::require(run_here(reads_all(ends.stream, 3, 4)) == 2, "both, then the end");
        peer.join();
      },
      {.preemptions = 3, .weak_failures = 0});
}

TEST(NetModel, a_stream_that_ends_too_early_is_no_exact_read) {
  holds([] {
    Connected ends;
    base::Thread peer([&] { ends.peer.deliver_and_end(1); });
    run_here([](net::Stream& stream) -> Task<int> {
      try {
        (void)co_await reads_exactly(stream, 2);
        mc::require(false, "there was one byte");
      } catch (const net::EndOfStream&) {
      }
      co_return 0;
    }(ends.stream));
    peer.join();
  });
}

TEST(NetModel, an_event_for_nothing_ends_no_wait) {
  holds(
      [] {
        Connected ends;
        base::Thread peer([&] {
          ends.peer.report(EPOLLIN | EPOLLOUT);
          ends.peer.deliver(1);
        });
        mc::require(run_here(reads(ends.stream, 2)) == 1, "the byte");
        peer.join();
      },
      kNoWeakFailures);
}

TEST(NetModel, what_there_is_no_room_for_is_written_when_there_is) {
  holds(
      [] {
        Connected ends(1);
        base::Thread peer([&] {
          ends.peer.make_room(1);
          ends.peer.make_room(1);
        });
        mc::require(run_here(writes_all(ends.stream, 3)) == 3, "all");
        mc::require(ends.peer.sent() == 3, "once");
        peer.join();
      },
      {.preemptions = 3, .weak_failures = 0});
}

// The first call finds no room at all.
TEST(NetModel, two_buffers_for_which_there_is_no_room_are_written_when_there_is) {
  holds(
      [] {
        Connected ends;
        base::Thread peer([&] {
          ends.peer.make_room(1);
          ends.peer.make_room(1);
        });
        mc::require(run_here(writes_all_of_two(ends.stream)) == 2, "both");
        mc::require(ends.peer.sent() == 2, "once");
        peer.join();
      },
      {.preemptions = 2, .weak_failures = 0});
}

TEST(NetModel, two_tasks_one_reads_and_one_writes) {
  holds(
      [] {
        Connected ends;
        base::Thread peer([&] {
          ends.peer.deliver(1);
          ends.peer.make_room(1);
        });
        base::Thread writer(
            [&] { mc::require(run_here(writes_all(ends.stream, 1)) == 1, "written"); });
        mc::require(run_here(reads(ends.stream, 2)) == 1, "read");
        writer.join();
        peer.join();
      },
      {.preemptions = 2, .weak_failures = 0});
}

TEST(NetModel, two_branches_of_a_task_one_reads_and_one_writes) {
  holds(
      [] {
        Connected ends;
        base::Thread peer([&] {
          ends.peer.make_room(1);
          ends.peer.deliver(1);
        });
        run_here([](net::Stream& stream) -> Task<int> {
          const auto [got, wrote] = co_await join(reads(stream, 2), writes_all(stream, 1));
          mc::require(got == 1 && wrote == 1, "both");
          co_return 0;
        }(ends.stream));
        peer.join();
      },
      {.preemptions = 2, .weak_failures = 0});
}

// The read is given up between the call that finds nothing and the wait, during the wait, or after
// the event that ends it.
TEST(NetModel, a_read_that_is_given_up_leaves_the_bytes_to_the_next) {
  holds(
      [] {
        Connected ends;
        base::Thread peer([&] { ends.peer.deliver(1); });
        const bool given_up = polled_and_given_up(reads(ends.stream, 2));
        mc::sometimes("given up", given_up);
        mc::sometimes("read", !given_up);
        if (!given_up) ends.peer.deliver(1);
        mc::require(run_here(reads(ends.stream, 2)) == 1, "the byte");
        peer.join();
      },
      kNoWeakFailures);
}

TEST(NetModel, a_branch_that_is_given_up_leaves_the_bytes_to_the_next) {
  holds([] {
    Connected ends;
    base::Thread peer([&] { ends.peer.deliver(1); });
    run_here([](net::Stream& stream) -> Task<int> {
      auto first = co_await select(reads(stream, 2), [](int result) -> Task<int> {
        co_await yield_now();
        co_return result;
      }(0));
      const bool read = first.index() == 0;
      mc::sometimes("given up", !read);
      mc::sometimes("read", read);
      if (!read) mc::require(co_await reads(stream, 2) == 1, "the byte");
      co_return 0;
    }(ends.stream));
    peer.join();
  });
}

// A short read shows that nothing is left, so no further call is made to find that out.
TEST(NetModel, no_call_is_made_in_vain) {
  holds([] {
    Connected ends(1);
    ends.peer.deliver(1);
    mc::require(run_here(reads(ends.stream, 2)) == 1 && ends.peer.calls() == 1, "one read");
    mc::require(polled_and_given_up(reads(ends.stream, 2)), "there is nothing");
    mc::require(ends.peer.calls() == 1, "which was known");
    ends.peer.deliver(1);
    mc::require(polled_and_given_up(reads_exactly(ends.stream, 2)), "there is one");
    mc::require(ends.peer.calls() == 2, "which says that there is no more");
    mc::require(polled_and_given_up(writes_all(ends.stream, 2)), "there is room for one");
    mc::require(ends.peer.calls() == 3, "which says that there is no more");
  });
}

TEST(NetModel, no_call_is_made_in_vain_for_several_buffers) {
  holds([] {
    Connected ends(1);
    const auto reads_two = [](net::Stream& stream) -> Task<int> {
      std::array<char, 2> bytes;
      std::array<iovec, 2> buffers{{{&bytes[0], 1}, {&bytes[1], 1}}};
      co_return static_cast<int>(co_await stream.read(net::Buffers(buffers)));
    };
    ends.peer.deliver(1);
    mc::require(run_here(reads_two(ends.stream)) == 1 && ends.peer.calls() == 1, "one read");
    mc::require(polled_and_given_up(reads_two(ends.stream)), "there is nothing");
    mc::require(ends.peer.calls() == 1, "which was known");
    mc::require(polled_and_given_up(writes_all_of_two(ends.stream)), "there is room for one");
    mc::require(ends.peer.calls() == 2, "which says that there is no more");
  });
}

/// Returns whether the read is refused because another operation reads.
Task<bool> is_refused(net::Stream& stream) {
  try {
    (void)co_await reads(stream, 2);
  } catch (const std::logic_error&) {
    co_return true;
  }
  co_return false;
}

TEST(NetModel, a_read_that_waits_keeps_its_place_when_its_task_is_woken_for_nothing) {
  holds(
      [] {
        Connected ends;
        WhereWoken runs;
        task::Header* const header = reads(ends.stream, 2).release_for_spawn(&runs);
        JoinHandle<int> handle(header);
        runs.schedule(header);
        base::Thread other(
            [&] { mc::require(run_here(is_refused(ends.stream)), "somebody reads"); });
        task::wake_by_ref(header);
        other.join();
        ends.peer.deliver(1);
        mc::require(std::move(handle).operator co_await().await_resume() == 1, "the byte");
      },
      kNoWeakFailures);
}

TEST(NetModel, a_call_that_is_interrupted_is_made_again) {
  holds([] {
    Connected ends(1);
    ends.peer.deliver(1);
    ends.peer.interrupt();
    mc::require(run_here(reads(ends.stream, 2)) == 1, "the byte");
    ends.peer.interrupt();
    mc::require(run_here(writes_all(ends.stream, 1)) == 1, "the byte");
  });
}

/// Awaits a read beside a branch that ends first, and then lets another task await it.
Task<int> hands_on_a_read(net::Stream& stream) {
  std::array<char, kRoom> bytes;
  auto read = stream.read(bytes.data(), 2);
  const auto first = co_await select(read, [](int result) -> Task<int> {
    co_await yield_now();
    co_return result;
  }(0));
  mc::sometimes("handed on", first.index() == 1);
  if (first.index() == 0) co_return 1;
  co_return run_here(
      [](auto& operation) -> Task<int> { co_return static_cast<int>(co_await operation); }(read));
}

TEST(NetModel, a_read_that_one_task_has_begun_goes_on_in_another) {
  holds(
      [] {
        Connected ends;
        base::Thread peer([&] { ends.peer.deliver(1); });
        mc::require(run_here(hands_on_a_read(ends.stream)) == 1, "the byte");
        peer.join();
      },
      kNoWeakFailures);
}

TEST(NetModel, all_events_that_are_found_at_once_are_passed_on) {
  holds([] {
    const base::Ref<NetOnly> runtime(new NetOnly);
    const task::EnterContext enter(runtime.get(), nullptr);
    Connection first(0, Connection::Reports::by_a_poller);
    Connection second(1, Connection::Reports::by_a_poller);
    NearEnd streams[2]{NearEnd(first), NearEnd(second)};
    WhereWoken runs[2];
    JoinHandle<int> handles[2]{JoinHandle<int>(nullptr), JoinHandle<int>(nullptr)};
    for (int i = 0; i < 2; ++i) {
      task::Header* const header = reads(streams[i], 2).release_for_spawn(&runs[i]);
      handles[i] = JoinHandle<int>(header);
      runs[i].schedule(header);
    }
    first.deliver(1);
    second.deliver(1);
    runtime->driver().look(nullptr);
    mc::require(handles[0].is_finished() && handles[1].is_finished(), "both have read");
  });
}

// Only the driver passes the event on, and only the event ends the thread's sleep.
TEST(NetModel, who_sleeps_in_the_driver_wakes_the_task_that_reads) {
  holds(
      [] {
        const base::Ref<NetOnly> runtime(new NetOnly);
        const task::EnterContext enter(runtime.get(), nullptr);
        Connection peer(0, Connection::Reports::by_a_poller);
        NearEnd stream(peer);
        park::Parker parker(runtime->driver());
        WhereWoken runs;
        task::Header* const header = [](net::Stream& near,
                                        park::Parker& done) -> Task<int> {
          const int got = co_await reads_all(near, 2, 2);
          (void)done.unpark();
          co_return got;
        }(stream, parker)
                                                                   .release_for_spawn(&runs);
        const JoinHandle<int> handle(header);
        runs.schedule(header);
        base::Thread far([&] {
          peer.deliver(1);
          peer.deliver(1);
        });
        while (!parker.park_once()) runtime->driver().dispatch(nullptr);
        runtime->driver().dispatch(nullptr);
        far.join();
        mc::require(handle.is_finished(), "both bytes");
      },
      {.preemptions = 3, .weak_failures = 0});
}

}  // namespace
}  // namespace taskbench::rt::model
