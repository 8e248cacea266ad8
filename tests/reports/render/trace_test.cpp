#include "reports/render/render.hpp"

#include <gtest/gtest.h>

#include <string>

#include "reports/render/columns.hpp"
#include "tests/reports/printed.hpp"
#include "tests/reports/sample_traces.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::render {
namespace {

std::string line_with(const std::string& text, const std::string& begin) {
  for (const std::string& line : text_lines(text)) {
    if (line.starts_with(begin)) return line;
  }
  return "";
}

/// The cells of a line, which are separated by two or more spaces.
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> result;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = line.find("  ", at);
    if (end == std::string::npos) end = line.size();
    result.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(' ', end);
  }
  return result;
}

TEST(TraceTable, has_a_line_for_each_worker_and_one_for_the_threads_outside) {
  model::Trace trace = samples::small_trace();
  trace.length_ns = 10'000;
  trace.workers[0].polls[1].span.end_ns = 5'000;
  const std::string text = table(trace, {});
  EXPECT_EQ(cells(line_with(text, "worker 0")),
            (Cells{"worker 0", "2", "1", "1", "0", "1", "0", "40.0 %", "0.0 %", "0.0 %", "2.000 µs",
                   "8", "0"}));
  // Shares refer to the known time: 9,500 ns.
  EXPECT_EQ(cells(line_with(text, "worker 1")),
            (Cells{"worker 1", "1", "0", "0", "1", "0", "1", "0.0 %", "36.8 %", "26.3 %",
                   "1.000 ns", "7", "1,234"}));
  EXPECT_EQ(cells(line_with(text, "outside")),
            (Cells{"outside", "–", "1", "0", "–", "–", "–", "–", "–", "–", "–", "2", "0"}));
}

TEST(TraceTable, says_what_was_run_and_what_an_event_costs) {
  const std::string text = table(samples::small_trace(), {.width = 1000});
  EXPECT_TRUE(text.starts_with("ping_pong/work_stealing/workers:2 · 1 iteration in 10.00 ms\n"));
  EXPECT_TRUE(contains(text, "an event takes about 15 ns"));
}

TEST(TraceTable, advises_on_lost_events_only_where_some_were) {
  model::Trace trace = samples::small_trace();
  EXPECT_TRUE(contains(table(trace, {}), "--events"));
  trace.workers[1].lost_count = 0;
  EXPECT_FALSE(contains(table(trace, {}), "--events"));
}

TEST(TraceTable, text_below_fits_the_width) {
  const std::string text = table(samples::small_trace(), {.width = 60});
  for (const auto& line : text_lines(text.substr(text.find("\n\n", text.find("outside"))))) {
    EXPECT_LE(display_width(line), 60U) << line;
  }
}

}  // namespace
}  // namespace taskbench::reports::render
