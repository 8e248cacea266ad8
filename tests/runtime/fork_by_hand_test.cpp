// Forks, step by step: which of them are offered to other workers and when, whom an offer wakes,
// how the forks of a block_on are sent to a worker, and when memory is returned. One thread, no
// scheduler.
#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime/base/shared.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/task/context.hpp"
#include "runtime/task/fork_join.hpp"
#include "runtime/task/frame_cache.hpp"
#include "runtime/task/join.hpp"
#include "runtime/task/strand.hpp"
#include "tests/runtime/allocations.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/hand_polled.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using tests::HandPolled;

/// Makes the calling thread a worker whose forks nobody steals.
class LoneWorker {
 public:
  LoneWorker() { task::thread_context().strand = &strand_; }

  /// Whether forks are waiting for a thief.
  [[nodiscard]] bool offers() const { return !deque_.looks_empty(); }

 private:
  const task::EnterContext context_{nullptr, nullptr};
  base::Atomic<std::uint64_t> state_{0};
  task::Strand::Deque deque_;
  task::Strand strand_{deque_, {&state_, 0, nullptr, nullptr}};
};

Fork<int> gives(int number) { co_return number; }

Fork<bool> sees_an_offer(const LoneWorker& worker) { co_return worker.offers(); }

/// Awaits two forks, the first of which reports whether the second is waiting for a thief.
Task<bool> offers_the_second(const LoneWorker& worker) {
  const auto [offered, one] = co_await fork_join(sees_an_offer(worker), gives(1));
  co_return offered;
}

TEST(ForkByHand, a_task_offers_all_forks_but_the_first_and_takes_them_back) {
  const LoneWorker worker;
  EXPECT_TRUE(HandPolled(offers_the_second(worker)).finish());
  EXPECT_FALSE(worker.offers());
}

TEST(ForkByHand, a_branch_offers_nothing_and_the_task_does_so_again_when_it_has_ended) {
  const LoneWorker worker;
  HandPolled task([](const LoneWorker& own) -> Task<bool> {
    const auto branch = [](const LoneWorker& same) -> Task<bool> {
      const bool before = co_await offers_the_second(same);
      const auto [inside, one] = co_await join(offers_the_second(same), tests::number(1));
      const bool after = co_await offers_the_second(same);
      co_return before || inside || after;
    };
    const auto [offered, one] = co_await join(branch(own), tests::number(1));
    EXPECT_FALSE(offered);
    co_return co_await offers_the_second(own);
  }(worker));
  EXPECT_TRUE(task.finish());
}

TEST(ForkByHand, of_more_than_a_deque_holds_some_are_offered_all_the_same) {
  constexpr std::size_t kMany = 3 * task::Strand::Deque::kCapacity;
  const LoneWorker worker;
  HandPolled task([](const LoneWorker& own) -> Task<bool> {
    std::vector<Fork<bool>> forks;
    for (std::size_t i = 0; i < kMany; ++i) forks.push_back(sees_an_offer(own));
    const std::vector<bool> offered = co_await fork_join(std::move(forks));
    co_return offered.front();
  }(worker));
  EXPECT_TRUE(task.finish());
}

TEST(ForkByHand, of_many_made_by_a_function_few_exist_at_one_time) {
  std::size_t made = 0;
  std::size_t ran = 0;
  std::size_t most = 0;
  const auto counts = [](std::size_t& count) -> Fork<> {
    ++count;
    co_return;
  };
  const auto make = [&](std::size_t) {
    most = std::max(most, ++made - ran);
    return counts(ran);
  };
  HandPolled([&]() -> Task<> { co_await fork_join(1000, make); }()).finish();
  EXPECT_EQ(ran, 1000U);
  EXPECT_LE(most, kForksAtOnce);
}

TEST(ForkByHand, run_where_there_is_no_runtime) {
  HandPolled task([]() -> Task<int> {
    const auto [one, two] = co_await fork_join(gives(1), gives(2));
    co_return one + two;
  }());
  EXPECT_EQ(task.finish(), 3);
}

TEST(ForkByHand, of_an_aborted_task_no_more_begin) {
  struct Seen {
    std::optional<AbortHandle> abort;
    int begun = 0;
    bool thrown = false;
  } seen;
  const auto counts = [](Seen& all) -> Fork<> {
    ++all.begun;
    co_return;
  };
  const auto aborts = [&counts](Seen& all) -> Fork<> {
    all.abort->abort();
    try {
      co_await fork_join(counts(all), counts(all));
    } catch (const JoinError&) {
      all.thrown = true;
    }
  };
  const auto joins = [&]() -> Task<> { co_await fork_join(aborts(seen), counts(seen)); };
  HandPolled task(joins());
  seen.abort = task.handle().abort_handle();
  EXPECT_TRUE(task.poll());
  EXPECT_EQ(seen.begun, 0);
  EXPECT_TRUE(seen.thrown);
  EXPECT_THROW(task.result(), JoinError);
}

TEST(ForkByHand, begin_no_more_once_the_strand_is_closed) {
  task::Strand strand;
  const task::EnterContext context(nullptr, nullptr);
  task::thread_context().strand = &strand;
  int begun = 0;
  const auto closes = [](task::Strand& own) -> Fork<> {
    own.close();
    co_return;
  };
  const auto counts = [](int& count) -> Fork<> {
    ++count;
    co_return;
  };
  const auto joins = [&]() -> Task<> { co_await fork_join(closes(strand), counts(begun)); };
  HandPolled task(joins());
  EXPECT_TRUE(task.poll());
  EXPECT_EQ(begun, 0);
  EXPECT_THROW(task.result(), JoinError);
}

TEST(ForkByHand, leave_neither_an_exception_nor_a_result_that_it_replaces) {
  tests::Census census;
  struct Throws {
    ~Throws() noexcept(false) { throw std::runtime_error("destructor"); }
  };
  struct Failure : std::runtime_error {
    explicit Failure(tests::Census& place) : std::runtime_error("it failed"), resident(place) {}
    tests::Resident resident;
  };
  const auto fails = [](tests::Census& place) -> Fork<> {
    throw Failure(place);
    co_return;
  };
  const auto returns_and_fails = [](tests::Census& place) -> Fork<tests::Resident> {
    const Throws local;
    co_return tests::Resident(place);
  };
  EXPECT_THROW(
      HandPolled([&]() -> Task<> { co_await fork_join(fails(census), fails(census)); }()).finish(),
      Failure);
  EXPECT_EQ(census.living(), 0);
  EXPECT_THROW(HandPolled([&]() -> Task<> { co_await returns_and_fails(census); }()).finish(),
               std::runtime_error);
  EXPECT_EQ(census.living(), 0);
  EXPECT_GT(census.ever(), 2);
}

TEST(ForkByHand, ends_no_exception_but_its_own) {
  tests::Census census;
  struct Failure {
    tests::Resident resident;
  };
  const auto fails_if = [](tests::Census& place, bool fails) -> Fork<> {
    if (fails) throw Failure{tests::Resident(place)};
    co_return;
  };
  std::exception_ptr kept;
  HandPolled([&]() -> Task<> {
    // The later ones reuse the memory of the first.
    for (const bool fails : {true, false, false}) {
      try {
        co_await fails_if(census, fails);
      } catch (const Failure&) {
        kept = std::current_exception();
      }
    }
  }())
      .finish();
  EXPECT_EQ(census.living(), 1);
  kept = nullptr;
  EXPECT_EQ(census.living(), 0);
}

#if !defined(TASKBENCH_SYSTEM_BLOCKS)  // a sanitizer keeps what was freed
TEST(ForkByHand, has_the_memory_of_the_one_that_ended_before) {
  const auto where = [](Fork<int> fork) {
    void* const frame = std::move(fork).release();
    std::coroutine_handle<>::from_address(frame).destroy();
    return frame;
  };
  void* const before = where(gives(1));
  EXPECT_EQ(where(gives(2)), before);
}
#endif

TEST(ForkByHand, of_two_that_are_assigned_the_other_runs) {
  HandPolled task([]() -> Task<int> {
    Fork<int> fork = gives(1);
    fork = gives(2);
    co_return co_await std::move(fork);
  }());
  EXPECT_EQ(task.finish(), 2);
}

// An offer wakes one worker, if one sleeps and none searches.

class Offering : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kOneAwake = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kAllAwake = 3 * kOneAwake;

  /// Returns how many wake-ups an offer causes.
  int wakes_of_an_offer(std::uint64_t awake, std::uint64_t searching) {
    state_.store(awake * kOneAwake + searching, base::relaxed);
    const int before = wakes_;
    void* const frames[] = {this};
    EXPECT_TRUE(strand_.offer(frames));
    void* frame = nullptr;
    EXPECT_TRUE(strand_.take_back(frame));
    EXPECT_EQ(frame, this);
    EXPECT_FALSE(strand_.take_back(frame));
    return wakes_ - before;
  }

  int wakes_ = 0;
  base::Atomic<std::uint64_t> state_{0};
  task::Strand::Deque deque_;
  task::Strand strand_{deque_,
                       {&state_, kAllAwake,
                        [](void* self) noexcept { ++static_cast<Offering*>(self)->wakes_; }, this}};
};

TEST_F(Offering, wakes_a_worker_if_one_sleeps_and_none_searches) {
  EXPECT_EQ(wakes_of_an_offer(3, 0), 0);
  EXPECT_EQ(wakes_of_an_offer(2, 0), 1);
  EXPECT_EQ(wakes_of_an_offer(2, 1), 0);
  EXPECT_EQ(wakes_of_an_offer(1, 0), 1);
}

TEST_F(Offering, wakes_nobody_for_a_thread_that_has_lost_its_worker) {
  strand_.set_all_awake(0);
  EXPECT_EQ(wakes_of_an_offer(0, 0), 0);
  EXPECT_EQ(wakes_of_an_offer(2, 0), 0);
  strand_.set_all_awake(kAllAwake);
  EXPECT_EQ(wakes_of_an_offer(2, 0), 1);
}

// The forks of a task that no worker polls are sent to one.

/// A runtime with the test as its worker: it keeps what is spawned.
class Keeper final : public task::Spawner {
 public:
  void schedule(task::Header*) noexcept override {}
  void spawn(task::Header* task) noexcept override { spawned.push_back(task); }
  void spawn_blocking(task::Header*) override {}
  [[nodiscard]] bool shares_forks() const noexcept override { return true; }
  void run_root(task::Header*) noexcept override {}
  driver::Driver& driver() noexcept override { std::terminate(); }
  driver::Wheel& timers() noexcept override { std::terminate(); }

  std::vector<task::Header*> spawned;
};

class SentForks : public ::testing::Test {
 protected:
  SentForks() { keeper_->spawned.reserve(1); }

  /// Polls a task whose forks are to be sent, as block_on does.
  template <class T>
  bool poll_as_root(HandPolled<T>& task) {
    const task::EnterContext context(keeper_.get(), nullptr);
    return task.poll();
  }
  /// Takes the task that carries the forks to a worker.
  task::Header* take_carrier() {
    EXPECT_EQ(keeper_->spawned.size(), 1U);
    task::Header* const carrier = keeper_->spawned.back();
    keeper_->spawned.clear();
    return carrier;
  }

  static Task<int> three() {
    const auto [one, two] = co_await fork_join(gives(1), gives(2));
    co_return one + two;
  }

  const base::Ref<Keeper> keeper_{new Keeper};
};

TEST_F(SentForks, run_where_they_arrive_and_the_task_goes_on_where_it_was) {
  HandPolled task(three());
  EXPECT_FALSE(poll_as_root(task));
  EXPECT_FALSE(task.is_woken());
  task::Header* const carrier = take_carrier();
  EXPECT_TRUE(carrier->state.ending().has_sole_owner()) << "nobody awaits what carries them";
  {
    const LoneWorker worker;
    EXPECT_EQ(task::poll(carrier), task::Polled::finished);
  }
  EXPECT_TRUE(task.is_woken());
  EXPECT_EQ(task.finish(), 3);
}

TEST_F(SentForks, that_do_not_arrive_cancel_the_task) {
  HandPolled task(three());
  EXPECT_FALSE(poll_as_root(task));
  task::cancel(take_carrier());
  EXPECT_TRUE(task.resumes());
  EXPECT_THROW(task.result(), JoinError);
}

TEST_F(SentForks, of_a_branch_are_not_sent) {
  HandPolled task([]() -> Task<int> {
    const auto [sum, one] = co_await join(three(), tests::number(1));
    co_return sum + one;
  }());
  EXPECT_TRUE(poll_as_root(task));
  EXPECT_TRUE(keeper_->spawned.empty());
  EXPECT_EQ(task.result(), 4);
}

/// Deprives its thread of blocks of these sizes for as long as it lives.
class NoBlocks {
 public:
  NoBlocks(std::uint32_t least, std::uint32_t most) {
    for (std::uint32_t units = least; units <= most; ++units) take_all(units);
  }
  NoBlocks(const NoBlocks&) = delete;
  NoBlocks& operator=(const NoBlocks&) = delete;
  ~NoBlocks() {
    no_memory_.reset();
    while (newest_ != nullptr) {
      Block* const block = std::exchange(newest_, newest_->before);
      task::deallocate_block(block, block->units);
    }
  }

 private:
  struct Block {
    Block* before;
    std::uint32_t units;
  };

  void take_all(std::uint32_t units) {
    try {
      for (;;) newest_ = new (task::allocate_block(units)) Block{newest_, units};
    } catch (const std::bad_alloc&) {
    }
  }

  std::optional<tests::NoMemory> no_memory_{std::in_place};
  Block* newest_ = nullptr;
};

TEST_F(SentForks, run_at_once_where_there_is_no_memory_to_send_them) {
  HandPolled sent(three());
  EXPECT_FALSE(poll_as_root(sent));
  task::Header* const carrier = take_carrier();
  const std::uint32_t units = carrier->block_units;
  task::cancel(carrier);
  HandPolled task([](std::uint32_t size) -> Task<int> {
    auto forks = fork_join(gives(1), gives(2));
    const NoBlocks none(size, size);
    const auto [one, two] = co_await forks;
    co_return one + two;
  }(units));
  EXPECT_TRUE(poll_as_root(task));
  EXPECT_TRUE(keeper_->spawned.empty());
  EXPECT_EQ(task.result(), 3);
}

TEST(ForkByHand, of_a_vector_that_get_no_memory_to_run_say_so) {
  HandPolled task([]() -> Task<> {
    std::vector<Fork<int>> many;
    for (std::size_t i = 0; i <= kForksAtOnce; ++i) many.push_back(gives(1));
    auto forks = fork_join(std::move(many));
    const NoBlocks none(2, task::kMaxCachedUnits);
    co_await forks;
  }());
  EXPECT_THROW(task.finish(), std::bad_alloc);
}

}  // namespace
}  // namespace taskbench::rt
