// The files in stat/ are named after the version of perf; none is made up. Debian's perf 5.10.262,
// 6.1.187, 6.12.107 and 7.2.13 were run on a virtual machine without a PMU. Files from machines
// with a PMU were recorded and published by others:
//
// - 6.0-with-pmu: Arnaldo Carvalho de Melo, linux-kernel, <Yo4QgwigIfBX4jlJ@kernel.org>
// - 6.5-with-pmu, 6.5-hybrid: Kan Liang, linux-kernel,
//     <20230616031420.3751973-1-kan.liang@linux.intel.com>
// - 6.13-hybrid: James Clark, linux-kernel, <20241112160048.951213-3-james.clark@linaro.org>
// - 6.13-comma: Namhyung Kim, linux-kernel, <20241125071653.1350621-1-namhyung@kernel.org>
// - 6.x-with-pmu-fields, 6.x-not-counted-fields: VaRA-Tool-Suite, July 2023,
//     tests/report/test_linux_perf_report.py
//
// The recordings from linux-kernel are from the weeks before the release in their name.
#include "reports/perf/stat.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>

namespace taskbench::reports::perf {
namespace {

std::string recorded(const std::string& name) {
  const std::string path = std::string(TASKBENCH_TEST_DATA) + "/" + name;
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Parses a file; nothing that perf wrote may count as damaged.
PerfOutput parsed(const std::string& name) {
  PerfOutput output = parse_perf_stat(recorded(name));
  EXPECT_EQ(output.damage, "") << name;
  return output;
}

TEST(perf_stat_test, what_each_version_and_machine_counted_is_read) {
  const std::string unsupported = "not supported by this machine";
  struct Row {
    const char* file;
    std::size_t counts;
    std::size_t place;
    const char* event;
    std::optional<double> value;
    std::string unavailable{};
    double share = 1;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"6.1-without-pmu.txt", 7, 0, "cycles", {}, unsupported},
           {"6.1-without-pmu.txt", 7, 2, "task-clock", 697093},
           {"6.1-without-pmu.txt", 7, 4, "cpu-migrations", 0},  // a counted zero
           {"6.1-without-pmu-fields.txt", 3, 0, "cycles", {}, unsupported},
           {"6.1-without-pmu-fields.txt", 3, 1, "task-clock", 570000},
           {"6.1-without-pmu-fields.txt", 3, 2, "context-switches", 0},
           // Metrics between the events are skipped.
           {"6.0-with-pmu.txt", 10, 7, "instructions", 150684},
           {"6.0-with-pmu.txt", 10, 8, "branches", 29735},
           {"6.0-with-pmu.txt", 10, 9, "branch-misses", {}, "not counted"},
           {"6.5-with-pmu.txt", 8, 4, "cycles", 48433482},
           // Multiplexed events were counted for part of the time.
           {"6.x-with-pmu-fields.txt", 14, 7, "instructions", 944044714, "", 0.75},
           {"6.x-with-pmu-fields.txt", 14, 12, "LLC-loads", {}, unsupported},
           {"6.x-not-counted-fields.txt", 14, 10, "L1-dcache-loads", {}, "not counted"},
           // Events of hybrid CPUs keep their PMU.
           {"6.5-hybrid.txt", 8, 4, "cpu_core/cycles/", 18685492},
           {"6.5-hybrid.txt", 8, 5, "cpu_atom/cycles/", 255620352, "", 0.54},
           {"6.13-hybrid.txt", 2, 0, "cpu_atom/branch-misses/", {}, "not counted"},
           // A comma follows the last field.
           {"6.13-comma.txt", 5, 1, "topdown-retiring", 3817732},
           {"6.13-comma.txt", 5, 4, "topdown-bad-spec", 1418181},
       }) {
    SCOPED_TRACE(row.file);
    const PerfOutput output = parsed(row.file);
    ASSERT_EQ(output.counts.size(), row.counts);
    const PerfCount& count = output.counts[row.place];
    EXPECT_EQ(count.event, row.event);
    EXPECT_EQ(count.value, row.value);
    EXPECT_EQ(count.unavailable, row.unavailable);
    if (row.value) {
      EXPECT_EQ(count.counted_share, row.share);
    }
  }
  EXPECT_EQ(parse_perf_stat(R"({"counter-value" : 1006642462, "event" : "x"})").counts[0].value,
            1006642462);
}

TEST(perf_stat_test, user_only_is_labelled_and_what_happens_in_the_kernel_is_no_zero) {
  for (const char* name : {"5.10-user-only-fields.txt", "6.0-with-pmu.txt", "6.1-user-only.txt",
                           "6.12-user-only.txt", "6.x-with-pmu-fields.txt", "7.2-user-only.txt"}) {
    SCOPED_TRACE(name);
    const PerfOutput output = parsed(name);
    for (const PerfCount& count : output.counts) {
      EXPECT_TRUE(count.user_only);
      EXPECT_EQ(count.printed, count.event + ":u");
      if (count.event == "context-switches") {
        EXPECT_FALSE(count.value);
        EXPECT_EQ(count.unavailable, "user mode only was counted, and this happens in the kernel");
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

TEST(perf_stat_test, every_version_without_pmu_says_the_same) {
  for (const char* name : {"5.10-without-pmu-fields.txt", "6.1-without-pmu.txt",
                           "6.12-without-pmu.txt", "7.2-without-pmu.txt"}) {
    SCOPED_TRACE(name);
    const PerfOutput output = parsed(name);
    ASSERT_EQ(output.counts.size(), 7U);
    for (const PerfCount& count : output.counts) {
      const bool hardware = count.event == "cycles" || count.event == "instructions";
      EXPECT_EQ(count.value.has_value(), !hardware) << count.event;
      EXPECT_EQ(count.unavailable, hardware ? "not supported by this machine" : "");
      EXPECT_EQ(count.printed, count.event);
      EXPECT_DOUBLE_EQ(count.counted_share, 1);
    }
    EXPECT_EQ(output.counts[2].unit, "ns");
    EXPECT_GT(output.counts[2].value.value_or(0), 100'000);
    EXPECT_GT(output.counts[5].value.value_or(0), 40);
    EXPECT_EQ(output.counts[6].event, "sched:sched_switch");
  }
}

TEST(perf_stat_test, not_counted_is_not_not_supported) {
  for (const char* name : {"5.10-never-enabled-fields.txt", "6.1-never-enabled.txt",
                           "6.12-never-enabled.txt", "7.2-never-enabled.txt"}) {
    SCOPED_TRACE(name);
    const PerfOutput output = parsed(name);
    ASSERT_EQ(output.counts.size(), 2U);
    EXPECT_EQ(output.counts[0].unavailable, "not counted");
    EXPECT_EQ(output.counts[1].unavailable, "not supported by this machine");
  }
}

TEST(perf_stat_test, numbers_that_are_no_json_numbers_do_no_harm) {
  for (const char* word : {"-nan", "nan", "inf", "-inf", "\"nan\""}) {
    const PerfOutput output =
        parse_perf_stat(std::string(R"({"counter-value" : "12.000000", "event" : "cycles", )"
                                    R"("metric-value" : )") +
                        word + R"(, "metric-unit" : "GHz"})");
    EXPECT_EQ(output.damage, "") << word;
    ASSERT_EQ(output.counts.size(), 1U) << word;
    EXPECT_DOUBLE_EQ(*output.counts[0].value, 12);
  }
}

TEST(perf_stat_test, every_cut_of_a_file_is_read_or_named_as_damage) {
  for (const char* name : {"6.1-without-pmu.txt", "6.5-hybrid.txt", "6.x-with-pmu-fields.txt"}) {
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

TEST(perf_reason_test, a_machine_that_counts_none_of_the_events_is_what_older_versions_print) {
  // perf 7.2 exits with status 1 where older versions print <not supported>.
  EXPECT_EQ(perf_reason("Error:\nNo supported events found.\nThe cycles event is not supported.\n"),
            "not supported by this machine");
}

TEST(perf_reason_test, unknown_event_is_named_by_every_version) {
  EXPECT_EQ(perf_reason("event syntax error: 'nosuch'\n"
                        "                     \\___ Bad event name\n\n"
                        "Unable to find event on a PMU of 'nosuch'\n"
                        "Run 'perf list' for a list of valid events\n"),
            "event syntax error: 'nosuch'; Bad event name; Unable to find event on a PMU of "
            "'nosuch'");
  EXPECT_EQ(
      perf_reason("Error:\tFile /sys/kernel/tracing//events/nosuch/x not found.\n"
                  "Hint:\tPerhaps this kernel misses some CONFIG_ setting to enable this "
                  "feature?.\n\nRun 'perf list' for a list of valid events\n"),
      "File /sys/kernel/tracing//events/nosuch/x not found.; Hint: Perhaps this kernel misses "
      "some CONFIG_ setting to enable this feature?");
}

TEST(perf_reason_test, strict_paranoia_comes_with_the_command_that_relaxes_it) {
  EXPECT_EQ(perf_reason("Error:\nAccess to performance monitoring and observability operations is "
                        "limited.\nperf_event_paranoid setting is 4:\n  -1: Allow use of (almost) "
                        "all events by all users\n"),
            "not permitted: perf_event_paranoid is 4; `sudo sysctl kernel.perf_event_paranoid=1` "
            "allows it");
}

}  // namespace
}  // namespace taskbench::reports::perf
