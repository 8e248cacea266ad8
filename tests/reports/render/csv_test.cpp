#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "reports/render/render.hpp"
#include "tests/reports/printed.hpp"
#include "tests/reports/sample_runs.hpp"

namespace taskbench::reports::render {
namespace {

using Record = std::vector<std::string>;

/// Reads by the grammar of RFC 4180, with LF as line end.
std::vector<Record> parse(const std::string& text) {
  std::vector<Record> records(1);
  std::string field;
  bool is_quoted = false;
  const auto end_field = [&] {
    records.back().push_back(field);
    field.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      field += c;
      ++i;
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (!is_quoted && c == ',') {
      end_field();
    } else if (!is_quoted && c == '\n') {
      end_field();
      records.emplace_back();
    } else {
      field += c;
    }
  }
  EXPECT_FALSE(is_quoted) << "a quote is open at the end";
  EXPECT_TRUE(records.back().empty() && field.empty()) << "no line break at the end";
  records.pop_back();
  return records;
}

std::string value(const std::vector<Record>& records, std::size_t record, const char* column) {
  const auto found = std::find(records[0].begin(), records[0].end(), column);
  if (found == records[0].end()) {
    ADD_FAILURE() << "no column " << column;
    return "";
  }
  return records[record][static_cast<std::size_t>(found - records[0].begin())];
}

TEST(Csv, has_a_header_and_one_record_a_repetition) {
  const std::vector<Record> records = parse(as_csv(samples::complete_run()));
  EXPECT_EQ(records[0],
            (Record{"name", "workload", "scheduler", "workers", "parameters",
                    "operations_per_iteration", "repetition", "iterations", "real_ns", "cpu_ns",
                    "voluntary_switches_per_iteration", "involuntary_switches_per_iteration",
                    "overflows_per_iteration", "parks_per_iteration", "polls_per_iteration",
                    "steals_per_iteration", "wakeups_per_iteration", "error"}));
  ASSERT_EQ(records.size(), 1U + 5U * 9U);
  EXPECT_EQ(value(records, 2, "name"), "chained_spawn/work_stealing/workers:2");
  EXPECT_EQ(value(records, 2, "parameters"), "tasks=1000");
  EXPECT_EQ(value(records, 2, "repetition"), "1");
  EXPECT_EQ(value(records, 2, "iterations"), "1663");
  EXPECT_EQ(std::stod(value(records, 2, "real_ns")),
            samples::complete_run().cases[0].repetitions[1].real_ns);
  EXPECT_EQ(value(records, 2, "steals_per_iteration"), "0.31");
  EXPECT_EQ(value(records, 2, "error"), "");
}

TEST(Csv, every_record_has_as_many_fields_as_the_header) {
  for (const samples::NamedRun& sample : samples::all()) {
    const std::vector<Record> records = parse(as_csv(sample.make()));
    for (const Record& record : records) EXPECT_EQ(record.size(), records[0].size()) << sample.name;
  }
}

TEST(Csv, fields_with_quotes_commas_and_line_breaks_come_back_as_they_were) {
  model::Run run = samples::complete_run();
  const std::string nasty = "a \"b\", c\r\nd\"";
  run.cases[0].workload = nasty;
  EXPECT_EQ(value(parse(as_csv(run)), 1, "workload"), nasty);
}

TEST(Csv, plain_fields_are_not_quoted) {
  EXPECT_EQ(as_csv(samples::complete_run()).find('"'), std::string::npos);
}

TEST(Csv, what_was_not_measured_is_empty_and_not_zero) {
  model::Run run = samples::single_repetition_run();
  run.cases[0].repetitions[0].cpu_ns = 0;
  run.cases[0].workers = 0;
  const std::vector<Record> records = parse(as_csv(run));
  for (const char* unknown : {"voluntary_switches_per_iteration", "cpu_ns", "workers"}) {
    EXPECT_EQ(value(records, 1, unknown), "") << unknown;
  }
  const std::vector<Record> hostile = parse(as_csv(samples::hostile_run()));
  EXPECT_EQ(value(hostile, 4, "real_ns"), "");               // NaN
  EXPECT_EQ(value(hostile, 1, "steals_per_iteration"), "");  // Infinity
  EXPECT_EQ(value(hostile, 2, "steals_per_iteration"), "");  // not counted here
  EXPECT_EQ(value(hostile, 1, "operations_per_iteration"), "");
  EXPECT_EQ(value(hostile, 1, "iterations"), "1663");
  EXPECT_EQ(value(hostile, 1, "iterations_per_iteration"), "7");  // a counter with that name
}

TEST(Csv, failed_case_has_one_record_with_its_error_and_no_numbers) {
  const std::vector<Record> records = parse(as_csv(samples::failed_run()));
  ASSERT_EQ(records.size(), 1U + 9U + 1U);
  EXPECT_EQ(value(records, 10, "workload"), "ping_pong");
  EXPECT_EQ(value(records, 10, "real_ns"), "");
  EXPECT_EQ(value(records, 10, "steals_per_iteration"), "");
  EXPECT_EQ(value(records, 10, "error"), "999 of 1,000 partners answered in iteration 17");
}

TEST(Csv, run_without_cases_is_a_header) {
  EXPECT_EQ(parse(as_csv(samples::empty_run())).size(), 1U);
}

TEST(Csv, what_a_workload_observed_is_not_said_to_be_per_iteration) {
  const Record titles = parse(as_csv(samples::observed_run())).front();
  for (const char* title : {"lead_yields", "wait_p99_ns", "steals_per_iteration"}) {
    EXPECT_EQ(std::ranges::count(titles, title), 1) << title;
  }
}

}  // namespace
}  // namespace taskbench::reports::render
