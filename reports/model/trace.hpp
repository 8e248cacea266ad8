// The activity of every worker over time, while a case was traced.
//
// Times are in ns since the beginning of the trace. The lists of a row are sorted by time, and the
// activities of one row do not overlap: a worker polls, parks, searches, or does something shorter
// in between.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/model/run.hpp"

namespace taskbench::reports::model {

struct TraceSpan {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// The outcome of polling a task.
enum class TracePollEnd : std::uint8_t { finished, idle, yielded, woken };

struct TracePoll {
  TraceSpan span;
  std::uint64_t task = 0;  ///< 0: not known, since the beginning of the poll was lost
  TracePollEnd end = TracePollEnd::finished;
};

enum class TraceInstantKind : std::uint8_t {
  spawn,          ///< `task` was spawned
  wake,           ///< `task` was woken
  steal,          ///< `count` tasks were stolen from `worker`
  overflow,       ///< `count` tasks went from the full local queue to the injector
  injector_take,  ///< `count` tasks were taken from the injector
  notify,         ///< `worker` was woken
};

struct TraceInstant {
  std::int64_t at_ns = 0;
  TraceInstantKind kind = TraceInstantKind::spawn;
  std::uint64_t task = 0;
  std::uint32_t worker = 0;
  std::uint32_t count = 0;
};

struct TraceRow {
  std::vector<TracePoll> polls;
  std::vector<TraceSpan> parks;
  std::vector<TraceSpan> searches;
  std::vector<TraceInstant> instants;
  std::uint64_t event_count = 0;
  std::uint64_t lost_count = 0;    ///< older events, overwritten by newer ones
  std::int64_t known_from_ns = 0;  ///< earlier events are lost
};

struct Trace {
  std::string case_name;
  Environment environment;
  std::string clock;         ///< the source of the times
  double event_cost_ns = 0;  ///< the cost of recording one event on this machine
  std::int64_t length_ns = 0;
  std::vector<TraceSpan> iterations;
  std::vector<TraceRow> workers;
  TraceRow outside;  ///< activity of threads that are not workers
};

}  // namespace taskbench::reports::model
