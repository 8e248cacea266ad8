// Conversion of the runtime's events to slices, and a traced case.
#include "harness/bench/tracing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>

namespace taskbench::harness {
namespace {

namespace model = reports::model;
using namespace workloads;
using rt::PollEnd;
using rt::TraceEvent;
using rt::TraceEventKind;
using Time = std::chrono::steady_clock::time_point;

constexpr std::int64_t kStart_ns = 1'000'000;

TraceEvent event(TraceEventKind kind, std::int64_t at_ns, std::uint64_t task = 0) {
  TraceEvent result;
  result.kind = kind;
  result.at_ns = kStart_ns + at_ns;
  result.task = task;
  return result;
}

IterationTime iteration(std::int64_t begin_ns, std::int64_t end_ns) {
  const auto time = [](std::int64_t ns) { return Time(std::chrono::nanoseconds(kStart_ns + ns)); };
  return {time(begin_ns), time(end_ns)};
}

void expect_span(const model::TraceSpan& span, std::int64_t begin_ns, std::int64_t end_ns) {
  EXPECT_EQ(span.begin_ns, begin_ns);
  EXPECT_EQ(span.end_ns, end_ns);
}

TEST(tracing_test, events_become_slices_and_instants_from_the_first_time_on) {
  rt::Trace recorded;
  recorded.clock = "tsc";
  recorded.workers.resize(1);
  recorded.workers[0].events = {
      event(TraceEventKind::park, 10),         event(TraceEventKind::unpark, 20),
      event(TraceEventKind::search_start, 21), event(TraceEventKind::steal, 25),
      event(TraceEventKind::search_end, 30),   event(TraceEventKind::poll_start, 31, 7),
      event(TraceEventKind::wake, 35, 3),      event(TraceEventKind::poll_end, 40, 7)};
  recorded.workers[0].events[3].worker = 2;
  recorded.workers[0].events[3].count = 5;
  recorded.workers[0].events.back().poll_end = PollEnd::yielded;
  recorded.outside.events = {event(TraceEventKind::spawn, 2, 7)};
  const model::Trace trace = to_model(recorded, {iteration(0, 33), iteration(34, 50)});

  EXPECT_EQ(trace.clock, "tsc");
  EXPECT_EQ(trace.length_ns, 50);
  ASSERT_EQ(trace.iterations.size(), 2U);
  expect_span(trace.iterations[1], 34, 50);
  const model::TraceRow& row = trace.workers.at(0);
  EXPECT_EQ(row.event_count, 8U);
  ASSERT_EQ(row.parks.size(), 1U);
  expect_span(row.parks[0], 10, 20);
  ASSERT_EQ(row.searches.size(), 1U);
  expect_span(row.searches[0], 21, 30);
  ASSERT_EQ(row.polls.size(), 1U);
  expect_span(row.polls[0].span, 31, 40);
  EXPECT_EQ(row.polls[0].task, 7U);
  EXPECT_EQ(row.polls[0].end, model::TracePollEnd::yielded);
  ASSERT_EQ(row.instants.size(), 2U);
  EXPECT_EQ(row.instants[0].kind, model::TraceInstantKind::steal);
  EXPECT_EQ(row.instants[0].worker, 2U);
  EXPECT_EQ(row.instants[0].count, 5U);
  EXPECT_EQ(row.instants[1].task, 3U);
  EXPECT_EQ(trace.outside.instants.at(0).at_ns, 2);
}

TEST(tracing_test, what_began_before_begins_with_the_trace_and_what_does_not_end_ends_with_it) {
  rt::Trace recorded;
  recorded.workers.resize(2);
  recorded.workers[0].events = {event(TraceEventKind::unpark, 20),
                                event(TraceEventKind::search_start, 30)};
  recorded.workers[1].events = {event(TraceEventKind::search_end, 15),
                                event(TraceEventKind::park, 18)};
  const model::Trace trace = to_model(recorded, {iteration(0, 100)});
  expect_span(trace.workers[0].parks.at(0), 0, 20);
  expect_span(trace.workers[0].searches.at(0), 30, 100);
  expect_span(trace.workers[1].searches.at(0), 0, 15);
  expect_span(trace.workers[1].parks.at(0), 18, 100);
}

TEST(tracing_test, a_row_that_lost_events_begins_with_its_first_one) {
  rt::Trace recorded;
  recorded.workers.resize(1);
  recorded.workers[0].lost = 3;
  recorded.workers[0].events = {event(TraceEventKind::poll_end, 60),
                                event(TraceEventKind::park, 70)};
  const model::Trace trace = to_model(recorded, {iteration(0, 100)});
  const model::TraceRow& row = trace.workers[0];
  EXPECT_EQ(row.lost_count, 3U);
  EXPECT_EQ(row.known_from_ns, 60);
  expect_span(row.polls.at(0).span, 60, 60);
  EXPECT_EQ(row.polls.at(0).task, 0U);
}

TEST(tracing_test, events_before_the_first_iteration_are_not_at_negative_times) {
  rt::Trace recorded;
  recorded.workers.resize(1);
  recorded.workers[0].events = {event(TraceEventKind::search_end, -40)};
  const model::Trace trace = to_model(recorded, {iteration(0, 100)});
  expect_span(trace.workers[0].searches.at(0), 0, 0);
  expect_span(trace.iterations.at(0), 40, 140);
}

TEST(tracing_test, of_nothing_is_empty) { EXPECT_EQ(to_model({}, {}).length_ns, 0); }

Case small_case(std::string_view workload, std::string_view scheduler, unsigned workers) {
  Case spec{find(workload), find_scheduler(scheduler), workers, defaults(*find(workload))};
  for (auto& [name, value] : spec.parameters) value = std::min<std::uint64_t>(value, 20);
  return spec;
}

std::uint64_t spawns(const model::TraceRow& row) {
  return static_cast<std::uint64_t>(
      std::ranges::count(row.instants, model::TraceInstantKind::spawn, &model::TraceInstant::kind));
}

TEST(tracing_test, only_the_iterations_that_were_asked_for_are_traced) {
  for (const std::string_view scheduler : {"work_stealing", "current_thread"}) {
    SCOPED_TRACE(scheduler);
    const Case spec = small_case("spawn_many", scheduler, 1);
    TraceSettings settings;
    settings.iterations = 3;
    settings.warmup_iterations = 4;
    std::vector<std::int64_t> seen;
    const auto progress = [&](std::int64_t done, std::int64_t all) {
      EXPECT_EQ(all, 7);
      seen.push_back(done);
    };
    const TraceOutcome outcome = trace_case(spec, settings, progress, {});
    EXPECT_EQ(outcome.error, "");
    EXPECT_FALSE(outcome.interrupted);
    EXPECT_EQ(seen, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(outcome.trace.case_name, spec.name());
    EXPECT_EQ(outcome.trace.iterations.size(), 3U);
    EXPECT_GT(outcome.trace.event_cost_ns, 0);
    EXPECT_EQ(spawns(outcome.trace.outside) + spawns(outcome.trace.workers.at(0)), 3U * 20);
  }
}

TEST(tracing_test, every_workload_can_be_traced) {
  for (const Workload& workload : all()) {
    SCOPED_TRACE(workload.name);
    const TraceOutcome outcome =
        trace_case(small_case(workload.name, "work_stealing", 2), {}, {}, {});
    EXPECT_EQ(outcome.error, "");
    const auto polls = [](std::size_t sum, const model::TraceRow& row) {
      return sum + row.polls.size();
    };
    const auto& workers = outcome.trace.workers;
    EXPECT_GT(std::accumulate(workers.begin(), workers.end(), std::size_t{0}, polls), 0U);
  }
}

TEST(tracing_test, a_stop_ends_it_after_the_iteration_under_way) {
  TraceSettings settings;
  settings.warmup_iterations = 1;
  settings.iterations = 5;
  for (const std::int64_t last : {0, 1, 3}) {
    std::stop_source stop;
    const auto progress = [&](std::int64_t done, std::int64_t) {
      if (done == last) stop.request_stop();
    };
    const TraceOutcome outcome = trace_case(small_case("chained_spawn", "work_stealing", 2),
                                            settings, progress, stop.get_token());
    EXPECT_TRUE(outcome.interrupted);
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(static_cast<std::int64_t>(outcome.trace.iterations.size()), last);
  }
}

}  // namespace
}  // namespace taskbench::harness
