// What workloads observe besides their time.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "harness/bench/measure.hpp"
#include "runtime/runtime.hpp"
#include "workloads/base/workload.hpp"

namespace taskbench::harness {
namespace {

using namespace workloads;

Figures figures_of(std::string_view workload, std::string_view scheduler, unsigned workers,
                   ParameterValues values) {
  rt::Runtime runtime = rt::Runtime::Builder{}.scheduler(scheduler).workers(workers).build();
  const auto instance = find(workload)->make(runtime, values);
  for (int i = 0; i < 3; ++i) instance->run_iteration();
  EXPECT_EQ(instance->verify(), std::nullopt);
  Figures figures = instance->take_figures();
  EXPECT_TRUE(instance->take_figures().empty()) << "they were taken before";
  return figures;
}

TEST(FiguresOfImbalance, one_worker_is_busy_from_the_start_and_does_all_the_work) {
  const Figures figures =
      figures_of("imbalance", "work_stealing", 1, {{"tasks", 200}, {"steps", 5'000}});
  EXPECT_EQ(figures.at("all_busy"), 1.0);
  EXPECT_GT(figures.at("all_busy_ns"), 0.0);
  EXPECT_GT(figures.at("of_ideal"), 0.0);
  // The duration of the work is measured at another time, when the CPU may have been slower.
  EXPECT_LT(figures.at("of_ideal"), 4.0) << "faster than the work itself takes";
}

TEST(FiguresOfImbalance, a_worker_that_never_came_is_not_said_to_have_been_busy) {
  const Figures figures = figures_of("imbalance", "work_stealing", 4, {{"tasks", 1}, {"steps", 1}});
  EXPECT_EQ(figures.at("all_busy"), 0.0);
  EXPECT_FALSE(figures.contains("all_busy_ns"));
}

TEST(FiguresOfBlockingCalls,
     only_where_a_blocked_thread_leaves_its_worker_are_the_others_not_held_up) {
  const ParameterValues values{{"calls", 8}, {"block_us", 30'000}, {"tasks", 20}, {"steps", 10}};
  constexpr double kBlockedInARow = 8 * 30e6;
  const double held_up =
      figures_of("blocking_calls", "current_thread", 1, values).at("others_done_ns");
  EXPECT_GE(held_up, kBlockedInARow);
  const double handed_on = figures_of("blocking_calls", "go", 1, values).at("others_done_ns");
  EXPECT_LT(handed_on, kBlockedInARow);
}

TEST(FiguresOfFairness, tasks_that_take_turns_are_at_most_one_apart) {
  const Figures figures =
      figures_of("fairness", "current_thread", 1, {{"tasks", 20}, {"yields", 50}});
  EXPECT_EQ(figures.at("largest_lead_yields"), 1.0);
  EXPECT_LE(figures.at("lead_yields"), 1.0);
}

TEST(FiguresOfFairness, a_task_alone_leads_nobody) {
  const Figures figures = figures_of("fairness", "work_stealing", 2, {{"tasks", 1}, {"yields", 1}});
  EXPECT_EQ(figures.at("largest_lead_yields"), 0.0);
}

TEST(FiguresOfWakeUnderLoad, what_is_woken_waits_for_all_others_where_everybody_takes_turns) {
  constexpr std::string_view kNames[] = {"outside_p50_ns", "outside_p99_ns", "outside_slowest_ns",
                                         "task_p50_ns",    "task_p99_ns",    "task_slowest_ns"};
  const ParameterValues values{{"wakes", 40}, {"pause_us", 1}, {"tasks", 50}, {"steps", 20'000}};
  const Figures in_turn = figures_of("wake_under_load", "current_thread", 1, values);
  const Figures at_once = figures_of("wake_under_load", "work_stealing", 1, values);
  EXPECT_EQ(in_turn.size(), std::size(kNames)) << "120 wakes have no 99.9th percentile";
  for (const std::string_view name : kNames) {
    EXPECT_GT(in_turn.at(std::string(name)), 0.0) << name;
    EXPECT_GT(at_once.at(std::string(name)), 0.0) << name;
  }
  // A wake by a task goes into the LIFO slot, so the woken task is next.
  EXPECT_LT(10 * at_once.at("task_p50_ns"), in_turn.at("task_p50_ns"));
}

TEST(FiguresOfTimer, no_task_wakes_early_and_some_within_a_few_ticks) {
  const ParameterValues values{{"tasks", 40}, {"sleep_ms", 3}};
  const Figures figures = figures_of("timer", "work_stealing", 2, values);
  EXPECT_EQ(figures.size(), 3U) << "120 sleeps have no 99.9th percentile";
  EXPECT_GE(figures.at("late_p50_ns"), 0.0);
  EXPECT_LE(figures.at("late_p50_ns"), figures.at("late_p99_ns"));
  EXPECT_LE(figures.at("late_p99_ns"), figures.at("late_slowest_ns"));
}

#if !defined(TASKBENCH_ASAN)  // ASan's own memory keeps growing
TEST(FiguresOfEcho, connections_on_which_nothing_happens_take_memory) {
  const ParameterValues values{
      {"connections", 1'001}, {"busy", 1}, {"round_trips", 10}, {"bytes", 1}};
  const double bytes = figures_of("echo", "current_thread", 1, values).at("connection_bytes");
  EXPECT_GT(bytes, 1e3);
  EXPECT_LT(bytes, 100e3);
  const ParameterValues all_busy{
      {"connections", 1}, {"busy", 7}, {"round_trips", 10}, {"bytes", 1}};
  EXPECT_FALSE(figures_of("echo", "current_thread", 1, all_busy).contains("connection_bytes"));
}
#endif

// Both ends together need twice as many descriptors as permitted. ThreadSanitizer confuses two
// descriptors with the same number.
#if !defined(__SANITIZE_THREAD__)
TEST(FiguresOfEcho, clients_have_descriptors_of_their_own_where_they_have_to) {
  // The limit cannot be lifted again, so this runs in a process of its own.
  const auto run = [] {
    const rlimit low{1'600, 1'600};
    ::setrlimit(RLIMIT_NOFILE, &low);
    const ParameterValues values{
        {"connections", 1'100}, {"busy", 3}, {"round_trips", 30}, {"bytes", 1}};
    const bool observed = figures_of("echo", "work_stealing", 2, values).contains("latency_p50_ns");
    std::_Exit(observed && !testing::Test::HasFailure() ? 0 : 1);
  };
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}
#endif

TEST(FiguresOfAcceptStorm, each_connection_is_timed) {
  const Figures figures =
      figures_of("accept_storm", "work_stealing", 2, {{"connections", 40}, {"at_once", 7}});
  EXPECT_GT(figures.at("accepts_per_s"), 0.0);
  EXPECT_LE(figures.at("latency_p50_ns"), figures.at("latency_p99_ns"));
  EXPECT_EQ(figures.size(), 4U) << "120 have no 99.9th percentile";
}

TEST(Figures, of_the_timed_iterations_stand_among_the_counters_of_a_repetition) {
  const Case spec{.workload = find("blocking_calls"),
                  .scheduler = find_scheduler("go"),
                  .workers = 1,
                  .parameters = {{"calls", 1}, {"block_us", 1}, {"tasks", 1}, {"steps", 1}}};
  Settings settings;
  settings.repetitions = 2;
  settings.min_time_s = 0.001;
  settings.warmup_s = 0;
  const Result run = measure({&spec, 1}, settings, nullptr, {});
  ASSERT_EQ(run.cases.size(), 1U);
  ASSERT_EQ(run.cases[0].repetitions.size(), 2U);
  for (const auto& repetition : run.cases[0].repetitions) {
    EXPECT_GT(repetition.counters.at("others_done_ns"), 0.0);
    EXPECT_EQ(run.cases[0].observed, std::set<std::string>{"others_done_ns"});
    EXPECT_TRUE(repetition.counters.contains("polls"));
  }
}

}  // namespace
}  // namespace taskbench::harness
