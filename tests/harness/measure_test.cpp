// measure() with workloads made for these tests: what it times, in which order, and how it handles
// failing cases and interruptions.
#include "harness/bench/measure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <thread>

#include "harness/bench/usage.hpp"

namespace taskbench::harness {
namespace {

using namespace workloads;

/// What the fake workloads do and have done; reset before each test.
struct Doings {
  std::vector<std::uint64_t> verified;  ///< ids of the cases, one for each verification
  int built = 0;
  int iterations = 0;
  int fail_at_verification = -1;     ///< of the case with id 13
  std::stop_source* stop = nullptr;  ///< asked to stop after `stop_after` verifications
  std::size_t stop_after = 0;
};

Doings doings;

class FakeInstance : public Instance {
 public:
  explicit FakeInstance(std::uint64_t id) : id_(id) { ++doings.built; }

  void run_iteration() override {
    ++doings.iterations;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (doings.stop != nullptr && doings.verified.size() >= doings.stop_after)
      doings.stop->request_stop();
  }

  std::optional<std::string> verify() override {
    doings.verified.push_back(id_);
    if (id_ == 13 && verifications_++ >= doings.fail_at_verification &&
        doings.fail_at_verification >= 0) {
      return "expected 10 tasks, counted 9";
    }
    return std::nullopt;
  }

 private:
  std::uint64_t id_;
  int verifications_ = 0;
};

/// Takes three times as long as in its warm-ups. Each case is warmed up as often as calibration
/// times it.
class SlowingInstance : public FakeInstance {
 public:
  using FakeInstance::FakeInstance;
  void run_iteration() override {
    constexpr int kWarmups = 3;
    std::this_thread::sleep_for(kNap * (verifications_ < kWarmups ? 1 : 3));
  }
  std::optional<std::string> verify() override {
    ++verifications_;
    return std::nullopt;
  }

 private:
  static constexpr std::chrono::milliseconds kNap{2};
  int verifications_ = 0;
};

class ThrowingInstance : public FakeInstance {
 public:
  using FakeInstance::FakeInstance;
  void run_iteration() override { throw std::runtime_error("no such luck"); }
};

/// Much longer than it takes until a CPU used by others is free.
constexpr std::chrono::milliseconds kLongNap{5};

class LongNapInstance : public FakeInstance {
 public:
  using FakeInstance::FakeInstance;
  void run_iteration() override { std::this_thread::sleep_for(kLongNap); }
};

constexpr Parameter kFakeParameters[] = {{"id", 0, 0, 1'000, "tells the cases of a test apart"}};

std::uint64_t one_operation(const ParameterValues&) { return 1; }

template <class InstanceType>
Workload fake_workload(std::string_view name) {
  return {
      .name = name,
      .summary = "a workload for tests",
      .operation = "nap",
      .parameters = kFakeParameters,
      .operations = one_operation,
      .make = [](rt::Runtime&, const ParameterValues& values) -> std::unique_ptr<Instance> {
        return std::make_unique<InstanceType>(values.at("id"));
      },
  };
}

const Workload kFake = fake_workload<FakeInstance>("fake");
const Workload kSlowing = fake_workload<SlowingInstance>("slowing");
const Workload kThrowing = fake_workload<ThrowingInstance>("throwing");
const Workload kNapping = fake_workload<LongNapInstance>("napping");

Case fake_case(std::uint64_t id, const Workload& workload = kFake) {
  return {.workload = &workload,
          .scheduler = find_scheduler("current_thread"),
          .workers = 1,
          .parameters = {{"id", id}}};
}

Case real_case(std::string_view workload, std::string_view scheduler, unsigned workers) {
  return {.workload = find(workload),
          .scheduler = find_scheduler(scheduler),
          .workers = workers,
          .parameters = defaults(*find(workload))};
}

Settings quick_settings() {
  return {.repetitions = 3,
          .min_time_s = 0.002,
          .warmup_s = 0.002,
          .time_budget_s = std::nullopt,
          .seed = 1,
          .iterations = {},
          .pin = false};
}

Result measure_quietly(const std::vector<Case>& cases, const Settings& settings = quick_settings(),
                       std::stop_token stop = {}) {
  return measure(cases, settings, nullptr, stop);
}

class measure_test : public testing::Test {
 protected:
  void SetUp() override { doings = Doings{}; }
};

TEST_F(measure_test, every_case_gets_every_repetition_in_the_order_asked_for) {
  const std::vector<Case> cases{fake_case(3), fake_case(1), fake_case(2)};
  const Result result = measure_quietly(cases);
  ASSERT_EQ(result.cases.size(), 3U);
  EXPECT_FALSE(result.interrupted);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(result.cases[i].name, cases[i].name());
    EXPECT_EQ(result.cases[i].parameters.at("id"), cases[i].parameters.at("id"));
    EXPECT_EQ(result.cases[i].workload, "fake");
    EXPECT_EQ(result.cases[i].scheduler, "current_thread");
    EXPECT_EQ(result.cases[i].workers, 1);
    EXPECT_EQ(result.cases[i].operations, 1U);
    EXPECT_EQ(result.cases[i].operation, "nap");
    EXPECT_EQ(result.cases[i].error, "");
    ASSERT_EQ(result.cases[i].repetitions.size(), 3U);
    for (std::size_t r = 0; r < 3; ++r) {
      EXPECT_EQ(result.cases[i].repetitions[r].index, static_cast<std::int64_t>(r));
    }
  }
}

TEST_F(measure_test, repetitions_of_a_case_share_one_iteration_count) {
  Settings settings = quick_settings();
  settings.repetitions = 6;
  settings.min_time_s = 0.05;  // some iterations even if others take the CPU for a while
  const Result result = measure_quietly({fake_case(1)}, settings);
  ASSERT_EQ(result.cases[0].repetitions.size(), 6U);
  const auto& repetitions = result.cases[0].repetitions;
  EXPECT_GT(repetitions[0].iterations, 1);
  for (const auto& repetition : repetitions) {
    EXPECT_EQ(repetition.iterations, repetitions[0].iterations);
  }
}

TEST_F(measure_test, times_are_those_of_an_iteration) {
  const Result result = measure_quietly({fake_case(1)});
  for (const auto& repetition : result.cases[0].repetitions) {
    EXPECT_GE(repetition.real_ns, 50'000);  // each iteration sleeps this long
    EXPECT_LT(repetition.real_ns, 50'000'000);
    EXPECT_GE(repetition.cpu_ns, 0);
    EXPECT_LT(repetition.cpu_ns, repetition.real_ns);  // sleeping takes no CPU time
  }
}

TEST_F(measure_test, context_switches_of_an_iteration_are_counted) {
  const Result result = measure_quietly({fake_case(1)});
  for (const auto& repetition : result.cases[0].repetitions) {
    ASSERT_TRUE(repetition.counters.contains("voluntary_switches"));
    ASSERT_TRUE(repetition.counters.contains("involuntary_switches"));
    // An iteration sleeps once, unless others had the CPU until its time was over.
    EXPECT_GE(repetition.counters.at("voluntary_switches"), 0.5);
    EXPECT_GE(repetition.counters.at("involuntary_switches"), 0);
  }
}

TEST_F(measure_test, each_case_is_built_once) {
  (void)measure_quietly({fake_case(1), fake_case(2)});
  EXPECT_EQ(doings.built, 2);
}

/// Returns the order in which the repetitions ran: each verifies once, after all warm-ups.
std::vector<std::uint64_t> order_with_seed(std::uint64_t seed) {
  doings = Doings{};
  Settings settings = quick_settings();
  settings.repetitions = 6;
  settings.seed = seed;
  const std::vector<Case> cases{fake_case(1), fake_case(2), fake_case(3)};
  (void)measure_quietly(cases, settings);
  constexpr std::ptrdiff_t kRepetitions = 18;
  return {doings.verified.end() - kRepetitions, doings.verified.end()};
}

TEST_F(measure_test, interleaving_is_seeded_and_reproducible) {
  const auto order = order_with_seed(5);
  EXPECT_EQ(order, order_with_seed(5));
  EXPECT_NE(order, order_with_seed(6));
  for (auto round = order.begin(); round != order.end(); round += 3) {
    EXPECT_EQ(std::set<std::uint64_t>(round, round + 3).size(), 3U) << "a round misses a case";
  }
}

TEST_F(measure_test, warmup_comes_before_the_first_repetition_of_any_case) {
  (void)measure_quietly({fake_case(1), fake_case(2)});
  ASSERT_GT(doings.verified.size(), 6U);
  const std::vector<std::uint64_t> warmups(doings.verified.begin(), doings.verified.end() - 6);
  EXPECT_TRUE(std::is_sorted(warmups.begin(), warmups.end()));
  EXPECT_EQ(std::set<std::uint64_t>(warmups.begin(), warmups.end()).size(), 2U);
}

TEST_F(measure_test, failed_verification_is_an_error_of_that_case_only) {
  doings.fail_at_verification = 0;
  const Result result = measure_quietly({fake_case(1), fake_case(13), fake_case(2)});
  EXPECT_EQ(result.cases[1].error, "wrong result: expected 10 tasks, counted 9");
  EXPECT_TRUE(result.cases[1].repetitions.empty());
  for (const std::size_t other : {0U, 2U}) {
    EXPECT_EQ(result.cases[other].error, "");
    EXPECT_EQ(result.cases[other].repetitions.size(), 3U);
  }
  EXPECT_FALSE(result.interrupted);
}

TEST_F(measure_test, nothing_is_run_of_a_case_after_its_failure) {
  doings.fail_at_verification = 0;
  (void)measure_quietly({fake_case(13)});
  EXPECT_EQ(doings.verified.size(), 1U);
}

TEST_F(measure_test, late_failure_takes_the_trust_in_earlier_repetitions) {
  doings = Doings{};
  const std::vector<Case> cases{fake_case(13)};
  Settings settings = quick_settings();
  settings.repetitions = 4;
  (void)measure_quietly(cases, settings);
  const auto verifications = static_cast<int>(doings.verified.size());

  doings = Doings{};
  doings.fail_at_verification = verifications - 1;
  settings.repetitions = 40;
  const Result result = measure_quietly(cases, settings);
  EXPECT_EQ(result.cases[0].error, "wrong result: expected 10 tasks, counted 9");
  EXPECT_TRUE(result.cases[0].repetitions.empty());
  EXPECT_EQ(static_cast<int>(doings.verified.size()), verifications);
}

TEST_F(measure_test, exception_is_an_error_of_that_case_only) {
  const Result result = measure_quietly({fake_case(1, kThrowing), fake_case(2)});
  EXPECT_EQ(result.cases[0].error, "no such luck");
  EXPECT_EQ(result.cases[1].error, "");
  EXPECT_EQ(result.cases[1].repetitions.size(), 3U);
}

TEST_F(measure_test, worker_count_that_the_scheduler_cannot_have_is_an_error_of_that_case) {
  Case wrong = fake_case(1);
  wrong.workers = 2;
  const Result result = measure_quietly({wrong});
  EXPECT_EQ(result.cases[0].error,
            "could not be set up: current_thread has exactly one worker, not 2");
}

TEST_F(measure_test, stop_keeps_complete_repetitions_and_drops_the_one_under_way) {
  std::stop_source stop;
  Settings settings = quick_settings();
  settings.repetitions = 1'000;
  doings.stop = &stop;
  doings.stop_after = 40;
  const std::vector<Case> cases{fake_case(1), fake_case(2)};
  const Result result = measure(cases, settings, nullptr, stop.get_token());
  EXPECT_TRUE(result.interrupted);
  ASSERT_EQ(result.cases.size(), 2U);
  const auto first = static_cast<std::int64_t>(result.cases[0].repetitions.size());
  const auto second = static_cast<std::int64_t>(result.cases[1].repetitions.size());
  EXPECT_GT(first + second, 10);
  EXPECT_LT(first + second, 41);
  EXPECT_LE(std::abs(first - second), 1) << "cases are level at any moment";
  EXPECT_EQ(result.cases[0].error, "");
  EXPECT_EQ(result.cases[1].error, "");
  for (const auto& repetition : result.cases[0].repetitions) {
    EXPECT_EQ(repetition.iterations, result.cases[0].repetitions[0].iterations);
  }
}

TEST_F(measure_test, stop_during_warmup_leaves_every_case_without_repetitions) {
  std::stop_source stop;
  doings.stop = &stop;
  doings.stop_after = 1;
  const Result result =
      measure_quietly({fake_case(1), fake_case(2)}, quick_settings(), stop.get_token());
  EXPECT_TRUE(result.interrupted);
  ASSERT_EQ(result.cases.size(), 2U);
  for (const auto& one : result.cases) {
    EXPECT_TRUE(one.repetitions.empty());
    EXPECT_EQ(one.error, "");
  }
}

TEST_F(measure_test, stop_before_the_start_runs_nothing) {
  std::stop_source stop;
  stop.request_stop();
  const Result result = measure_quietly({fake_case(1)}, quick_settings(), stop.get_token());
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(doings.iterations, 0);
}

TEST_F(measure_test, progress_goes_from_nothing_to_everything) {
  std::vector<Progress> seen;
  std::vector<std::string> names;
  const std::vector<Case> cases{fake_case(1), fake_case(2)};
  Settings settings = quick_settings();
  settings.repetitions = 40;
  settings.min_time_s = 0.01;
  (void)measure(cases, settings,
                [&](const Progress& progress) {
                  seen.push_back(progress);
                  names.emplace_back(progress.case_name);
                },
                {});
  ASSERT_GE(seen.size(), 3U);
  EXPECT_EQ(seen.front().repetitions_done, 0);
  EXPECT_EQ(seen.front().remaining_s, std::nullopt);
  EXPECT_EQ(names.front(), cases[0].name());
  EXPECT_EQ(names.back(), "");
  EXPECT_EQ(seen.back().repetitions_done, 80);
  ASSERT_TRUE(seen.back().remaining_s.has_value());
  EXPECT_DOUBLE_EQ(*seen.back().remaining_s, 0);
  for (std::size_t i = 1; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i].repetitions_total, 80);
    EXPECT_GE(seen[i].repetitions_done, seen[i - 1].repetitions_done);
    EXPECT_GE(seen[i].elapsed_s, seen[i - 1].elapsed_s);
  }
  const Progress& middle = seen[seen.size() / 2];
  ASSERT_TRUE(middle.remaining_s.has_value());
  const double total = seen.back().elapsed_s;
  EXPECT_NEAR(middle.elapsed_s + *middle.remaining_s, total, total / 2);
}

TEST_F(measure_test, given_iterations_are_kept_and_the_other_cases_go_by_time) {
  Settings settings = quick_settings();
  const std::vector<Case> cases{fake_case(1), fake_case(2)};
  settings.iterations = {{cases[1].name(), 2}};
  settings.min_time_s = 0.1;
  const Result result = measure_quietly(cases, settings);
  for (const auto& repetition : result.cases[0].repetitions) EXPECT_GT(repetition.iterations, 2);
  ASSERT_EQ(result.cases[1].repetitions.size(), 3U);
  for (const auto& repetition : result.cases[1].repetitions) EXPECT_EQ(repetition.iterations, 2);
}

TEST_F(measure_test, min_time_is_reached) {
  Settings settings = quick_settings();
  settings.min_time_s = 0.03;
  const Result result = measure_quietly({fake_case(1, kNapping)}, settings);
  EXPECT_DOUBLE_EQ(result.min_time_s, 0.03);
  EXPECT_DOUBLE_EQ(result.warmup_s, 0.002);
  for (const auto& repetition : result.cases[0].repetitions) {
    // Half of it, as others may have prolonged the naps that determined the count.
    EXPECT_GE(static_cast<double>(repetition.iterations) * repetition.real_ns, 0.015e9);
  }
}

TEST_F(measure_test, time_budget_is_kept_and_used) {
  Settings settings = quick_settings();
  settings.warmup_s = 10;  // shrinks to what the budget allows
  settings.time_budget_s = 1.0;
  const auto start = std::chrono::steady_clock::now();
  const Result result = measure_quietly({fake_case(1), fake_case(2)}, settings);
  const double took =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  double in_repetitions = 0;
  for (const auto& each : result.cases) {
    for (const auto& repetition : each.repetitions)
      in_repetitions += static_cast<double>(repetition.iterations) * repetition.real_ns * 1e-9;
  }
  // If others take the CPU meanwhile, more of the budget is spent around the repetitions.
  const double left_to_them = *settings.time_budget_s - (took - in_repetitions);
  EXPECT_GT(took, 0.5);
  EXPECT_LT(took, 2.5);
  EXPECT_GT(result.min_time_s, std::min(0.05, left_to_them / 12));
  EXPECT_LT(result.min_time_s, 1.0 / 6);
  EXPECT_LT(result.warmup_s, 0.2);
  // Others may have prolonged repetitions so much that no time was left for the last ones.
  EXPECT_TRUE(result.repetitions_left == 0 || took > 0.75) << result.repetitions_left;
  EXPECT_GE(result.cases[1].repetitions.size(), 1U);
}

TEST_F(measure_test, time_budget_bounds_what_takes_longer_than_planned) {
  Settings settings = quick_settings();
  settings.repetitions = 300;  // at least 10 ms each
  settings.time_budget_s = 0.2;
  const auto begin = std::chrono::steady_clock::now();
  const Result result = measure_quietly({fake_case(1)}, settings);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(took.count(), 1.5);
  const auto done = static_cast<std::int64_t>(result.cases.at(0).repetitions.size());
  EXPECT_GE(done, 1);
  EXPECT_EQ(result.repetitions_left, 300 - done);
  EXPECT_FALSE(result.interrupted);
}

TEST_F(measure_test, time_budget_is_exceeded_by_one_repetition_at_most_if_all_take_longer) {
  for (const std::int64_t repetitions : {1, 10}) {
    Settings settings = quick_settings();
    settings.repetitions = repetitions;
    settings.time_budget_s = 2;
    std::vector<Case> cases;
    for (std::uint64_t id = 1; id <= 4; ++id) cases.push_back(fake_case(id, kSlowing));
    const auto begin = std::chrono::steady_clock::now();
    const Result result = measure_quietly(cases, settings);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_GT(took.count(), 1.5);
    EXPECT_LT(took.count(), 2.3) << repetitions << " repetitions";
    for (const auto& each : result.cases) EXPECT_GE(each.repetitions.size(), 1U);
  }
}

TEST_F(measure_test, exhausted_time_budget_still_measures_something) {
  Settings settings = quick_settings();
  settings.time_budget_s = 0.0001;
  const Result result = measure_quietly({fake_case(1)}, settings);
  EXPECT_GT(result.min_time_s, 0);
  EXPECT_EQ(result.cases[0].repetitions.size(), 1U);
  EXPECT_EQ(result.repetitions_left, 2);
}

TEST_F(measure_test, nothing_to_measure_is_no_error) {
  const Result result = measure_quietly({});
  EXPECT_TRUE(result.cases.empty());
  EXPECT_FALSE(result.interrupted);
}

TEST_F(measure_test, flags_in_the_environment_change_nothing) {
  setenv("BENCHMARK_LIST_TESTS", "true", 1);
  setenv("BENCHMARK_REPETITIONS", "5", 1);
  testing::internal::CaptureStdout();
  const Result result = measure_quietly({fake_case(1)});
  const std::string printed = testing::internal::GetCapturedStdout();
  unsetenv("BENCHMARK_LIST_TESTS");
  unsetenv("BENCHMARK_REPETITIONS");
  EXPECT_EQ(result.cases[0].repetitions.size(), 3U);
  EXPECT_EQ(printed, "") << "nothing is printed to stdout";
}

TEST_F(measure_test, names_follow_google_benchmark) {
  Case one = real_case("chained_spawn", "work_stealing", 2);
  EXPECT_EQ(one.name(), "chained_spawn/work_stealing/workers:2");
  one.parameters["length"] = 5;
  EXPECT_EQ(one.name(), "chained_spawn/work_stealing/workers:2/length:5");
  Case two = real_case("yield_many", "current_thread", 1);
  two.parameters["yields"] = 10;
  EXPECT_EQ(two.name(), "yield_many/current_thread/workers:1/yields:10");
  two.parameters["tasks"] = 3;
  EXPECT_EQ(two.name(), "yield_many/current_thread/workers:1/tasks:3/yields:10");
}

TEST_F(measure_test, every_workload_is_measured_on_every_scheduler) {
  std::vector<Case> cases;
  for (const Workload& workload : all()) {
    cases.push_back(real_case(workload.name, "work_stealing", 2));
    cases.push_back(real_case(workload.name, "current_thread", 1));
  }
  for (Case& one : cases) {
    for (auto& [name, value] : one.parameters) value = std::min<std::uint64_t>(value, 8);
  }
  Settings settings = quick_settings();
  settings.repetitions = 2;
  const Result result = measure_quietly(cases, settings);
  for (const auto& one : result.cases) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(one.error, "");
    ASSERT_EQ(one.repetitions.size(), 2U);
    for (const auto& repetition : one.repetitions) {
      EXPECT_GT(repetition.real_ns, 0);
      EXPECT_GT(repetition.cpu_ns, 0);
    }
  }
}

TEST_F(measure_test, in_turn_with_given_iterations_does_the_same_each_time) {
  for (const std::string_view workload : {"spawn_many", "yield_many", "ping_pong"}) {
    const std::vector<Case> cases{real_case(workload, "in_turn", 3)};
    Settings settings = quick_settings();
    settings.repetitions = 1;
    settings.iterations[cases[0].name()] = 3;
    const auto measured_counters = [&] {
      const Result result = measure_quietly(cases, settings);
      EXPECT_EQ(result.cases[0].error, "");
      EXPECT_EQ(result.cases[0].repetitions.size(), 1U);
      EXPECT_EQ(result.cases[0].repetitions.at(0).iterations, 3);
      auto counters = result.cases[0].repetitions.at(0).counters;
      EXPECT_EQ(counters.erase("voluntary_switches"), 1U);  // those of the kernel vary
      EXPECT_EQ(counters.erase("involuntary_switches"), 1U);
      counters.erase("queued_ns");
      return counters;
    };
    EXPECT_EQ(measured_counters(), measured_counters()) << workload;
  }
}

TEST_F(measure_test, counters_are_per_iteration) {
  const Result result = measure_quietly(
      {real_case("spawn_local", "work_stealing", 2), real_case("yield_many", "work_stealing", 1)});
  const std::set<std::string> expected{"steals",
                                       "stolen",
                                       "parks",
                                       "wakeups",
                                       "overflows",
                                       "polls",
                                       "lifo_hits",
                                       "local_schedules",
                                       "remote_schedules",
                                       "searches",
                                       "injector",
                                       "yields",
                                       "hand_offs",
                                       "voluntary_switches",
                                       "involuntary_switches"};
  for (const auto& one : result.cases) {
    ASSERT_EQ(one.error, "");
    for (const auto& repetition : one.repetitions) {
      std::set<std::string> names;
      for (const auto& [name, value] : repetition.counters) {
        names.insert(name);
        EXPECT_GE(value, 0) << name;
      }
      EXPECT_EQ(names.erase("queued_ns"), read_schedules().empty() ? 0U : 1U);
      EXPECT_EQ(names, expected);
    }
  }
#if !defined(TASKBENCH_NO_COUNTERS)
  for (const auto& repetition : result.cases[0].repetitions) {
    EXPECT_NEAR(repetition.counters.at("polls"), 10'001, 50);  // the tasks and their spawner
  }
  for (const auto& repetition : result.cases[1].repetitions) {
    EXPECT_NEAR(repetition.counters.at("yields"), 200'000, 500);
  }
#endif
}

TEST_F(measure_test, pinned_run_is_measured_like_any_other) {
  Settings settings = quick_settings();
  settings.pin = true;
  const Result result = measure_quietly(
      {real_case("spawn_local", "work_stealing", 3), real_case("spawn_local", "current_thread", 1)},
      settings);
  for (const auto& one : result.cases) {
    EXPECT_EQ(one.error, "") << one.name;
    EXPECT_EQ(one.repetitions.size(), 3U) << one.name;
  }
}

}  // namespace
}  // namespace taskbench::harness
