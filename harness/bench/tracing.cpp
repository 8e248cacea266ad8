#include "harness/bench/tracing.hpp"

#include <array>
#include <exception>
#include <limits>
#include <memory>

namespace taskbench::harness {
namespace {

using rt::TraceEvent;
using rt::TraceEventKind;
std::int64_t ns_of(Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

// The model's poll ends are those of the runtime.
static_assert(int(rt::PollEnd::finished) == int(model::TracePollEnd::finished) &&
              int(rt::PollEnd::idle) == int(model::TracePollEnd::idle) &&
              int(rt::PollEnd::yielded) == int(model::TracePollEnd::yielded) &&
              int(rt::PollEnd::woken) == int(model::TracePollEnd::woken));

model::TraceInstantKind kind_of(const TraceEvent& instant) {
  using Instant = model::TraceInstantKind;
  static constexpr std::array<std::pair<TraceEventKind, Instant>, 6> kKinds{
      {{TraceEventKind::spawn, Instant::spawn},
       {TraceEventKind::wake, Instant::wake},
       {TraceEventKind::steal, Instant::steal},
       {TraceEventKind::overflow, Instant::overflow},
       {TraceEventKind::injector_take, Instant::injector_take},
       {TraceEventKind::notify, Instant::notify}}};
  return std::ranges::find(kKinds, instant.kind, &std::pair<TraceEventKind, Instant>::first)
      ->second;
}

/// Turns the events of one row into slices and instants.
class RowBuilder {
 public:
  RowBuilder(const rt::TraceRow& recorded, std::int64_t origin_ns, std::int64_t length_ns)
      : origin_ns_(origin_ns), length_ns_(length_ns) {
    row_.event_count = recorded.events.size();
    row_.lost_count = recorded.lost;
    if (recorded.lost > 0) {
      row_.known_from_ns = recorded.events.empty() ? length_ns : time_of(recorded.events.front());
    }
    for (const TraceEvent& event : recorded.events) add(event);
    if (parked_since_) row_.parks.push_back({*parked_since_, length_ns_});
    if (searching_since_) row_.searches.push_back({*searching_since_, length_ns_});
  }

  [[nodiscard]] model::TraceRow take() { return std::move(row_); }

 private:
  [[nodiscard]] std::int64_t time_of(const TraceEvent& event) const {
    return event.at_ns - origin_ns_;
  }

  void add(const TraceEvent& event) {
    const std::int64_t at_ns = time_of(event);
    switch (event.kind) {
      case TraceEventKind::poll_start:
        polling_since_ = at_ns;
        break;
      case TraceEventKind::poll_end:
        row_.polls.push_back({close(polling_since_, at_ns), event.task,
                              static_cast<model::TracePollEnd>(event.poll_end)});
        break;
      case TraceEventKind::park:
        parked_since_ = at_ns;
        break;
      case TraceEventKind::unpark:
        row_.parks.push_back(close(parked_since_, at_ns));
        break;
      case TraceEventKind::search_start:
        searching_since_ = at_ns;
        break;
      case TraceEventKind::search_end:
        row_.searches.push_back(close(searching_since_, at_ns));
        break;
      default:
        row_.instants.push_back({at_ns, kind_of(event), event.task, event.worker, event.count});
    }
  }

  /// Only the first slice of a row can lack its beginning.
  model::TraceSpan close(std::optional<std::int64_t>& since, std::int64_t at_ns) const {
    const model::TraceSpan span{since.value_or(row_.known_from_ns), at_ns};
    since.reset();
    return span;
  }

  const std::int64_t origin_ns_;
  const std::int64_t length_ns_;
  std::optional<std::int64_t> polling_since_;
  std::optional<std::int64_t> parked_since_;
  std::optional<std::int64_t> searching_since_;
  model::TraceRow row_;
};

/// The workload on a runtime of its own, from the warm-up to the shutdown.
class TracedCase {
 public:
  TracedCase(const Case& spec, const TraceSettings& settings)
      : settings_(settings),
        runtime_(rt::Runtime::Builder{}
                     .scheduler(*spec.scheduler)
                     .workers(spec.workers)
                     .seed(settings.seed)
                     .trace(settings.events)
                     .build()),
        instance_(spec.workload->make(runtime_, spec.parameters)) {}

  /// False if it was interrupted.
  bool run(const TraceProgress& progress, const std::stop_token& stop) {
    const std::int64_t all = settings_.warmup_iterations + settings_.iterations;
    for (std::int64_t i = 0; i < all; ++i) {
      if (stop.stop_requested()) return false;
      if (progress) progress(i, all);
      if (i == settings_.warmup_iterations) runtime_.discard_trace();
      const Clock::time_point begin = Clock::now();
      instance_->run_iteration();
      if (i >= settings_.warmup_iterations) iterations_.push_back({begin, Clock::now()});
    }
    return true;
  }

  /// Ends the workers. Returns the workload's complaint, if any.
  std::optional<std::string> end() {
    runtime_.shutdown();
    return instance_->verify();
  }

  [[nodiscard]] model::Trace trace() const { return to_model(runtime_.trace(), iterations_); }
  [[nodiscard]] bool has_iterations() const { return !iterations_.empty(); }

 private:
  const TraceSettings settings_;
  rt::Runtime runtime_;
  std::unique_ptr<workloads::Instance> instance_;
  std::vector<IterationTime> iterations_;
};

}  // namespace

TraceOutcome trace_case(const Case& spec, const TraceSettings& settings,
                        const TraceProgress& progress, const std::stop_token& stop) {
  TraceOutcome outcome;
  TracedCase traced(spec, settings);
  try {
    outcome.interrupted = !traced.run(progress, stop);
  } catch (const std::exception& error) {
    outcome.error = error.what();
  }
  if (const auto wrong = traced.end(); wrong && outcome.error.empty()) {
    outcome.error = fmt::format("wrong result: {}", *wrong);
  }
  if (traced.has_iterations()) outcome.trace = traced.trace();
  outcome.trace.case_name = spec.name();
  outcome.trace.event_cost_ns = rt::trace_event_cost_ns();
  return outcome;
}

model::Trace to_model(const rt::Trace& recorded, const std::vector<IterationTime>& iterations) {
  std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();
  const auto include = [&](std::int64_t at_ns) {
    begin_ns = std::min(begin_ns, at_ns);
    end_ns = std::max(end_ns, at_ns);
  };
  const auto include_row = [&](const rt::TraceRow& row) {
    if (row.events.empty()) return;
    include(row.events.front().at_ns);
    include(row.events.back().at_ns);
  };
  for (const IterationTime& each : iterations) {
    include(ns_of(each.begin));
    include(ns_of(each.end));
  }
  for (const rt::TraceRow& row : recorded.workers) include_row(row);
  include_row(recorded.outside);

  model::Trace trace;
  if (begin_ns > end_ns) return trace;
  trace.clock = recorded.clock;
  trace.length_ns = end_ns - begin_ns;
  for (const IterationTime& each : iterations) {
    trace.iterations.push_back({ns_of(each.begin) - begin_ns, ns_of(each.end) - begin_ns});
  }
  for (const rt::TraceRow& row : recorded.workers) {
    trace.workers.push_back(RowBuilder(row, begin_ns, trace.length_ns).take());
  }
  trace.outside = RowBuilder(recorded.outside, begin_ns, trace.length_ns).take();
  return trace;
}

}  // namespace taskbench::harness
