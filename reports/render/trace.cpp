#include "reports/render/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "reports/render/figures.hpp"
#include "reports/render/numbers.hpp"

namespace taskbench::reports::render {
namespace {

using model::TraceInstantKind;
using model::TraceRow;
using model::TraceSpan;

std::uint64_t count_of(const TraceRow& row, TraceInstantKind kind) {
  return static_cast<std::uint64_t>(
      std::ranges::count(row.instants, kind, &model::TraceInstant::kind));
}

std::int64_t length_of(const TraceSpan& span) { return span.end_ns - span.begin_ns; }

std::int64_t length_of(const model::TracePoll& poll) { return length_of(poll.span); }

double total_ns(const auto& list) {
  std::int64_t total = 0;
  for (const auto& each : list) total += length_of(each);
  return static_cast<double>(total);
}

std::vector<Cell> cells(const std::string& name, const TraceRow& row, std::int64_t length_ns,
                        bool is_worker) {
  const Cell none{std::string(kNone)};
  const auto number = [](std::uint64_t value) {
    return Cell(with_separators(value), Tone::plain, static_cast<double>(value));
  };
  // Cells for activities of workers only.
  const auto own = [&](Cell cell) { return is_worker ? std::move(cell) : none; };
  const auto count = [&](TraceInstantKind kind) { return number(count_of(row, kind)); };
  const auto size = [&](const auto& spans) { return own(number(spans.size())); };
  const auto known_ns = static_cast<double>(length_ns - row.known_from_ns);
  const auto share = [&](const auto& list) {
    const double part = total_ns(list) / known_ns;
    return known_ns > 0 ? own({percent(part), Tone::plain, part}) : none;
  };
  std::int64_t longest_ns = 0;
  for (const auto& poll : row.polls) longest_ns = std::max(longest_ns, length_of(poll));
  const auto longest = static_cast<double>(longest_ns);
  return {name,
          size(row.polls),
          count(TraceInstantKind::spawn),
          count(TraceInstantKind::wake),
          own(count(TraceInstantKind::steal)),
          own(count(TraceInstantKind::overflow)),
          size(row.parks),
          share(row.polls),
          share(row.searches),
          share(row.parks),
          row.polls.empty() ? none : Cell(time_text(longest), Tone::plain, longest),
          number(row.event_count),
          number(row.lost_count)};
}

std::string trace_basis(const model::Trace& trace) {
  std::string text = fmt::format(
      "polling, search, parked: shares of the worker's time, from the beginning of the first "
      "iteration to the end of the workers; the rest is the scheduler's own. longest: of its "
      "polls. Recording an event takes about {:.0f} ns on this machine, so that short polls look "
      "longer than they are.",
      trace.event_cost_ns);
  const auto lost = [](const TraceRow& row) { return row.lost_count > 0; };
  if (std::ranges::any_of(trace.workers, lost) || lost(trace.outside)) {
    text +=
        " Lost: older events that made room for newer ones; raise --events, or run fewer "
        "--iterations.";
  }
  return text;
}

}  // namespace

Document document(const model::Trace& trace) {
  Table table{.columns =
                  named_figures({"", "polls", "spawns", "wakes", "steals", "ovfl", "parks",
                                 "polling", "search", "parked", "longest", "events", "lost"})};
  for (std::size_t i = 0; i < trace.workers.size(); ++i) {
    table.add(cells(fmt::format("worker {}", i), trace.workers[i], trace.length_ns, true));
  }
  table.add(cells("outside", trace.outside, trace.length_ns, false));
  Section section{"result", "", {std::move(table), Paragraph{trace_basis(trace), Tone::quiet}}};
  if (const std::string machine = provenance(trace.environment); !machine.empty()) {
    section.say(fmt::format("On {}.", machine), Tone::quiet);
  }
  return {
      fmt::format("{} · {} in {}", trace.case_name, counted(trace.iterations.size(), "iteration"),
                  time_text(static_cast<double>(trace.length_ns))),
      {},
      {std::move(section)},
      {}};
}

}  // namespace taskbench::reports::render
