// The count by which every workload verifies itself must notice the errors of a broken scheduler.
#include "workloads/base/countdown.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "runtime/runtime.hpp"

namespace taskbench::workloads {
namespace {

using Sentence = std::optional<std::string>;

/// Whether the last count was signalled; all counting must be done before.
rt::Task<> listen(SignalReceiver last, bool* heard) {
  *heard = (co_await std::move(last)).has_value();
}

bool is_heard(SignalReceiver last) {
  rt::Runtime runtime = rt::Runtime::Builder{}.scheduler("current_thread").workers(1).build();
  bool heard = false;
  runtime.block_on(listen(std::move(last), &heard));
  return heard;
}

TEST(countdown, last_task_is_heard_and_counts_agree) {
  Countdown tasks;
  SignalReceiver last = tasks.begin(3);
  for (int i = 0; i < 3; ++i) tasks.count();
  EXPECT_TRUE(is_heard(std::move(last)));
  EXPECT_EQ(tasks.verify("tasks"), std::nullopt);
}

TEST(countdown, counts_of_several_iterations_add_up) {
  Countdown tasks;
  for (int iteration = 0; iteration < 4; ++iteration) {
    SignalReceiver last = tasks.begin(5);
    for (int i = 0; i < 5; ++i) tasks.count();
    EXPECT_TRUE(is_heard(std::move(last)));
  }
  EXPECT_EQ(tasks.verify("tasks"), std::nullopt);
}

TEST(countdown, lost_task_is_a_sentence_with_both_numbers) {
  Countdown tasks;
  const SignalReceiver last = tasks.begin(10'000);
  for (int i = 0; i < 9'999; ++i) tasks.count();
  EXPECT_EQ(tasks.verify("tasks"), Sentence("expected 10000 tasks, counted 9999"));
}

TEST(countdown, task_that_ran_twice_is_a_sentence_with_both_numbers) {
  Countdown tasks;
  const SignalReceiver last = tasks.begin(3);
  for (int i = 0; i < 4; ++i) tasks.count();
  EXPECT_EQ(tasks.verify("tasks"), Sentence("expected 3 tasks, counted 4"));
}

TEST(countdown, verify_starts_afresh_also_after_a_failure) {
  Countdown tasks;
  const SignalReceiver lost = tasks.begin(2);
  tasks.count();
  EXPECT_TRUE(tasks.verify("tasks").has_value());
  SignalReceiver last = tasks.begin(2);
  tasks.count();
  tasks.count();
  EXPECT_TRUE(is_heard(std::move(last)));
  EXPECT_EQ(tasks.verify("tasks"), std::nullopt);
}

TEST(countdown, verify_of_nothing_is_no_failure) {
  Countdown tasks;
  EXPECT_EQ(tasks.verify("tasks"), std::nullopt);
}

TEST(countdown, count_in_turn_tells_the_last_task_that_it_is) {
  Countdown links;
  SignalReceiver last = links.begin(3);
  EXPECT_FALSE(links.count_in_turn());
  EXPECT_FALSE(links.count_in_turn());
  EXPECT_TRUE(links.count_in_turn());
  EXPECT_TRUE(is_heard(std::move(last)));
  EXPECT_EQ(links.verify("links"), std::nullopt);
}

TEST(countdown, concurrent_counts_are_exact_and_heard_once) {
  constexpr int kThreads = 4;
  constexpr int kCounts = 10'000;
  Countdown tasks;
  SignalReceiver last = tasks.begin(kThreads * kCounts);
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&tasks] {
      for (int i = 0; i < kCounts; ++i) tasks.count();
    });
  }
  EXPECT_TRUE(is_heard(std::move(last)));
  threads.clear();
  EXPECT_EQ(tasks.verify("tasks"), std::nullopt);
}

TEST(countdown, lies_on_cache_lines_of_its_own) {
  EXPECT_EQ(sizeof(Countdown), kFalseSharingBytes);
  EXPECT_EQ(alignof(Countdown), kFalseSharingBytes);
}

TEST(countdown, silence_of_the_last_task_throws) {
  EXPECT_THROW(require_heard(std::nullopt), std::runtime_error);
  EXPECT_NO_THROW(require_heard(Signal{}));
}

TEST(countdown, compare_counts_says_nothing_of_equal_counts) {
  EXPECT_EQ(compare_counts("yields", 7, 7), std::nullopt);
  EXPECT_EQ(compare_counts("yields", 7, 8), Sentence("expected 7 yields, counted 8"));
}

}  // namespace
}  // namespace taskbench::workloads
