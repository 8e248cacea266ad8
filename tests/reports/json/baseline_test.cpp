#include "reports/json/baseline.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "reports/json/parse.hpp"
#include "tests/reports/sample_baselines.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::json {
namespace {

using model::Series;

std::string refusal(const std::string& text) {
  return what_of<ReadError>([&] { (void)parse_baseline("ci/baselines/k/n.json", text); });
}

TEST(baseline_json, is_read_as_it_was_written) {
  const Series series = sample_baseline();
  const std::string text = baseline_file(series);
  const Series again = parse_baseline("x", text);
  EXPECT_EQ(baseline_file(again), text);
  EXPECT_EQ(again.setup.key, series.setup.key);
  EXPECT_EQ(again.setup.iterations, series.setup.iterations);
  EXPECT_EQ(again.processes.size(), 7U);
  EXPECT_EQ(again.processes[3].real_ns, series.processes[3].real_ns);
  EXPECT_EQ(again.processes[3].after, series.processes[3].after);
  EXPECT_EQ(again.processes[6].after.handover_ns, std::nullopt);
  EXPECT_EQ(*again.processes[2].use, *series.processes[2].use);
  EXPECT_EQ(again.processes[3].use.reason, "/proc/stat cannot be read");
}

TEST(baseline_json, what_is_wrong_is_named_with_its_file_and_its_field) {
  const std::string good = baseline_file(sample_baseline());
  const auto broken = [&](const std::string& what, const std::string& by) {
    return refusal(replaced(good, what, by));
  };
  for (const auto& [message, expected] : std::initializer_list<std::pair<std::string, std::string>>{
           {refusal(""), "is empty"},
           {refusal("garbage"), "is not valid JSON, at line 1, column 1"},
           {refusal(good.substr(0, good.size() / 2)), "is not valid JSON"},
           {broken("ping_pong", "ping_\xff"), "is not UTF-8, at line "},
           {broken("\"seed\": 5", "\"seed\": 1e999"),
            "holds a number that is too large, 1e999, at"},
           {refusal("[]"), "it is not a stored baseline"},
           {refusal("{\"benchmarks\": []}"), "it is not a stored baseline"},
           {broken("\"taskbench_baseline\": 2", "\"taskbench_baseline\": 3"),
            "field 'taskbench_baseline' is 3; this taskbench reads versions up to 2: use a later"},
           {broken("\"taskbench_baseline\": 2", "\"taskbench_baseline\": 1"),
            "is 1: it was measured with a canary that did not use all CPUs"},
           {broken("\"others_s\": -0.01", "\"others_s\": null"),
            "field 'processes[0].cpu_use.others_s' is not a number"},
           {broken("\"unknown\": \"/proc", "\"unknwon\": \"/proc"),
            "field 'processes[3].cpu_use.seconds' is missing"},
           {broken("\"seed\": 5", "\"seed\": -5"), "field 'settings.seed' is not a whole number"},
           {broken("\"min_time_s\": 0.02", "\"min_time_s\": null"),
            "field 'settings.min_time_s' is not a positive number"},
           {broken("\"kernel\"", "\"colonel\""),
            "nothing was thrown"},  // a field that is not known yet
           {broken("\"machine\"", "\"engine\""), "field 'machine' is missing"},
           {broken("\"processes\": 7", "\"processes\": 8"),
            "field 'processes' has 7 entries, not the 8 of settings.processes"},
           {broken("\"futex_ns\": 3000000.0", "\"futex_ns\": 0"),
            "field 'processes[0].canary_before.futex_ns' is not a positive number"},
           {broken("\"spawn\": 500", "\"span\": 500"),
            "field 'processes[0].real_ns.spawn' is missing"},
       }) {
    EXPECT_TRUE(contains(message, expected));
    if (expected == "nothing was thrown") continue;
    EXPECT_EQ(message.find("ci/baselines/k/n.json: "), 0U) << message;
    EXPECT_TRUE(contains(message, "save the baseline again"));
  }
}

TEST(baseline_json, a_journal_goes_on_beyond_its_first_series_only_to_confirm_a_comparison) {
  Series series = sample_baseline();
  const auto journal = [&](bool confirms, int processes) {
    std::string text = journal_line(series.setup) + '\n';
    for (int i = 0; i < processes; ++i) {
      if (i == 7 && confirms) text += round_line(2) + '\n';
      text += journal_line(series.processes[static_cast<std::size_t>(i % 7)],
                           static_cast<std::size_t>(i)) +
              '\n';
    }
    return text;
  };
  EXPECT_THROW((void)parse_series_journal("j", journal(true, 9)), JournalError);
  series.setup.compared_with = model::ComparedWith{.rolling = "r",
                                                   .anchor = "",
                                                   .alpha = 0.01,
                                                   .delta = 0.03,
                                                   .allow_busy = true,
                                                   .noise_floors = {}};
  EXPECT_THROW((void)parse_series_journal("j", journal(false, 9)), JournalError);
  const Series once = parse_series_journal("j", journal(true, 7));
  EXPECT_TRUE(once.complete());
  EXPECT_TRUE(once.setup.compared_with->allow_busy);
  const Series more = parse_series_journal("j", journal(true, 9));
  EXPECT_EQ(more.rounds, 2);
  EXPECT_FALSE(more.complete());
  EXPECT_TRUE(parse_series_journal("j", journal(true, 14)).complete());
  EXPECT_THROW((void)parse_series_journal("j", journal(true, 15)), JournalError);
}

TEST(baseline_json, too_few_processes_are_no_baseline) {
  Series series = sample_baseline();
  series.processes.resize(6);
  series.setup.processes = 6;
  EXPECT_TRUE(contains(refusal(baseline_file(series)), "has fewer than 7 entries"));
}

TEST(baseline_json, hostile_names_come_back) {
  Series series = sample_baseline();
  series.setup.command = "'a b' \"c\" \\ \n \x01 Ü";
  EXPECT_EQ(parse_baseline("x", baseline_file(series)).setup.command, series.setup.command);
}

}  // namespace
}  // namespace taskbench::reports::json
