// The files in perf_stat/ are named after the version of perf. Those of 6.1 were recorded on a
// virtual machine; the others were written after examples that are published of those versions,
// some with other figures: no machine with them was at hand.
#include "reports/json/perf_stat.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>

namespace taskbench::reports::json {
namespace {

std::string recorded(const std::string& name) {
  const std::string path = std::string(TASKBENCH_TEST_DATA) + "/" + name;
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

PerfOutput parsed(const std::string& name) { return parse_perf_stat(recorded(name)); }

TEST(perf_stat_test, without_pmu_software_events_have_values_and_hardware_events_a_reason) {
  const PerfOutput output = parsed("6.1-without-pmu.txt");
  EXPECT_EQ(output.damage, "");
  ASSERT_EQ(output.counts.size(), 7U);
  EXPECT_EQ(output.counts[0].event, "cycles");
  EXPECT_FALSE(output.counts[0].value);
  EXPECT_EQ(output.counts[0].unavailable, "not supported by this machine");
  EXPECT_EQ(output.counts[2].event, "task-clock");
  EXPECT_EQ(output.counts[2].unit, "ns");
  EXPECT_DOUBLE_EQ(*output.counts[2].value, 697093);
  EXPECT_DOUBLE_EQ(*output.counts[4].value, 0);  // a zero that was counted
  EXPECT_EQ(output.counts[4].unavailable, "");
  EXPECT_EQ(output.counts[6].event, "sched:sched_switch");
  EXPECT_FALSE(output.counts[6].user_only);
}

TEST(perf_stat_test, user_only_is_labelled_and_what_happens_in_the_kernel_is_no_zero) {
  for (const char* name : {"6.1-user-only.txt", "5.15-fields-user-only.txt"}) {
    SCOPED_TRACE(name);
    const PerfOutput output = parsed(name);
    for (const PerfCount& count : output.counts) {
      EXPECT_TRUE(count.user_only);
      EXPECT_EQ(count.printed, count.event + ":u");
      if (count.event == "context-switches") {
        EXPECT_FALSE(count.value);
        EXPECT_NE(count.unavailable.find("perf_event_paranoid=1"), std::string::npos);
      }
      if (count.event == "page-faults") {
        EXPECT_GT(count.value.value_or(0), 40);
      }
    }
  }
}

TEST(perf_stat_test, an_event_is_taken_apart) {
  struct Row {
    const char* printed;
    const char* name;
    const char* modifiers;
    bool user_only;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"cycles", "cycles", "", false},
           {"cycles:u", "cycles", "u", true},
           {"cycles:Pu", "cycles", "Pu", true},
           {"cycles:P", "cycles", "P", false},
           {"cycles:uk", "cycles", "uk", false},
           {"cpu_core/cycles/", "cpu_core/cycles/", "", false},
           {"cpu_core/cycles/Pu", "cpu_core/cycles/", "Pu", true},
           {"cpu/a=1,b=2/", "cpu/a=1,b=2/", "", false},
           {"sched:sched_switch", "sched:sched_switch", "", false},
           {"", "", "", false},
       }) {
    const PerfEvent event = perf_event(row.printed);
    EXPECT_EQ(event.name, row.name) << row.printed;
    EXPECT_EQ(event.modifiers, row.modifiers) << row.printed;
    EXPECT_EQ(event.user_only, row.user_only) << row.printed;
  }
}

TEST(perf_stat_test, not_counted_is_not_not_supported) {
  const PerfOutput output = parsed("6.1-never-enabled.txt");
  ASSERT_EQ(output.counts.size(), 2U);
  EXPECT_EQ(output.counts[0].unavailable, "not counted");
  EXPECT_EQ(output.counts[1].unavailable, "not supported by this machine");
}

TEST(perf_stat_test, fields_are_read_like_json) {
  const PerfOutput output = parsed("6.1-fields.txt");
  EXPECT_EQ(output.damage, "");
  ASSERT_EQ(output.counts.size(), 3U);
  EXPECT_EQ(output.counts[0].unavailable, "not supported by this machine");
  EXPECT_DOUBLE_EQ(*output.counts[1].value, 570000);
  EXPECT_EQ(output.counts[1].unit, "ns");
  EXPECT_DOUBLE_EQ(*output.counts[2].value, 0);
}

TEST(perf_stat_test, multiplexed_counts_have_the_share_of_the_time) {
  const PerfOutput output = parsed("5.10-fields.txt");
  EXPECT_EQ(output.damage, "");
  ASSERT_EQ(output.counts.size(), 4U);
  EXPECT_DOUBLE_EQ(output.counts[1].counted_share, 1);
  EXPECT_DOUBLE_EQ(*output.counts[2].value, 9876543210.0);
  EXPECT_DOUBLE_EQ(output.counts[2].counted_share, 0.615);
  EXPECT_EQ(output.counts[3].event, "LLC-load-misses");
  EXPECT_EQ(output.counts[3].unavailable, "not counted");
}

TEST(perf_stat_test, numbers_that_are_no_json_numbers_do_no_harm) {
  const PerfOutput output = parsed("5.19.txt");
  EXPECT_EQ(output.damage, "");
  ASSERT_EQ(output.counts.size(), 3U);
  EXPECT_DOUBLE_EQ(*output.counts[0].value, 3805723968);
  EXPECT_DOUBLE_EQ(*output.counts[2].value, 12);
}

TEST(perf_stat_test, events_of_hybrid_cpus_keep_their_pmu) {
  const PerfOutput output = parsed("6.8-hybrid.txt");
  EXPECT_EQ(output.damage, "");
  ASSERT_EQ(output.counts.size(), 3U);
  EXPECT_EQ(output.counts[0].event, "cpu_atom/branch-misses/");
  EXPECT_EQ(output.counts[0].unavailable, "not counted");
  EXPECT_DOUBLE_EQ(*output.counts[1].value, 6326);
  EXPECT_FALSE(output.counts[1].user_only);
  EXPECT_EQ(output.counts[2].event, "cpu_core/cycles/");
  EXPECT_TRUE(output.counts[2].user_only);
  EXPECT_DOUBLE_EQ(output.counts[2].counted_share, 0.4825);
}

TEST(perf_stat_test, comma_after_the_last_field_and_values_that_are_numbers) {
  const PerfOutput output = parsed("6.12-comma.txt");
  EXPECT_EQ(output.damage, "");
  ASSERT_EQ(output.counts.size(), 2U);
  EXPECT_DOUBLE_EQ(*output.counts[0].value, 3112);
  EXPECT_DOUBLE_EQ(*output.counts[1].value, 1006642462);
}

TEST(perf_stat_test, every_cut_of_a_file_is_read_or_named_as_damage) {
  for (const char* name : {"6.1-without-pmu.txt", "6.8-hybrid.txt", "5.10-fields.txt"}) {
    const std::string whole = recorded(name);
    const std::size_t complete = parse_perf_stat(whole).counts.size();
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const PerfOutput output = parse_perf_stat(whole.substr(0, length));
      EXPECT_LE(output.counts.size(), complete);
      for (const PerfCount& count : output.counts) EXPECT_FALSE(count.event.empty());
    }
  }
  const std::string json = recorded("6.1-without-pmu.txt");
  EXPECT_NE(parse_perf_stat(json.substr(0, json.size() - 40)).damage, "");
}

TEST(perf_stat_test, garbage_is_named) {
  const PerfOutput output = parse_perf_stat("Segmentation fault\n");
  EXPECT_TRUE(output.counts.empty());
  EXPECT_EQ(output.damage, "a line of perf's output cannot be read: 'Segmentation fault'");
  EXPECT_NE(parse_perf_stat(R"({"counter-value" : "7", "unit" : ""})"
                            "\n{\"event\" : \"x\"}")
                .damage,
            "");
  EXPECT_EQ(parse_perf_stat("").damage, "");
}

TEST(perf_stat_test, value_that_is_no_number_is_no_zero) {
  const PerfOutput output =
      parse_perf_stat(R"({"counter-value" : "1,234", "unit" : "", "event" : "cycles"})");
  ASSERT_EQ(output.counts.size(), 1U);
  EXPECT_FALSE(output.counts[0].value);
  EXPECT_EQ(output.counts[0].unavailable, "perf printed '1,234' for it");
}

TEST(perf_reason_test, is_the_part_that_says_why) {
  EXPECT_EQ(perf_reason("event syntax error: 'nosuch'\n"
                        "                     \\___ parser error\n"
                        "Run 'perf list' for a list of valid events\n\n"
                        " Usage: perf stat [<options>] [<command>]\n\n"
                        "    -e, --event <event>   event selector\n"),
            "event syntax error: 'nosuch'; parser error");
  EXPECT_EQ(perf_reason("event syntax error: 'sched:sched_switch'\n"
                        "                     \\___ can't access trace events\n\n"
                        "Error:\tNo permissions to read /sys/kernel/tracing/events/sched\n"
                        "Hint:\tTry 'sudo mount'\n\nRun 'perf list'\n"),
            "not permitted: the kernel's tracepoints are for root");
  EXPECT_EQ(perf_reason("Error:\tfailed\nHint:\tTry this\n"), "failed; Hint: Try this");
  EXPECT_EQ(perf_reason("Events disabled\nEvents enabled\n"), "");
}

TEST(perf_reason_test, strict_paranoia_comes_with_the_command_that_relaxes_it) {
  EXPECT_EQ(perf_reason("Error:\nAccess to performance monitoring and observability operations is "
                        "limited.\nperf_event_paranoid setting is 4:\n  -1: Allow use of (almost) "
                        "all events by all users\n"),
            "not permitted: perf_event_paranoid is 4; `sudo sysctl kernel.perf_event_paranoid=1` "
            "allows it");
}

}  // namespace
}  // namespace taskbench::reports::json
