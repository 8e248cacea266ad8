// The reduction leaves out no outcome: random programs run with it and by brute force.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <set>
#include <string>

#include "tests/model/program.hpp"

namespace mc::testing {
namespace {

class RandomPrograms {
 public:
  explicit RandomPrograms(std::uint64_t seed) : random_(seed) {}

  /// A program of two to four threads with at most four operations in all, or five if it has two
  /// threads.
  Program next() {
    const int threads = 2 + below(3);
    int left = threads == 2 ? 5 : 4;
    Program program(static_cast<std::size_t>(threads));
    for (auto& thread : program) {
      const int most = threads == 2 ? 3 : 2;
      for (int i = 1 + below(most); i > 0 && left > 0; --i, --left) thread.push_back(instruction());
    }
    return program;
  }

 private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }

  Instruction instruction() {
    const int place = below(2);
    const int value = 1 + below(2);
    switch (below(9)) {
      case 0:
      case 1:
      case 2:
        return R(place, of({relaxed, acquire, seq_cst}));
      case 3:
      case 4:
      case 5:
        return W(place, value, of({relaxed, release, seq_cst}));
      case 6:
        return Add(place, value, of({relaxed, acq_rel, seq_cst}));
      case 7:
        return below(2) == 0 ? Cas(place, below(2), value, of({relaxed, acq_rel, seq_cst}))
                             : WeakCas(place, below(2), value, of({relaxed, acq_rel, seq_cst}));
      default:
        constexpr Fence kFences[] = {Fence::acquire, Fence::release, Fence::seq_cst, Fence::light,
                                     Fence::heavy};
        return F(kFences[below(5)]);
    }
  }

  Order of(std::initializer_list<Order> orders) {
    return *(orders.begin() + below(static_cast<int>(orders.size())));
  }

  std::mt19937_64 random_;
};

// A debug build, as in CI, runs a tenth of the random programs.
#if defined(NDEBUG)
constexpr int kShare = 1;
#else
constexpr int kShare = 10;
#endif

TEST(Reduction, leaves_out_no_outcome_of_random_programs) {
  constexpr int kPrograms = 5'000 / kShare;
  RandomPrograms programs(1);
  std::uint64_t reduced = 0;
  std::uint64_t all = 0;
  for (int i = 0; i < kPrograms; ++i) {
    const Program program = programs.next();
    const Result with = outcomes_of(program, {}, true);
    Options brute_force;
    brute_force.reduction = false;
    const Result without = outcomes_of(program, brute_force, true);
    ASSERT_EQ(with.outcomes, without.outcomes) << text_of(program);
    ASSERT_FALSE(with.failed) << with.message;
    reduced += with.executions;
    all += without.executions;
  }
  EXPECT_LT(reduced, all * 6 / 10);
}

TEST(Reduction, with_as_many_preemptions_as_there_can_be_leaves_out_no_outcome) {
  RandomPrograms programs(2);
  for (int i = 0; i < 1'000 / kShare; ++i) {
    const Program program = programs.next();
    Options bounded;
    bounded.preemptions = 12;
    const Result with = outcomes_of(program, bounded, true);
    ASSERT_EQ(with.outcomes, outcomes_of(program, {}, true).outcomes) << text_of(program);
  }
}

TEST(Reduction, under_bounds_leaves_out_no_outcome_that_is_within_them) {
  RandomPrograms programs(4);
  for (int i = 0; i < 700 / kShare; ++i) {
    const Program program = programs.next();
    Options bounded;
    bounded.preemptions = i % 4 - 1;
    bounded.stale = i % 3 - 1;
    const Result with = outcomes_of(program, bounded, true);
    bounded.reduction = false;
    ASSERT_EQ(with.outcomes, outcomes_of(program, bounded, true).outcomes) << text_of(program);
  }
}

/// A program of two threads, one of which waits for an atomic that the other writes at its end.
struct Waiting {
  Program program;
  std::size_t position = 0;  ///< of the wait, in the first thread
  int place = 0;

  explicit Waiting(RandomPrograms& programs) {
    program = programs.next();
    program.resize(2);
    for (auto& thread : program) thread.resize(std::min<std::size_t>(thread.size(), 2));
    position = program[0].size() / 2;
    place = program[0].front().place;
    program[1].push_back(W(place, 1, release));
  }

  [[nodiscard]] Program with(const Instruction& wait) const {
    Program all = program;
    all[0].insert(all[0].begin() + static_cast<std::ptrdiff_t>(position), wait);
    return all;
  }
  /// The position, in the text of an outcome, of what the wait has read.
  [[nodiscard]] std::size_t read() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < position; ++i) {
      const Instruction::Kind kind = program[0][i].kind;
      count += kind != Instruction::Kind::write && kind != Instruction::Kind::fence;
    }
    return count;
  }
};

/// The outcomes of a load in place of a wait, restricted to those where it reads an awaited value.
std::set<std::string> lucky(const std::set<std::string>& outcomes, std::size_t read, char least) {
  std::set<std::string> lucky;
  for (const std::string& each : outcomes) {
    if (each[read] >= least) lucky.insert(each);
  }
  return lucky;
}

TEST(Await, gives_each_outcome_of_a_load_that_reads_what_is_waited_for) {
  RandomPrograms programs(5);
  std::uint64_t awaiting = 0;
  std::uint64_t spinning = 0;
  for (int i = 0; i < 120; ++i) {
    const Waiting waiting(programs);
    const Order order = i % 2 == 0 ? relaxed : acquire;
    Options brute_force;
    brute_force.reduction = false;
    const auto expected =
        lucky(outcomes_of(waiting.with(R(waiting.place, order)), brute_force, true).outcomes,
              waiting.read(), '1');
    const Program program = waiting.with(Await(waiting.place, 1, order));
    const Result awaited = outcomes_of(program, {}, true);
    ASSERT_EQ(awaited.outcomes, expected) << awaited.message << text_of(program);
    ASSERT_EQ(outcomes_of(program, brute_force, true).outcomes, expected) << text_of(program);
    Options bounded;
    bounded.preemptions = 12;
    ASSERT_EQ(outcomes_of(program, bounded, true).outcomes, expected) << text_of(program);
    const Result spun = outcomes_of(waiting.with(Spin(waiting.place, 1, order)), {}, true);
    for (const std::string& each : spun.outcomes) {
      ASSERT_TRUE(expected.contains(each)) << each << text_of(program);
    }
    awaiting += awaited.executions;
    spinning += spun.executions;
  }
  EXPECT_LT(awaiting, spinning);
}

TEST(Await, under_bounds_leaves_out_no_outcome_that_is_within_them) {
  RandomPrograms programs(6);
  for (int i = 0; i < 120; ++i) {
    const Waiting waiting(programs);
    const Program program = waiting.with(Await(waiting.place, 1));
    Options bounded;
    bounded.preemptions = i % 4 - 1;
    bounded.stale = i % 3 - 1;
    const Result with = outcomes_of(program, bounded, true);
    bounded.reduction = false;
    ASSERT_EQ(with.outcomes, outcomes_of(program, bounded, true).outcomes) << text_of(program);
  }
}

TEST(Await, ends_in_each_of_several_moments_at_which_it_can) {
  // x holds an awaited value after the second thread's first write and after its last.
  const Program program{{Await(0, 2, acquire), R(1)},
                        {W(0, 2), W(1, 1, release), W(0, 1), W(1, 2), W(0, 2, release)}};
  Program loads = program;
  loads[0][0] = R(0, acquire);
  Options brute_force;
  brute_force.reduction = false;
  const auto expected = lucky(outcomes_of(loads, brute_force, true).outcomes, 0, '2');
  EXPECT_EQ(expected.size(), 3U);
  EXPECT_EQ(outcomes_of(program, {}, true).outcomes, expected);
  EXPECT_EQ(outcomes_of(program, brute_force, true).outcomes, expected);
}

TEST(Await, of_what_is_overwritten_or_never_written_is_a_livelock) {
  for (const Program& program :
       {Program{{Await(0, 2)}, {W(0, 2), W(0, 1)}}, Program{{Await(0, 2)}, {W(0, 1)}}}) {
    const Result result = outcomes_of(program);
    EXPECT_TRUE(result.failed);
    EXPECT_NE(result.message.find("livelock"), std::string::npos) << result.message;
    Options replay;
    replay.replay = result.trace;
    EXPECT_EQ(outcomes_of(program, replay).message, result.message);
  }
}

TEST(Await, looks_twice_however_often_others_write) {
  const auto executions = [](auto wait, int writes) {
    Program program{{wait(0, writes, acquire)}, {}, {}};
    for (int i = 1; i <= writes; ++i) {
      program[1].push_back(W(0, i, release));
      program[2].push_back(W(1, i));
    }
    return outcomes_of(program).executions;
  };
  std::uint64_t before = 0;
  for (int writes = 1; writes <= 4; ++writes) {
    const std::uint64_t awaiting = executions(Await, writes);
    const std::uint64_t spinning = executions(Spin, writes);
    std::printf("%d writes: %llu executions, of a loop %llu\n", writes,
                static_cast<unsigned long long>(awaiting),
                static_cast<unsigned long long>(spinning));
    EXPECT_LT(awaiting, spinning);
    before = awaiting;
  }
  EXPECT_LT(before, 20U);
}

TEST(Reduction, a_random_search_finds_no_other_outcome) {
  RandomPrograms programs(3);
  for (int i = 0; i < 1'000 / kShare; ++i) {
    const Program program = programs.next();
    Options random;
    random.search = Search::random;
    random.executions = 50;
    const Result all = outcomes_of(program, {}, true);
    for (const std::string& outcome : outcomes_of(program, random, true).outcomes) {
      ASSERT_TRUE(all.outcomes.contains(outcome)) << outcome << '\n' << text_of(program);
    }
  }
}

}  // namespace
}  // namespace mc::testing
