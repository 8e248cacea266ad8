// When a round of a worker ends, which yielding tasks are polled again at once, and how many tasks
// a worker takes over from one that is behind.
#include "runtime/scheduler/work_stealing/rounds.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "runtime/base/cache_line.hpp"
#include "runtime/task/header.hpp"

namespace taskbench::rt::work_stealing {
namespace {

/// Stands for a queue with this many tasks.
struct Queued {
  std::uint32_t tasks;
  [[nodiscard]] std::uint32_t size() const { return tasks; }
};
constexpr Queued kEmpty{0};
constexpr Queued kOthers{1};

/// Stands for a queue whose cache line its worker is to keep.
struct LeftAlone {
  [[nodiscard]] std::uint32_t size() const {
    ADD_FAILURE() << "its line is taken from the worker that writes it";
    return 1;
  }
};

// What others read lies apart from what the worker writes in each poll.
static_assert(alignof(Rounds) == base::kFalseSharingBytes &&
              sizeof(Rounds) == 2 * base::kFalseSharingBytes);

/// The round of a worker, as seen by a task that yields for the first time.
std::uint32_t round_of(const Rounds& rounds) {
  task::Header task;
  EXPECT_FALSE(rounds.count_yield(&task));
  return task.turn - 1U;
}

/// The round of a worker, as others see it.
std::uint32_t published_by(const Rounds& rounds) {
  Rounds other;
  other.adopt(rounds);
  return round_of(other);
}

/// Lets `count` rounds pass, in each of which a task that is alone takes its turn.
void pass(Rounds& rounds, int count) {
  for (int i = 0; i < count; ++i) rounds.count_turn_alone();
}

/// A task that has yielded this often.
struct Yielded : task::Header {
  explicit Yielded(std::uint16_t times) { turn = times; }
};

TEST(Rounds, end_when_all_that_were_queued_at_the_beginning_had_their_turn) {
  Rounds rounds;
  rounds.count_turn(Queued{3});
  EXPECT_EQ(round_of(rounds), 1U);
  for (int turn = 0; turn < 3; ++turn) {
    rounds.count_turn(Queued{7});
    EXPECT_EQ(round_of(rounds), 1U) << "what was queued later waits for the next one";
  }
  rounds.count_turn(Queued{0});
  EXPECT_EQ(round_of(rounds), 2U);
  EXPECT_EQ(published_by(rounds), 2U);
  rounds.count_turn(Queued{0});
  EXPECT_EQ(round_of(rounds), 3U);
}

TEST(Rounds, pass_with_each_turn_of_a_task_that_is_alone) {
  Rounds rounds;
  pass(rounds, 5);
  EXPECT_EQ(round_of(rounds), 5U);
  EXPECT_EQ(published_by(rounds), 5U);
  // The turn it takes when others arrive is counted already.
  rounds.count_turn(kOthers);
  EXPECT_EQ(round_of(rounds), 5U);
  rounds.count_turn(kOthers);
  EXPECT_EQ(round_of(rounds), 6U);
}

TEST(Rounds, a_task_begins_with_the_round_of_its_worker_unless_it_has_yielded) {
  Rounds rounds;
  pass(rounds, 100);
  Yielded task(3);
  EXPECT_TRUE(rounds.count_yield(&task));
  EXPECT_EQ(task.turn, 4U) << "it is behind";
  Rounds::forget(&task);
  EXPECT_FALSE(rounds.count_yield(&task));
  EXPECT_EQ(task.turn, 101U) << "it was woken in between";
}

TEST(Rounds, a_task_that_is_ahead_stays_so) {
  const Rounds rounds;
  Yielded task(5);
  EXPECT_FALSE(rounds.count_yield(&task));
  EXPECT_EQ(task.turn, 6U);
}

TEST(Rounds, a_task_makes_up_for_1024_turns_and_more_are_forgiven) {
  Rounds rounds;
  pass(rounds, 1025);
  Yielded behind(1);
  EXPECT_TRUE(rounds.count_yield(&behind));
  EXPECT_EQ(behind.turn, 2U);
  Yielded far_behind(1);
  pass(rounds, 1);
  EXPECT_FALSE(rounds.count_yield(&far_behind));
  EXPECT_EQ(far_behind.turn, 1027U);
}

TEST(Rounds, a_task_that_is_more_than_eight_turns_behind_goes_on_although_others_wait) {
  Rounds rounds;
  pass(rounds, 20);
  Yielded behind(10);
  EXPECT_TRUE(rounds.count_yield(&behind));
  EXPECT_EQ(behind.turn, 11U);
  EXPECT_FALSE(rounds.count_yield(&behind));
}

TEST(Rounds, go_on_from_those_of_a_worker_that_tasks_were_stolen_from) {
  Rounds victim;
  pass(victim, 7);
  Rounds thief;
  thief.adopt(victim);
  EXPECT_EQ(round_of(thief), 7U);
  EXPECT_EQ(published_by(thief), 7U);
}

TEST(Rounds, go_on_in_the_midst_of_one_where_a_worker_is_taken_over) {
  Rounds blocked;
  blocked.count_turn(Queued{2});
  blocked.count_turn(Queued{1});
  Rounds next;
  next.take_over(blocked);
  EXPECT_EQ(published_by(next), 1U);
  next.count_turn(Queued{0});
  EXPECT_EQ(round_of(next), 1U) << "one more had not had its turn";
  next.count_turn(Queued{0});
  EXPECT_EQ(round_of(next), 2U);
}

/// Two workers, one of them ahead.
struct Two {
  explicit Two(int lead) {
    pass(ahead, 1000 + lead);
    pass(behind, 1000);
  }
  Rounds ahead;
  Rounds behind;
};

TEST(RoundsOfTwo, who_is_eight_rounds_ahead_takes_nothing_over) {
  Two workers(8);
  EXPECT_EQ(workers.ahead.level_with(workers.behind, Queued{1}, Queued{100}), 0U);
  EXPECT_EQ(workers.behind.level_with(workers.ahead, Queued{1}, Queued{100}), 0U);
  EXPECT_EQ(round_of(workers.ahead), 1008U);
  EXPECT_EQ(round_of(workers.behind), 1000U);
}

TEST(RoundsOfTwo, who_is_about_as_far_does_not_look_at_the_queues) {
  for (const int lead : {0, 8}) {
    Two workers(lead);
    EXPECT_EQ(workers.ahead.level_with(workers.behind, LeftAlone{}, LeftAlone{}), 0U);
    EXPECT_EQ(workers.behind.level_with(workers.ahead, LeftAlone{}, LeftAlone{}), 0U);
  }
}

TEST(RoundsOfTwo, who_is_further_ahead_takes_over_half_of_what_the_others_queue_is_longer_by) {
  for (const int lead : {9, 16}) {
    Two workers(lead);
    EXPECT_EQ(workers.ahead.level_with(workers.behind, Queued{20}, Queued{100}), 40U);
    EXPECT_EQ(workers.ahead.level_with(workers.behind, Queued{100}, Queued{100}), 0U);
    EXPECT_EQ(workers.ahead.level_with(workers.behind, Queued{100}, Queued{20}), 0U);
  }
}

TEST(RoundsOfTwo, who_is_far_ahead_even_with_as_long_a_queue_takes_over_an_eighth) {
  Two workers(17);
  EXPECT_EQ(workers.ahead.level_with(workers.behind, Queued{100}, Queued{80}), 11U);
  EXPECT_EQ(workers.ahead.level_with(workers.behind, Queued{20}, Queued{100}), 40U) << "more";
  EXPECT_EQ(workers.ahead.level_with(workers.behind, Queued{20}, kEmpty), 0U);
}

TEST(RoundsOfTwo, who_is_behind_with_a_queue_that_is_not_longer_goes_on_from_the_others_count) {
  for (const std::uint32_t own : {50U, 100U}) {
    Two workers(9);
    EXPECT_EQ(workers.behind.level_with(workers.ahead, Queued{own}, Queued{100}), 0U);
    EXPECT_EQ(published_by(workers.behind), 1009U);
  }
}

TEST(RoundsOfTwo, who_is_behind_stays_so_with_a_longer_queue_or_if_the_other_has_none) {
  Two workers(9);
  EXPECT_EQ(workers.behind.level_with(workers.ahead, Queued{101}, Queued{100}), 0U);
  EXPECT_EQ(workers.behind.level_with(workers.ahead, kEmpty, kEmpty), 0U);
  EXPECT_EQ(published_by(workers.behind), 1000U);
}

// Both counts wrap around, the worker's in the 16 bits of a task's turn.
TEST(Rounds, a_task_keeps_its_place_where_its_count_wraps_around) {
  Rounds rounds;
  pass(rounds, UINT16_MAX + 5);
  Yielded task(UINT16_MAX - 10);
  EXPECT_TRUE(rounds.count_yield(&task));
  EXPECT_EQ(task.turn, UINT16_MAX - 9);
}

TEST(Rounds, a_count_that_wraps_around_is_not_taken_for_that_of_a_task_that_has_not_yielded) {
  Rounds rounds;
  pass(rounds, UINT16_MAX + 15);
  Yielded task(UINT16_MAX);
  EXPECT_TRUE(rounds.count_yield(&task));
  EXPECT_EQ(task.turn, 1U);
  EXPECT_TRUE(rounds.count_yield(&task));
  EXPECT_EQ(task.turn, 2U) << "it still counts from where it was";
}

}  // namespace
}  // namespace taskbench::rt::work_stealing
