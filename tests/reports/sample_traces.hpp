// A trace made by hand.
#pragma once

#include "reports/model/trace.hpp"

namespace taskbench::reports::samples {

/// Two workers and one iteration of 10,000.5 µs. Task 1 is spawned outside, polled by worker 0,
/// where it goes idle, woken there by task 2, and polled to its end by worker 1, which steals it.
inline model::Trace small_trace() {
  using model::TraceInstantKind;
  using model::TracePollEnd;
  model::Trace trace;
  trace.case_name = "ping_pong/work_stealing/workers:2";
  trace.environment.cpu_model = "A \"quoted\" CPU";
  trace.environment.taskbench_version = "0.1.0";
  trace.clock = "tsc";
  trace.event_cost_ns = 15.4;
  trace.length_ns = 10'000'500;
  trace.iterations = {{0, 10'000'500}};
  trace.outside.instants = {{100, TraceInstantKind::spawn, 1, 0, 0},
                            {150, TraceInstantKind::notify, 0, 1, 0}};
  trace.outside.event_count = 2;
  model::TraceRow first;
  first.polls = {{{1'001, 3'000}, 1, TracePollEnd::idle},
                 {{3'000, 5'000'000}, 2, TracePollEnd::finished}};
  first.instants = {{900, TraceInstantKind::injector_take, 0, 0, 2},
                    {2'000, TraceInstantKind::spawn, 2, 0, 0},
                    {4'000, TraceInstantKind::wake, 1, 0, 0},
                    {4'500, TraceInstantKind::overflow, 0, 0, 129}};
  first.event_count = 8;
  model::TraceRow second;
  second.parks = {{0, 2'500}};
  second.searches = {{2'500, 6'000}};
  second.polls = {{{6'000, 6'001}, 1, TracePollEnd::finished}};
  second.instants = {{5'500, TraceInstantKind::steal, 0, 0, 1}};
  second.event_count = 7;
  second.lost_count = 1'234;
  second.known_from_ns = 500;
  trace.workers = {first, second};
  return trace;
}

}  // namespace taskbench::reports::samples
