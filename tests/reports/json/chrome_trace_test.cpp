#include "reports/json/chrome_trace.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/reports/sample_traces.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::json {
namespace {

using PlainJson = nlohmann::json;

PlainJson parsed(const model::Trace& trace) { return PlainJson::parse(to_chrome_trace(trace)); }

std::vector<PlainJson> lines_of(const PlainJson& document, const std::string& phase) {
  std::vector<PlainJson> lines;
  for (const PlainJson& line : document.at("traceEvents")) {
    if (line.at("ph") == phase) lines.push_back(line);
  }
  return lines;
}

PlainJson find(const PlainJson& document, const std::string& name, int thread) {
  for (const PlainJson& line : document.at("traceEvents")) {
    if (line.at("name") == name && line.at("tid") == thread) return line;
  }
  return nullptr;
}

TEST(ChromeTrace, rows_are_named_and_sorted_below_the_process) {
  const PlainJson document = parsed(samples::small_trace());
  std::map<int, std::string> names;
  std::map<int, int> order;
  for (const PlainJson& line : lines_of(document, "M")) {
    if (line.at("name") == "thread_name") names[line.at("tid")] = line.at("args").at("name");
    if (line.at("name") == "thread_sort_index") {
      order[line.at("tid")] = line.at("args").at("sort_index");
    }
    if (line.at("name") == "process_name") {
      EXPECT_EQ(line.at("args").at("name"), "taskbench ping_pong/work_stealing/workers:2");
    }
  }
  const std::map<int, std::string> expected{
      {1, "outside the scheduler"}, {2, "worker 0"}, {3, "worker 1"}};
  EXPECT_EQ(names, expected);
  EXPECT_EQ(order, (std::map<int, int>{{1, 1}, {2, 2}, {3, 3}}));
}

TEST(ChromeTrace, polls_are_slices_with_their_task_and_end) {
  const PlainJson document = parsed(samples::small_trace());
  const PlainJson poll = find(document, "task 1", 2);
  EXPECT_EQ(poll.at("ph"), "X");
  EXPECT_EQ(poll.at("cat"), "poll");
  EXPECT_EQ(poll.at("args"), (PlainJson{{"task", 1}, {"end", "idle"}}));
  EXPECT_EQ(find(document, "task 1", 3).at("args").at("end"), "finished");
}

TEST(ChromeTrace, times_are_in_us_and_lose_no_ns) {
  const std::string text = to_chrome_trace(samples::small_trace());
  EXPECT_TRUE(contains(text, "\"ts\":1.001,"));
  EXPECT_TRUE(contains(text, "\"dur\":1.999,"));
  EXPECT_TRUE(contains(text, "\"dur\":4997.000,"));
  EXPECT_TRUE(contains(text, "\"ts\":6.000,\"name\":\"task 1\",\"cat\":\"poll\",\"dur\":0.001"));
}

TEST(ChromeTrace, parks_searches_and_iterations_are_slices) {
  const PlainJson document = parsed(samples::small_trace());
  EXPECT_EQ(find(document, "parked", 3).at("dur"), 2.5);
  EXPECT_EQ(find(document, "searching", 3).at("ts"), 2.5);
  EXPECT_EQ(find(document, "iteration 1", 1).at("dur"), 10'000.5);
}

TEST(ChromeTrace, what_is_short_is_an_instant_of_its_row_and_says_how_many_and_from_whom) {
  const PlainJson document = parsed(samples::small_trace());
  EXPECT_EQ(find(document, "steal", 3).at("args"), (PlainJson{{"from_worker", 0}, {"tasks", 1}}));
  EXPECT_EQ(find(document, "overflow", 2).at("args"), (PlainJson{{"tasks", 129}}));
  EXPECT_EQ(find(document, "take from injector", 2).at("args"), (PlainJson{{"tasks", 2}}));
  EXPECT_EQ(find(document, "unpark", 1).at("args"), (PlainJson{{"worker", 1}}));
  EXPECT_EQ(find(document, "wake", 2).at("args"), (PlainJson{{"task", 1}}));
  for (const PlainJson& line : lines_of(document, "i")) EXPECT_EQ(line.at("s"), "t");
}

TEST(ChromeTrace, arrows_lead_from_each_spawn_and_wake_to_the_poll_that_followed) {
  const PlainJson document = parsed(samples::small_trace());
  std::map<int, PlainJson> begins;
  for (const PlainJson& line : lines_of(document, "s")) begins[line.at("id")] = line;
  const std::vector<PlainJson> ends = lines_of(document, "f");
  ASSERT_EQ(begins.size(), 3U);
  ASSERT_EQ(ends.size(), 3U);
  using Place = std::pair<int, double>;
  std::map<Place, Place> arrows;
  for (const PlainJson& end : ends) {
    const PlainJson& begin = begins.at(end.at("id"));
    EXPECT_EQ(end.at("bp"), "e");
    EXPECT_EQ(end.at("cat"), begin.at("cat"));
    EXPECT_EQ(end.at("name"), begin.at("name"));
    arrows[{begin.at("tid"), begin.at("ts")}] = {end.at("tid"), end.at("ts")};
  }
  const std::map<Place, Place> expected{
      {{1, 0.1}, {2, 1.001}}, {{2, 2.0}, {2, 3.0}}, {{2, 4.0}, {3, 6.0}}};
  EXPECT_EQ(arrows, expected);
}

TEST(ChromeTrace, a_spawn_whose_poll_was_lost_has_no_arrow_and_a_poll_of_nobody_neither) {
  model::Trace trace = samples::small_trace();
  trace.workers[0].polls.front().task = 0;
  const PlainJson document = parsed(trace);
  EXPECT_FALSE(find(document, "task ?", 2).is_null());
  EXPECT_FALSE(find(document, "task ?", 2).at("args").contains("task"));
  // The remaining arrows: those of the other task, and the one from the wake to the second poll.
  EXPECT_EQ(lines_of(document, "s").size(), 2U);
}

TEST(ChromeTrace, lines_are_sorted_and_slices_begin_before_what_lies_in_them) {
  const PlainJson document = parsed(samples::small_trace());
  double latest = 0;
  std::map<std::pair<int, double>, std::string> last_at;
  for (const PlainJson& line : document.at("traceEvents")) {
    if (line.at("ph") == "M") continue;
    EXPECT_GE(line.at("ts"), latest);
    latest = line.at("ts");
    const std::pair<int, double> place(line.at("tid"), line.at("ts"));
    if (line.at("ph") == "X") {
      EXPECT_EQ(last_at.count(place), 0U);
    }
    last_at[place] = line.at("ph");
  }
}

TEST(ChromeTrace, facts_are_kept_whatever_their_characters) {
  model::Trace trace = samples::small_trace();
  trace.case_name = "odd \"name\"\n\xff";
  const PlainJson document = parsed(trace);
  const PlainJson& facts = document.at("otherData");
  EXPECT_EQ(facts.at("cpu_model"), "A \"quoted\" CPU");
  EXPECT_EQ(facts.at("clock"), "tsc");
  EXPECT_EQ(facts.at("event_cost_ns"), 15.4);
  EXPECT_EQ(facts.at("events_lost"),
            (PlainJson{{"worker 0", 0}, {"worker 1", 1234}, {"outside", 0}}));
  EXPECT_EQ(document.at("displayTimeUnit"), "ns");
}

TEST(ChromeTrace, of_nothing_is_still_a_document) {
  const PlainJson document = parsed({});
  EXPECT_TRUE(document.at("traceEvents").is_array());
}

}  // namespace
}  // namespace taskbench::reports::json
