// The layout of a task's parts, and that a task takes one allocation.

#include <sys/eventfd.h>

#include <cstddef>
#include <memory>

#include "runtime/base/cache_line.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/net/tcp.hpp"
#include "runtime/sync/join_set.hpp"
#include "tests/runtime/allocations.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

/// Allocations from the system per task once the caches are warm: one under the sanitizers, where
/// every block is one, and otherwise none.
#if defined(TASKBENCH_SYSTEM_BLOCKS)
constexpr std::size_t kPerBlock = 1;
#else
constexpr std::size_t kPerBlock = 0;
#endif

static_assert(sizeof(task::Header) + 2 * sizeof(void*) == base::kCacheLineBytes,
              "the header and the frame's two function pointers fill a line");

bool is_aligned(const void* address, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

Task<std::string> text() { co_return std::string(100, 'x'); }
struct alignas(64) Line {
  char bytes[64];
};
Task<Line> line() { co_return Line{}; }
struct alignas(32) Half {
  char bytes[96];
};
Task<Half> half() { co_return Half{}; }
struct alignas(16) Quarter {
  char bytes[32];
};
Task<Quarter> quarter() { co_return Quarter{}; }

class OnThisThread final : public task::Schedule {
 public:
  void schedule(task::Header*) noexcept override {}
};

template <class T>
void check_layout(Task<T> task) {
  OnThisThread schedule;
  task::Header* const header = std::move(task).release_for_spawn(&schedule);
  EXPECT_TRUE(is_aligned(header, base::kCacheLineBytes));
  const auto* frame = static_cast<const std::byte*>(task::frame_of(header));
  EXPECT_EQ(frame, reinterpret_cast<std::byte*>(header) + sizeof(task::Header));
  EXPECT_EQ(task::header_of(task::frame_of(header)), header);
  const auto* trailer = reinterpret_cast<const std::byte*>(&task::trailer_of(header));
  EXPECT_EQ(trailer + sizeof(task::Trailer), reinterpret_cast<std::byte*>(header));
  if constexpr (!std::is_void_v<T>) {
    T* const output = task::output_of<T>(header);
    EXPECT_TRUE(is_aligned(output, alignof(T)));
    EXPECT_LE(reinterpret_cast<const std::byte*>(output) + sizeof(T), trailer);
  }
  JoinHandle<T> handle(header);
  EXPECT_EQ(task::poll(header), task::Polled::finished);
  EXPECT_TRUE(handle.is_finished());
}

TEST(Layout, header_shares_a_line_with_what_resuming_needs) {
  check_layout(nothing());
  check_layout(number(1));
  check_layout(text());
  check_layout(line());
  check_layout(half());
  check_layout(quarter());
}

#if !defined(TASKBENCH_SYSTEM_BLOCKS)  // a sanitizer keeps what was freed
TEST(Layout, a_task_has_the_memory_of_the_one_that_ended_before) {
  const auto where = [](const Task<>& task) { return task.header(); };
  const task::Header* const before = where(nothing());
  EXPECT_EQ(where(nothing()), before);
}
#endif

TEST(Layout, a_result_of_half_a_line_has_room_on_the_cold_one) {
  EXPECT_EQ(quarter().header()->vtable->prefix, base::kCacheLineBytes);
  EXPECT_EQ(line().header()->vtable->prefix, 2 * base::kCacheLineBytes);
}

TEST(Layout, a_small_task_is_one_block_of_a_few_lines) {
  OnThisThread schedule;
  task::Header* const header = nothing().release_for_spawn(&schedule);
  JoinHandle<void> handle(header);
  // The cold line, the hot line, and the little that the frame holds beside its pointers.
  EXPECT_LE(header->block_units, 3U);
  EXPECT_GE(header->block_units, 2U);
  EXPECT_EQ(task::poll(header), task::Polled::finished);
}

// Each waiting connection has one of these in its frame.
using net::Direction;
static_assert(sizeof(net::detail::Operation<net::detail::Transfer<Direction::read>>) == 48);
static_assert(sizeof(net::detail::Operation<net::detail::TransferAll<Direction::write>>) == 48);
static_assert(sizeof(net::detail::Operation<net::detail::ReceiveAll>) == 56);

/// Serves like workloads/net/echo_server.cpp.
class Echo {
 public:
  Task<> serve(net::TcpStream stream) {
    const auto buffer = std::make_unique<char[]>(kBuffer_bytes);
    for (;;) {
      const std::size_t size = co_await stream.read(buffer.get(), kBuffer_bytes);
      if (size == 0) co_return;
      bytes_ += size;
      co_await stream.write_all(buffer.get(), size);
    }
  }

 private:
  static constexpr std::size_t kBuffer_bytes = 64;
  std::size_t bytes_ = 0;
};

TEST(Layout, a_connection_that_is_echoed_is_one_block_of_five_lines) {
  build(kCurrentThread).block_on([]() -> Task<> {
    Echo echo;
    const Task<> serving =
        echo.serve(net::TcpStream(AsyncFd::own(eventfd(0, 0)), net::SocketAddress()));
    EXPECT_LE(serving.header()->block_units, 5U);
    co_return;
  }());
}

template <class Function>
std::size_t allocations_of(Function function) {
  const std::size_t before = allocations();
  function();
  return allocations() - before;
}

TEST(Allocations, a_task_is_one_allocation) {
  OnThisThread schedule;
  const auto run = [&schedule] {
    task::Header* const header = text().release_for_spawn(&schedule);
    task::join_drop(header);
    EXPECT_EQ(task::poll(header), task::Polled::finished);
  };
  run();
  const std::size_t strings = 1;  // the output's own characters
  EXPECT_EQ(allocations_of(run), kPerBlock + strings);
}

Task<> spawn_and_join(int count) {
  for (int i = 0; i < count; ++i) co_await spawn(number(1));
}

TEST(Allocations, spawning_and_joining_allocates_a_block_a_task_and_nothing_else) {
  constexpr std::size_t kTasks = 1000;
  Runtime runtime = build(kCurrentThread);
  runtime.block_on(spawn_and_join(kTasks));
  const std::size_t count =
      allocations_of([&] { runtime.block_on(spawn_and_join(static_cast<int>(kTasks))); });
  // A handful of allocations for block_on itself.
  EXPECT_LE(count, kTasks * kPerBlock + 8);
  EXPECT_GE(count, kTasks * kPerBlock);
}

Task<> spawn_and_join_as_members(sync::JoinSet<int>& set, int count) {
  for (int i = 0; i < count; ++i) set.spawn(number(1));
  for (int i = 0; i < count; ++i) {
    const auto joined = co_await set.join_next();
    EXPECT_TRUE(joined);
  }
}

TEST(Allocations, a_member_of_a_join_set_is_one_block_as_well) {
  constexpr std::size_t kTasks = 1000;
  Runtime runtime = build(kCurrentThread);
  sync::JoinSet<int> set;
  runtime.block_on(spawn_and_join_as_members(set, kTasks));
  const std::size_t count = allocations_of(
      [&] { runtime.block_on(spawn_and_join_as_members(set, static_cast<int>(kTasks))); });
  // join_next is a coroutine of its own.
  EXPECT_LE(count, 2 * kTasks * kPerBlock + 8);
}

TEST(Allocations, polling_waking_and_queueing_allocate_nothing) {
  Runtime runtime = build(kCurrentThread);
  runtime.block_on(yield_times(10));
  EXPECT_LE(allocations_of([&] { runtime.block_on(yield_times(10'000)); }), 8U);
}

}  // namespace
}  // namespace taskbench::rt
