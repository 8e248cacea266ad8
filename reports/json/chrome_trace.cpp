#include "reports/json/chrome_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <vector>

#include "reports/json/field.hpp"

namespace taskbench::reports::json {

template <>
inline constexpr auto kWords<model::TracePollEnd> = words("finished", "idle", "yielded", "woken");

/// The facts that apply to the whole trace.
void describe(Writer& io, const model::Trace& trace) {
  const model::Environment& from = trace.environment;
  io("case", trace.case_name);
  io("iterations", trace.iterations.size());
  io("clock", trace.clock);
  io("event_cost_ns", trace.event_cost_ns);
  io.part("events_lost", [&](Writer& lost) {
    for (std::size_t i = 0; i < trace.workers.size(); ++i) {
      lost(fmt::format("worker {}", i), trace.workers[i].lost_count);
    }
    lost("outside", trace.outside.lost_count);
  });
  io("taskbench_version", from.taskbench_version);
  io("git_commit", from.git_commit);
  io("build_type", from.build_type);
  io("date", from.date);
  io("cpu_model", from.cpu_model);
  io("cpu_count", from.cpu_count);
  io("kernel", from.kernel);
}

namespace {

using model::TraceInstant;

constexpr int kProcess = 1;
// Perfetto would interpret thread 0 as the idle thread of a CPU.
constexpr std::size_t kOutside = 1;
constexpr std::size_t kFirstWorker = 2;

/// Kinds of lines, in the order of writing for equal times: an enclosing slice comes before the
/// slices in it, and an arrow is tied to the slice that was opened last.
enum class Line : std::uint8_t { iteration, park, search, poll, instant, arrow_begin, arrow_end };
constexpr std::string_view kPhases = "XXXXisf";  // the format's letter for each

struct Entry {
  std::int64_t at_ns;
  Line line;
  std::size_t thread;
  std::string rest;  ///< the line after its row and time
};

const model::TraceRow& row_of(const model::Trace& trace, std::size_t thread) {
  return thread == kOutside ? trace.outside : trace.workers[thread - kFirstWorker];
}

std::size_t thread_count(const model::Trace& trace) { return kFirstWorker + trace.workers.size(); }

/// One spawn, wake or poll of a task.
struct Point {
  std::uint64_t task;
  std::int64_t at_ns;
  bool is_poll;
  std::size_t thread;
};

std::vector<Point> points_of_tasks(const model::Trace& trace) {
  std::vector<Point> points;
  for (std::size_t thread = kOutside; thread < thread_count(trace); ++thread) {
    const model::TraceRow& row = row_of(trace, thread);
    for (const TraceInstant& each : row.instants) {
      if (each.task != 0) points.push_back({each.task, each.at_ns, false, thread});
    }
    for (const model::TracePoll& each : row.polls) {
      if (each.task != 0) points.push_back({each.task, each.span.begin_ns, true, thread});
    }
  }
  std::ranges::sort(points, {}, [](const Point& point) {
    return std::tuple(point.task, point.at_ns, point.is_poll);
  });
  return points;
}

/// A time in the format's unit, to the ns.
std::string in_us(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

/// The output for each kind of instant, in their order: its name, category and arguments, as a
/// format of its task, worker and count.
constexpr std::array<std::array<const char*, 3>, 6> kInstants{
    {{"spawn", "task", R"("task":{0})"},
     {"wake", "task", R"("task":{0})"},
     {"steal", "queue", R"("from_worker":{1},"tasks":{2})"},
     {"overflow", "queue", R"("tasks":{2})"},
     {"take from injector", "queue", R"("tasks":{2})"},
     {"unpark", "worker", R"("worker":{1})"}}};

std::string instant_text(const TraceInstant& each) {
  const auto& [name, category, arguments] = kInstants[static_cast<std::size_t>(each.kind)];
  return fmt::format(R"("name":"{}","cat":"{}","s":"t","args":{{{}}})", name, category,
                     fmt::format(fmt::runtime(arguments), each.task, each.worker, each.count));
}

std::string slice_text(std::string_view name, std::string_view category,
                       const model::TraceSpan& span, const std::string& arguments) {
  return fmt::format(R"("name":"{}","cat":"{}","dur":{},"args":{{{}}})", name, category,
                     in_us(span.end_ns - span.begin_ns), arguments);
}

std::string poll_text(const model::TracePoll& poll) {
  const std::string end = fmt::format(R"("end":"{}")", word_of(poll.end));
  if (poll.task == 0) return slice_text("task ?", "poll", poll.span, end);
  return slice_text(fmt::format("task {}", poll.task), "poll", poll.span,
                    fmt::format(R"("task":{},{})", poll.task, end));
}

/// Adds an arrow to each poll from its cause: the last spawn or wake of its task since the previous
/// poll.
void add_arrows(const model::Trace& trace, std::vector<Entry>& entries) {
  const std::vector<Point> points = points_of_tasks(trace);
  std::size_t number = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Point& cause = points[i - 1];
    const Point& poll = points[i];
    if (cause.task != poll.task || cause.is_poll || !poll.is_poll) continue;
    const std::string arrow = fmt::format(R"("name":"runs","cat":"task","id":{})", ++number);
    entries.push_back({cause.at_ns, Line::arrow_begin, cause.thread, arrow});
    entries.push_back({poll.at_ns, Line::arrow_end, poll.thread, arrow + R"(,"bp":"e")"});
  }
}

std::vector<Entry> entries_of(const model::Trace& trace) {
  std::vector<Entry> entries;
  const auto add_spans = [&](Line line, std::size_t thread, const char* name,
                             const std::vector<model::TraceSpan>& spans) {
    for (const auto& span : spans) {
      entries.push_back({span.begin_ns, line, thread, slice_text(name, "worker", span, "")});
    }
  };
  for (std::size_t i = 0; i < trace.iterations.size(); ++i) {
    const model::TraceSpan& span = trace.iterations[i];
    const std::string name = fmt::format("iteration {}", i + 1);
    entries.push_back(
        {span.begin_ns, Line::iteration, kOutside, slice_text(name, "iteration", span, "")});
  }
  for (std::size_t thread = kOutside; thread < thread_count(trace); ++thread) {
    const model::TraceRow& row = row_of(trace, thread);
    add_spans(Line::park, thread, "parked", row.parks);
    add_spans(Line::search, thread, "searching", row.searches);
    for (const auto& poll : row.polls) {
      entries.push_back({poll.span.begin_ns, Line::poll, thread, poll_text(poll)});
    }
    for (const TraceInstant& each : row.instants) {
      entries.push_back({each.at_ns, Line::instant, thread, instant_text(each)});
    }
  }
  add_arrows(trace, entries);
  std::ranges::stable_sort(entries, {}, [](const Entry& entry) {
    return std::tuple(entry.at_ns, entry.line, entry.thread);
  });
  return entries;
}

std::string metadata(std::string_view name, std::size_t thread, std::string_view argument,
                     const auto& value) {
  Writer line;
  line("ph", "M");
  line("pid", kProcess);
  line("tid", thread);
  line("name", name);
  line.part("args", [&](Writer& part) { part(std::string(argument), value); });
  return line_text(line.object);
}

std::string names_of_rows(const model::Trace& trace) {
  std::string text = metadata("process_name", 0, "name", "taskbench " + trace.case_name);
  for (std::size_t thread = kOutside; thread < thread_count(trace); ++thread) {
    const std::string name = thread == kOutside ? "outside the scheduler"
                                                : fmt::format("worker {}", thread - kFirstWorker);
    text += ",\n" + metadata("thread_name", thread, "name", name);
    text += ",\n" + metadata("thread_sort_index", thread, "sort_index", thread);
  }
  return text;
}

}  // namespace

std::string to_chrome_trace(const model::Trace& trace) {
  std::string text = R"({"displayTimeUnit":"ns","otherData":)";
  text += line_text(trace);
  text += ",\"traceEvents\":[\n" + names_of_rows(trace);
  for (const Entry& entry : entries_of(trace)) {
    fmt::format_to(std::back_inserter(text), R"(,{}{{"ph":"{}","pid":{},"tid":{},"ts":{},{}}})",
                   '\n', kPhases[static_cast<std::size_t>(entry.line)], kProcess, entry.thread,
                   in_us(entry.at_ns), entry.rest);
  }
  return text + "\n]}\n";
}

}  // namespace taskbench::reports::json
