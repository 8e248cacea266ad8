// The tester's memory model: for each litmus test of the literature, exactly the outcomes that
// C++20 allows, except load buffering between relaxed accesses.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/model/mc/check.hpp"
#include "tests/model/mc/primitives.hpp"
#include "tests/model/program.hpp"

namespace mc::testing {
namespace {

using Outcomes = std::set<std::string>;

constexpr int x = 0;
constexpr int y = 1;
constexpr int z = 2;

Outcomes reads(const Program& program) {
  const Result result = outcomes_of(program);
  EXPECT_FALSE(result.failed) << result.message;
  EXPECT_TRUE(result.complete);
  return result.outcomes;
}

Outcomes with_last(const Program& program) {
  const Result result = outcomes_of(program, {}, true);
  EXPECT_FALSE(result.failed) << result.message;
  return result.outcomes;
}

/// All strings of `digits` reads of 0 or 1, except those excluded.
Outcomes all_but(int digits, const Outcomes& excluded = {}) {
  Outcomes all;
  for (int i = 0; i < (1 << digits); ++i) {
    std::string text;
    for (int digit = digits; digit-- > 0;) text += (i >> digit & 1) != 0 ? '1' : '0';
    if (!excluded.contains(text)) all.insert(text);
  }
  return all;
}

TEST(Coherence, two_reads_do_not_go_back) {
  EXPECT_EQ(reads({{W(x, 1)}, {R(x), R(x)}}), (Outcomes{"00", "01", "11"}));
}

TEST(Coherence, two_readers_agree_on_the_order_of_two_writes) {
  Outcomes agreed;
  for (const std::string order : {"012", "021"}) {
    Outcomes reader;
    for (std::size_t first = 0; first < 3; ++first) {
      for (std::size_t second = first; second < 3; ++second)
        reader.insert({order[first], order[second]});
    }
    for (const std::string& one : reader) {
      for (const std::string& other : reader) agreed.insert(one + other);
    }
  }
  EXPECT_EQ(reads({{W(x, 1)}, {W(x, 2)}, {R(x), R(x)}, {R(x), R(x)}}), agreed);
}

TEST(Coherence, writes_of_a_thread_keep_their_order) {
  EXPECT_EQ(with_last({{W(x, 1), W(x, 2)}}), (Outcomes{"x=2"}));
}

TEST(Coherence, a_write_comes_after_what_its_thread_has_read) {
  EXPECT_EQ(with_last({{R(x), W(x, 1)}, {W(x, 2)}}), (Outcomes{"0 x=1", "0 x=2", "2 x=1"}));
}

TEST(Coherence, a_read_does_not_go_behind_its_threads_own_write) {
  EXPECT_EQ(with_last({{W(x, 1), R(x)}, {W(x, 2)}}), (Outcomes{"1 x=1", "1 x=2", "2 x=2"}));
}

TEST(Stale, a_bound_of_none_leaves_interleavings) {
  const Program program{{W(x, 1), R(y)}, {W(y, 1), R(x)}};
  EXPECT_EQ(reads(program), all_but(2));
  EXPECT_EQ(outcomes_of(program, {.stale = 0}).outcomes, all_but(2, {"00"}));
  EXPECT_EQ(outcomes_of(program, {.stale = 1}).outcomes, all_but(2));
}

TEST(MessagePassing, relaxed_promises_nothing) {
  EXPECT_EQ(reads({{W(x, 1), W(y, 1)}, {R(y), R(x)}}), all_but(2));
}

TEST(MessagePassing, release_and_acquire_hand_over) {
  EXPECT_EQ(reads({{W(x, 1), W(y, 1, release)}, {R(y, acquire), R(x)}}), all_but(2, {"10"}));
  EXPECT_EQ(reads({{W(x, 1), W(y, 1, release)}, {R(y), R(x)}}), all_but(2));
  EXPECT_EQ(reads({{W(x, 1), W(y, 1)}, {R(y, acquire), R(x)}}), all_but(2));
}

TEST(MessagePassing, fences_hand_over) {
  EXPECT_EQ(reads({{W(x, 1), F(Fence::release), W(y, 1)}, {R(y), F(Fence::acquire), R(x)}}),
            all_but(2, {"10"}));
  EXPECT_EQ(reads({{W(x, 1), F(Fence::release), W(y, 1)}, {R(y, acquire), R(x)}}),
            all_but(2, {"10"}));
  EXPECT_EQ(reads({{W(x, 1), W(y, 1, release)}, {R(y), F(Fence::acquire), R(x)}}),
            all_but(2, {"10"}));
  EXPECT_EQ(reads({{W(x, 1), W(y, 1), F(Fence::release)}, {F(Fence::acquire), R(y), R(x)}}),
            all_but(2));
}

TEST(StoreBuffering, only_seq_cst_forbids_that_both_read_the_past) {
  const auto of = [](Order store, Order load) {
    return reads({{W(x, 1, store), R(y, load)}, {W(y, 1, store), R(x, load)}});
  };
  EXPECT_EQ(of(relaxed, relaxed), all_but(2));
  EXPECT_EQ(of(release, acquire), all_but(2));
  EXPECT_EQ(of(seq_cst, seq_cst), all_but(2, {"00"}));
  EXPECT_EQ(of(seq_cst, acquire), all_but(2));
  EXPECT_EQ(of(release, seq_cst), all_but(2));
}

TEST(StoreBuffering, seq_cst_fences_forbid_it_and_one_alone_does_not) {
  const auto of = [](Fence one, Fence other) {
    return reads({{W(x, 1), F(one), R(y)}, {W(y, 1), F(other), R(x)}});
  };
  EXPECT_EQ(of(Fence::seq_cst, Fence::seq_cst), all_but(2, {"00"}));
  EXPECT_EQ(of(Fence::seq_cst, Fence::acq_rel), all_but(2));
  EXPECT_EQ(of(Fence::acq_rel, Fence::acq_rel), all_but(2));
}

TEST(StoreBuffering, a_fence_orders_with_seq_cst_accesses) {
  EXPECT_EQ(reads({{W(x, 1), F(Fence::seq_cst), R(y)}, {W(y, 1, seq_cst), R(x, seq_cst)}}),
            all_but(2, {"00"}));
  EXPECT_EQ(reads({{W(x, 1), F(Fence::seq_cst), R(y)}, {W(y, 1), R(x, seq_cst)}}), all_but(2));
}

TEST(StoreBuffering, read_modify_writes_of_one_place_order) {
  EXPECT_EQ(reads({{W(x, 1), Add(z, 1, acq_rel), R(y)}, {W(y, 1), Add(z, 1, acq_rel), R(x)}}),
            (Outcomes{"0011", "0111", "1100", "1101"}));
}

TEST(S, a_write_after_an_acquired_read_comes_last) {
  EXPECT_EQ(with_last({{W(x, 2), W(y, 1, release)}, {R(y, acquire), W(x, 1)}}),
            (Outcomes{"0 x=1 y=1", "0 x=2 y=1", "1 x=1 y=1"}));
  EXPECT_EQ(with_last({{W(x, 2), W(y, 1)}, {R(y), W(x, 1)}}),
            (Outcomes{"0 x=1 y=1", "0 x=2 y=1", "1 x=1 y=1", "1 x=2 y=1"}));
}

TEST(R, only_seq_cst_orders_a_write_and_a_read) {
  const Outcomes all{"0 x=1 y=1", "0 x=1 y=2", "1 x=1 y=1", "1 x=1 y=2"};
  const Outcomes ordered{"0 x=1 y=1", "1 x=1 y=1", "1 x=1 y=2"};
  EXPECT_EQ(with_last({{W(x, 1), W(y, 1)}, {W(y, 2), R(x)}}), all);
  EXPECT_EQ(with_last({{W(x, 1, release), W(y, 1, release)}, {W(y, 2, release), R(x, acquire)}}),
            all);
  EXPECT_EQ(with_last({{W(x, 1, seq_cst), W(y, 1, seq_cst)}, {W(y, 2, seq_cst), R(x, seq_cst)}}),
            ordered);
  EXPECT_EQ(with_last({{W(x, 1), F(Fence::seq_cst), W(y, 1)}, {W(y, 2), F(Fence::seq_cst), R(x)}}),
            ordered);
}

TEST(TwoPlusTwoWrites, only_seq_cst_forbids_that_both_first_writes_win) {
  const auto of = [](Order order) {
    return with_last({{W(x, 1, order), W(y, 2, order)}, {W(y, 1, order), W(x, 2, order)}});
  };
  const Outcomes all{"x=1 y=1", "x=1 y=2", "x=2 y=1", "x=2 y=2"};
  EXPECT_EQ(of(relaxed), all);
  EXPECT_EQ(of(release), all);
  EXPECT_EQ(of(seq_cst), (Outcomes{"x=1 y=2", "x=2 y=1", "x=2 y=2"}));
  EXPECT_EQ(
      with_last({{W(x, 1), F(Fence::seq_cst), W(y, 2)}, {W(y, 1), F(Fence::seq_cst), W(x, 2)}}),
      (Outcomes{"x=1 y=2", "x=2 y=1", "x=2 y=2"}));
}

TEST(WriteToReadCausality, holds_through_acquire_and_release) {
  EXPECT_EQ(reads({{W(x, 1)}, {R(x), W(y, 1, release)}, {R(y, acquire), R(x)}}),
            all_but(3, {"110"}));
  EXPECT_EQ(reads({{W(x, 1)}, {R(x), W(y, 1)}, {R(y), R(x)}}), all_but(3));
}

TEST(Isa2, what_is_handed_over_is_handed_on) {
  EXPECT_EQ(
      reads(
          {{W(x, 1), W(y, 1, release)}, {R(y, acquire), W(z, 1, release)}, {R(z, acquire), R(x)}}),
      all_but(3, {"110"}));
  EXPECT_EQ(reads({{W(x, 1), W(y, 1, release)}, {R(y), W(z, 1, release)}, {R(z, acquire), R(x)}}),
            all_but(3));
}

TEST(IndependentReadsOfIndependentWrites, only_seq_cst_readers_agree) {
  const auto of = [](Order store, Order load) {
    return reads(
        {{W(x, 1, store)}, {W(y, 1, store)}, {R(x, load), R(y, load)}, {R(y, load), R(x, load)}});
  };
  EXPECT_EQ(of(release, acquire), all_but(4));
  EXPECT_EQ(of(seq_cst, seq_cst), all_but(4, {"1010"}));
  EXPECT_EQ(
      reads(
          {{W(x, 1)}, {W(y, 1)}, {R(x), F(Fence::seq_cst), R(y)}, {R(y), F(Fence::seq_cst), R(x)}}),
      all_but(4, {"1010"}));
}

TEST(ReadToWriteCausality, takes_seq_cst) {
  const auto of = [](Order store, Order load) {
    return reads({{W(x, 1, store)}, {R(x, load), R(y, load)}, {W(y, 1, store), R(x, load)}});
  };
  EXPECT_EQ(of(release, acquire), all_but(3));
  EXPECT_EQ(of(seq_cst, seq_cst), all_but(3, {"100"}));
  EXPECT_EQ(reads({{W(x, 1)}, {R(x), F(Fence::seq_cst), R(y)}, {W(y, 1), F(Fence::seq_cst), R(x)}}),
            all_but(3, {"100"}));
}

TEST(ReleaseSequence, a_read_modify_write_goes_on_with_it) {
  // y is 3 if released by the first thread, 4 if the second adds to that, 1 if it adds to 0.
  EXPECT_EQ(reads({{W(x, 1), W(y, 3, release)}, {Add(y, 1)}, {R(y, acquire), R(x)}}),
            (Outcomes{"000", "001", "010", "011", "031", "300", "301", "331", "341"}));
}

TEST(ReleaseSequence, a_plain_store_does_not) {
  const Outcomes seen{"00", "01", "11", "20", "21"};
  EXPECT_EQ(reads({{W(x, 1), W(y, 1, release), W(y, 2)}, {R(y, acquire), R(x)}}), seen);
  EXPECT_EQ(reads({{W(x, 1), W(y, 1, release)}, {W(y, 2)}, {R(y, acquire), R(x)}}), seen);
}

TEST(ReadModifyWrite, is_atomic) {
  EXPECT_EQ(with_last({{Add(x, 1)}, {Add(x, 1)}}), (Outcomes{"01 x=2", "10 x=2"}));
  EXPECT_EQ(with_last({{Add(x, 1)}, {W(x, 4)}}), (Outcomes{"0 x=4", "4 x=5"}));
}

TEST(CompareExchange, of_one_value_only_one_succeeds) {
  EXPECT_EQ(reads({{Cas(x, 0, 1)}, {Cas(x, 0, 2)}}), (Outcomes{"s1", "2s"}));
}

TEST(CompareExchange, fails_on_a_stale_value) {
  EXPECT_EQ(reads({{W(x, 1), W(y, 1)}, {R(y), Cas(x, 1, 2)}}), (Outcomes{"00", "0s", "10", "1s"}));
  EXPECT_EQ(reads({{W(x, 1), W(y, 1, release)}, {R(y, acquire), Cas(x, 1, 2)}}),
            (Outcomes{"00", "0s", "1s"}));
}

TEST(CompareExchange, a_weak_one_may_fail_for_no_reason_and_a_strong_one_not) {
  EXPECT_EQ(reads({{WeakCas(x, 0, 1)}}), (Outcomes{"0", "s"}));
  EXPECT_EQ(reads({{Cas(x, 0, 1)}}), (Outcomes{"s"}));
}

/// Runs a program with two fences, each of them none, light or heavy. Expects all outcomes but
/// `forbidden` where the two fences order, and all outcomes elsewhere.
template <class OfFences>
void expect_ordered(int digits, const char* forbidden, OfFences of) {
  using Fences = std::vector<Instruction>;
  const Fences kinds[] = {{}, {F(Fence::light)}, {F(Fence::heavy)}};
  for (int one = 0; one < 3; ++one) {
    for (int other = 0; other < 3; ++other) {
      const bool order = one != 0 && other != 0 && one + other > 2;
      EXPECT_EQ(reads(of(kinds[one], kinds[other])),
                order ? all_but(digits, {forbidden}) : all_but(digits))
          << one << ' ' << other;
    }
  }
}

std::vector<Instruction> around(Instruction first, std::vector<Instruction> fence,
                                Instruction last) {
  fence.insert(fence.begin(), first);
  fence.push_back(last);
  return fence;
}

TEST(AsymmetricFences, of_which_one_is_heavy_order_store_buffering) {
  expect_ordered(2, "00", [](const auto& one, const auto& other) {
    return Program{around(W(x, 1), one, R(y)), around(W(y, 1), other, R(x))};
  });
}

TEST(AsymmetricFences, of_which_one_is_heavy_hand_over_a_message) {
  expect_ordered(2, "10", [](const auto& writer, const auto& reader) {
    return Program{around(W(x, 1), writer, W(y, 1)), around(R(y), reader, R(x))};
  });
}

TEST(AsymmetricFences, of_which_one_is_heavy_order_a_read_and_a_later_one_of_three_threads) {
  expect_ordered(3, "100", [](const auto& reader, const auto& writer) {
    return Program{{W(x, 1)}, around(R(x), reader, R(y)), around(W(y, 1), writer, R(x))};
  });
}

TEST(AsymmetricFences, a_heavy_one_orders_with_a_seq_cst_one_and_a_light_one_does_not) {
  const auto buffering = [](Fence one) {
    return reads({{W(x, 1), F(one), R(y)}, {W(y, 1), F(Fence::seq_cst), R(x)}});
  };
  EXPECT_EQ(buffering(Fence::heavy), all_but(2, {"00"}));
  EXPECT_EQ(buffering(Fence::light), all_but(2));
}

TEST(AsymmetricFences, a_read_modify_write_hands_on_what_was_handed_over_through_them) {
  const Program program{
      {W(x, 1), F(Fence::light), W(y, 3)}, {Add(y, 1)}, {R(y), F(Fence::heavy), R(x)}};
  const Outcomes all{"000", "001", "010", "011", "031", "300", "301", "331", "341"};
  EXPECT_EQ(outcomes_of(program, {.reduction = false}).outcomes, all);
  EXPECT_EQ(outcomes_of(program, {.preemptions = 2}).outcomes, all);
  EXPECT_EQ(reads(program), all);
}

TEST(Notification, hands_over_no_more_than_the_mutex) {
  const Result result = check({}, [] {
    Mutex mutex;
    Condition condition;
    Atomic<bool> stored{false};
    bool ready = false;
    Thread other([&] {
      {
        const Guard guard(mutex);
        ready = true;
      }
      stored.store(true, relaxed);
      condition.notify_one();
    });
    bool has_waited = false;
    {
      const Guard guard(mutex);
      for (; !ready; has_waited = true) condition.wait(mutex);
    }
    if (has_waited) outcome(stored.load(relaxed) ? "seen" : "not seen");
    other.join();
  });
  EXPECT_FALSE(result.failed) << result.message;
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.outcomes, (Outcomes{"not seen", "seen"}));
}

}  // namespace
}  // namespace mc::testing
