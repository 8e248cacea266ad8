// Each kind of error is found by each kind of search, and recurs when its trace is replayed. The
// counts of searches are written down, so that a change of the search is noticed.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/model/mc/check.hpp"
#include "tests/model/mc/primitives.hpp"
#include "tests/model/program.hpp"

namespace mc::testing {
namespace {

struct Planted {
  const char* name;
  const char* words;
  void (*body)();
};

void hand_over_too_early() {
  Cell<int> cell{0};
  Atomic<bool> ready{false};
  Thread writer([&] {
    ready.store(true, release);
    cell.set(1);
  });
  if (ready.load(acquire)) (void)cell.get();
  writer.join();
}

void use_what_another_has_freed() {
  auto* number = new Atomic<int>{0};
  Atomic<bool> freed{false};
  Thread other([&] {
    delete number;
    freed.store(true, release);
  });
  if (freed.load(acquire)) (void)number->load(relaxed);
  other.join();
}

void free_twice() {
  auto* memory = new Atomic<int>{0};
  Atomic<int> owners{2};
  const auto drop = [&] {
    const int left = owners.load(seq_cst) - 1;
    owners.store(left, seq_cst);
    if (left <= 1) operator delete(memory);
  };
  Thread other(drop);
  drop();
  other.join();
}

void lose_what_is_replaced() {
  Atomic<int*> place{new int(1)};
  Thread other([&] { delete place.exchange(nullptr, acq_rel); });
  int* const fresh = new int(2);
  if (place.load(acquire) == nullptr) {
    delete fresh;
  } else {
    delete place.exchange(nullptr, acq_rel);
  }
  other.join();
}

void lock_in_two_orders() {
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
}

void wait_for_a_flag_that_is_taken_back() {
  Atomic<int> flag{0};
  Thread other([&] {
    flag.store(1, relaxed);
    flag.store(0, relaxed);
  });
  while (flag.load(relaxed) == 0) yield();
  other.join();
}

/// Returns 2, or 1 if an increment is lost.
int two_increments() {
  Atomic<int> count{0};
  const auto increment = [&] { count.store(count.load(relaxed) + 1, relaxed); };
  Thread one(increment);
  Thread two(increment);
  one.join();
  two.join();
  return count.load(relaxed);
}

void count_by_load_and_store() { require(two_increments() == 2, "no increment is lost"); }

void go_on_for_ever() {
  Atomic<int> count{0};
  Thread other([&] { count.store(1, relaxed); });
  while (count.load(relaxed) == 1) {
  }
  other.join();
}

void use_what_is_not_there() {
  Atomic<Atomic<int>*> place{nullptr};
  Atomic<int> number{0};
  Thread other([&] { place.store(&number, release); });
  (void)place.load(acquire)->load(relaxed);
  other.join();
}

constexpr Planted kPlanted[] = {
    {"a_data_race", "data race", hand_over_too_early},
    {"a_use_after_free", "use after free", use_what_another_has_freed},
    {"a_double_free", "double free", free_twice},
    {"a_leak", "leak", lose_what_is_replaced},
    {"a_deadlock", "deadlock", lock_in_two_orders},
    {"a_livelock", "livelock: what is waited for", wait_for_a_flag_that_is_taken_back},
    {"an_assertion", "no increment is lost", count_by_load_and_store},
    {"a_crash", "crash: Segmentation fault", use_what_is_not_there},
    {"no_end", "livelock: the execution does not end", go_on_for_ever},
};

class Errors : public ::testing::TestWithParam<Planted> {};

void find_and_replay(Options options) {
  const Planted& planted = Errors::GetParam();
  options.steps = 1'000;
  const Result found = check(options, planted.body);
  ASSERT_TRUE(found.failed);
  ASSERT_NE(found.message.find(planted.words), std::string::npos) << found.message;
  ASSERT_NE(found.events.find("replay_test.cpp:"), std::string::npos) << found.events;
  options.replay = found.trace;
  for (int i = 0; i < 100; ++i) {
    const Result again = check(options, planted.body);
    ASSERT_EQ(again.message, found.message);
    ASSERT_EQ(again.trace, found.trace);
    ASSERT_EQ(again.events, found.events);
    ASSERT_EQ(again.executions, 1U);
  }
}

TEST_P(Errors, are_found_by_all_executions_and_replayed) { find_and_replay({}); }

TEST_P(Errors, are_found_under_bounds_and_replayed) {
  find_and_replay({.preemptions = 1, .stale = 1});
}

TEST_P(Errors, are_found_at_random_and_replayed) {
  find_and_replay({.search = Search::random, .executions = 10'000});
}

TEST_P(Errors, are_found_by_priorities_and_replayed) {
  find_and_replay({.search = Search::pct, .executions = 10'000});
}

INSTANTIATE_TEST_SUITE_P(Planted, Errors, ::testing::ValuesIn(kPlanted),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(Traces, name_choices_of_many) {
  const auto body = [] { require(choose(200) != 150, "another number"); };
  const Result found = check({}, body);
  ASSERT_TRUE(found.failed);
  EXPECT_EQ(found.executions, 151U);
  EXPECT_EQ(check({.replay = found.trace}, body).message, found.message);
}

TEST(Traces, that_go_on_after_the_end_are_refused) {
  const auto body = [] { (void)choose(2); };
  EXPECT_FALSE(check({.replay = "01"}, body).failed);
  EXPECT_EQ(check({.replay = "010"}, body).message, "the trace is not of this test");
}

TEST(Choices, of_none_or_of_more_than_a_trace_can_name_are_refused) {
  for (const int count : {0, 256}) {
    EXPECT_EQ(check({}, [count] { (void)choose(count); }).message,
              "a choice is among 1 to 255, not " + std::to_string(count));
  }
}

TEST(Choices, among_more_stores_than_a_trace_can_name_are_refused_unless_drawn) {
  Program read{{}, {R(0)}};
  for (int i = 1; i <= 255; ++i) read[0].push_back(W(0, i));
  Program exchanged = read;
  exchanged[1] = {Cas(0, 256, 1)};
  for (const Program& program : {read, exchanged}) {
    EXPECT_EQ(outcomes_of(program).message,
              "an access may read or follow more than 255 stores: too many for an exhaustive "
              "search");
    const Result drawn = outcomes_of(program, {.search = Search::random, .executions = 20});
    EXPECT_FALSE(drawn.failed) << drawn.message;
  }
}

TEST(Seeds, give_the_same_search_again_and_others_another) {
  const auto search = [](Search kind, std::uint64_t seed) {
    return check({.search = kind, .executions = 10'000, .seed = seed}, count_by_load_and_store);
  };
  for (const Search kind : {Search::random, Search::pct}) {
    const Result first = search(kind, 1);
    const Result again = search(kind, 1);
    EXPECT_EQ(first.executions, again.executions);
    EXPECT_EQ(first.trace, again.trace);
    bool differs = false;
    for (std::uint64_t seed = 2; seed < 12; ++seed)
      differs |= search(kind, seed).trace != first.trace;
    EXPECT_TRUE(differs);
  }
}

/// In how many of 4000 pct executions an increment is lost although no value is stale.
int lost_by_priorities(int length) {
  int lost = 0;
  const Result result =
      check({.search = Search::pct, .executions = 4'000, .depth = 2, .length = length, .stale = 0},
            [&] { lost += two_increments() == 1 ? 1 : 0; });
  EXPECT_FALSE(result.failed) << result.message;
  return lost;
}

TEST(Priorities, find_what_takes_two_orderings_as_often_as_they_promise) {
  constexpr int kThreads = 3;
  constexpr int kSteps = 14;  // at most: three begin, two are spawned and joined, five accesses
  EXPECT_GE(lost_by_priorities(kSteps), 4'000 / kThreads / kSteps);
  EXPECT_GE(lost_by_priorities(0), 4'000 / kThreads / kSteps) << "the length is measured";
  EXPECT_EQ(lost_by_priorities(1), 0) << "the change comes before the threads";
}

/// Executions, and how many of them were pruned.
using Counts = std::pair<std::uint64_t, std::uint64_t>;

Counts counts_of(const Program& program, const Options& options = {}) {
  const Result result = outcomes_of(program, options);
  EXPECT_TRUE(result.complete);
  return {result.executions, result.pruned};
}

TEST(Counts, of_small_programs_are_as_written_down) {
  constexpr int kX = 0;
  constexpr int kY = 1;
  const Program buffering{{W(kX, 1), R(kY)}, {W(kY, 1), R(kX)}};
  const Program message{{W(kX, 1), W(kY, 1, release)}, {R(kY, acquire), R(kX)}};
  const Program readers{{W(kX, 1)}, {W(kY, 1)}, {R(kX), R(kY)}, {R(kY), R(kX)}};
  const Program adders{{Add(kX, 1)}, {Add(kX, 1)}, {Add(kX, 1)}};
  const Program fenced{{W(kX, 1), F(Fence::seq_cst), R(kY)}, {W(kY, 1), F(Fence::seq_cst), R(kX)}};
  EXPECT_EQ(counts_of(buffering), Counts(6, 0));
  EXPECT_EQ(counts_of(message), Counts(6, 0));
  EXPECT_EQ(counts_of(readers), Counts(28, 0));
  EXPECT_EQ(counts_of(adders), Counts(6, 0));
  EXPECT_EQ(counts_of(fenced), Counts(5, 0));
  EXPECT_EQ(counts_of(buffering, {.preemptions = 1}), Counts(16, 0));
  EXPECT_EQ(counts_of(adders, {.preemptions = 0}), Counts(6, 0));
  EXPECT_EQ(counts_of(readers, {.preemptions = 2, .stale = 1}), Counts(2'028, 0));
}

}  // namespace
}  // namespace mc::testing
