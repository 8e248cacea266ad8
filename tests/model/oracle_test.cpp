// The reduction leaves out no outcome: random programs, with it and by brute force.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "tests/model/program.hpp"

namespace mc::testing {
namespace {

class RandomPrograms {
 public:
  explicit RandomPrograms(std::uint64_t seed) : random_(seed) {}

  /// A program of two to four threads, with at most four operations in all, or five of two threads.
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

TEST(Reduction, leaves_out_no_outcome_of_random_programs) {
  constexpr int kPrograms = 5'000;
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
  for (int i = 0; i < 1'000; ++i) {
    const Program program = programs.next();
    Options bounded;
    bounded.preemptions = 12;
    const Result with = outcomes_of(program, bounded, true);
    ASSERT_EQ(with.outcomes, outcomes_of(program, {}, true).outcomes) << text_of(program);
  }
}

TEST(Reduction, under_bounds_leaves_out_no_outcome_that_is_within_them) {
  RandomPrograms programs(4);
  for (int i = 0; i < 700; ++i) {
    const Program program = programs.next();
    Options bounded;
    bounded.preemptions = i % 4 - 1;
    bounded.stale = i % 3 - 1;
    const Result with = outcomes_of(program, bounded, true);
    bounded.reduction = false;
    ASSERT_EQ(with.outcomes, outcomes_of(program, bounded, true).outcomes) << text_of(program);
  }
}

TEST(Reduction, a_random_search_finds_no_other_outcome) {
  RandomPrograms programs(3);
  for (int i = 0; i < 1'000; ++i) {
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
