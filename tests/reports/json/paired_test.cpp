#include "reports/json/paired.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include "reports/json/reader.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::json {
namespace {

using Outcome = verdict::PairedFile::Outcome;

model::PairedTrial sample_trial() {
  model::PairedTrial trial;
  trial.setup.base = {"./base", "0123456789abcdef"};
  trial.setup.head = {"./head", "fedcba9876543210", "HEAD", std::string(40, 'a')};
  trial.setup.benchmarks = {"sort", "hash"};
  trial.setup.max_blocks = 8;
  trial.setup.repetitions = 5;
  trial.setup.min_time_s = 0.02;
  trial.setup.noise_floors = {{"sort", {0.01, "assumed"}}, {"hash", {0.01, "assumed"}}};
  trial.setup.reproduce = "taskbench ab";
  for (int i = 0; i < 32; ++i) {
    const auto side = i % 4 == 0 || i % 4 == 3 ? model::Side::base : model::Side::head;
    const double noise = 1 + 0.001 * std::sin(i);
    const double slower = side == model::Side::head ? 1.2 : 1;
    trial.samples.push_back(
        {i / 4,
         i % 4,
         side,
         0.1,
         {{"sort", 100 * slower * noise}, {"hash", 7 * noise}},
         {{"sort", {{"steals", 3.0 * slower}, {"cpu_ns", 90 * slower}}}},
         model::MachineUse{.seconds = 0.1,
                           .cpu = model::Fact<model::CpuUse>::known({0, 0.2, 0.05, 0.01}),
                           .thermal_throttles = {},
                           .quota_throttles = 1,
                           .swapped_pages = 0}});
  }
  trial.setup.cpu_time_of = {{"sort", model::CpuTimeOf::main_thread}};
  trial.end = model::TrialEnd::blocks;
  return trial;
}

TEST(PairedReader, reads_back_what_was_written) {
  const model::PairedTrial trial = sample_trial();
  const verdict::PairedReport report = verdict::judge(trial);
  const std::string text = to_json({.trial = trial, .report = report});
  ASSERT_TRUE(is_paired_report(text));
  const verdict::PairedFile file = parse_paired_report("r.json", text);
  EXPECT_EQ(file.outcome, Outcome::judged);
  EXPECT_EQ(file.report.benchmarks[0].cpu->verdict, verdict::Verdict::fail);
  EXPECT_FALSE(file.report.benchmarks[1].cpu);
  // Written again, the text must be the same: nothing was lost or changed.
  EXPECT_EQ(to_json(file), text);
}

TEST(PairedReader, reads_a_journal_of_a_counter_that_was_no_number) {
  model::PairedTrial trial = sample_trial();
  trial.samples[0].counters["sort"] = {
      {"hit_ratio", std::nan("")}, {"ratio", HUGE_VAL}, {"steals", 3}};
  const model::PairedTrial resumed =
      parse_journal("j", journal_line(trial.setup) + '\n' + journal_line(trial.samples[0]) + '\n');
  ASSERT_EQ(resumed.samples.size(), 1U);
  EXPECT_EQ(resumed.samples[0].counters.at("sort"), (std::map<std::string, double>{{"steals", 3}}));
}

TEST(PairedReader, reads_back_metrics_that_were_asked_for) {
  model::PairedTrial trial = sample_trial();
  trial.setup.judged = {{"steals", 0.05, false, {"sort"}}, {"hits/s", 0.1, true, {}, true}};
  const std::string text = to_json({.trial = trial, .report = verdict::judge(trial)});
  const verdict::PairedFile file = parse_paired_report("r.json", text);
  EXPECT_EQ(to_json(file), text);
  EXPECT_EQ(file.trial.setup.judged, trial.setup.judged);
  ASSERT_EQ(file.report.benchmarks[0].judged.size(), 1U);
  EXPECT_EQ(file.report.benchmarks[0].judged[0].verdict, verdict::Verdict::fail);
  EXPECT_TRUE(file.report.benchmarks[1].judged.empty());
}

TEST(PairedReader, reads_back_instructions) {
  model::PairedTrial trial = sample_trial();
  trial.setup.counts_instructions = true;
  trial.instructions = {{model::Side::base, "sort", {1000, 1000}, ""},
                        {model::Side::head, "sort", {1005, 1005}, ""},
                        {model::Side::base, "hash", {7, 7}, ""},
                        {model::Side::head, "hash", {}, "no valgrind"}};
  const std::string text = to_json({.trial = trial, .report = verdict::judge(trial)});
  const verdict::PairedFile file = parse_paired_report("r.json", text);
  EXPECT_EQ(to_json(file), text);
  EXPECT_EQ(file.report.benchmarks[0].instructions->verdict, verdict::Verdict::fail);
  EXPECT_EQ(file.report.benchmarks[1].instructions->reason, "of head: no valgrind");
}

TEST(PairedReader, reads_back_kinds_of_counts_and_what_explains_a_failure) {
  model::PairedTrial trial = sample_trial();
  trial.setup.counts_instructions = true;
  trial.setup.acknowledged = {"divisions"};
  trial.instructions = {
      {model::Side::base, "sort", {9, 9}, "", {{"divisions", {1, 1}}, {"fences", {0, 0}}}, ""},
      {model::Side::head, "sort", {9, 9}, "", {{"divisions", {4, 4}}, {"fences", {7, 7}}}, ""},
      {model::Side::base, "hash", {9, 9}, "", {}, "objdump is not installed"},
      {model::Side::head, "hash", {9, 9}, ""}};
  trial.explanations = {{"sort",
                         100,
                         150,
                         0.001,
                         {{"push", "/src/queue.hpp", 12, 5, 55, 1, 2}},
                         {{"fences", 0, 7, "push", "/src/queue.hpp", 12}},
                         ""},
                        {"hash", 0, 0, 0, {}, {}, "no valgrind"}};
  const std::string text = to_json({.trial = trial, .report = verdict::judge(trial)});
  const verdict::PairedFile file = parse_paired_report("r.json", text);
  EXPECT_EQ(to_json(file), text);
  const auto& kinds = file.report.benchmarks[0].kinds;
  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_EQ(kinds[0].verdict, verdict::Verdict::pass);
  EXPECT_TRUE(kinds[0].acknowledged);
  EXPECT_EQ(kinds[1].verdict, verdict::Verdict::fail);
  EXPECT_EQ(file.trial.explanations[0].functions[0].line, 12);
  EXPECT_EQ(file.trial.explanations[1].unavailable, "no valgrind");
}

TEST(PairedReader, reads_the_other_outcomes) {
  const model::PairedTrial trial = sample_trial();
  const auto identical = parse_paired_report(
      "r.json", to_json({.outcome = Outcome::identical, .trial = trial, .why = "they are one"}));
  EXPECT_EQ(identical.outcome, Outcome::identical);
  EXPECT_EQ(identical.why, "they are one");
  EXPECT_EQ(identical.trial.setup.head.commit, trial.setup.head.commit);
  model::PairedFailure failure;
  failure.stage = model::PairedFailure::Stage::build;
  failure.side = model::Side::head;
  failure.message = "it does not build";
  failure.lines = {"error: x"};
  const auto failed = parse_paired_report(
      "r.json", to_json({.outcome = Outcome::failed, .trial = trial, .failure = failure}));
  EXPECT_EQ(failed.outcome, Outcome::failed);
  EXPECT_EQ(failed.failure.side, model::Side::head);
  EXPECT_EQ(failed.failure.stage, model::PairedFailure::Stage::build);
  EXPECT_EQ(failed.failure.lines, failure.lines);
  const auto no_base = parse_paired_report(
      "r.json", to_json({.outcome = Outcome::no_base, .trial = trial, .failure = failure}));
  EXPECT_EQ(no_base.outcome, Outcome::no_base);
  EXPECT_EQ(no_base.failure.message, failure.message);
}

std::string complaint(const std::string& text) {
  return what_of<ReadError>([&] { (void)parse_paired_report("r.json", text); });
}

TEST(PairedReader, refuses_what_was_damaged) {
  const model::PairedTrial trial = sample_trial();
  const std::string text = to_json({.trial = trial, .report = verdict::judge(trial)});
  const std::string cut = complaint(text.substr(0, text.size() / 2));
  EXPECT_TRUE(cut.starts_with("r.json: not a sound report of `taskbench ab`: it is not valid JSON"))
      << cut;
  EXPECT_TRUE(cut.ends_with(": it is cut off there; create it again")) << cut;
  for (const auto& [from, to, says] :
       std::initializer_list<std::tuple<const char*, const char*, const char*>>{
           {"\"taskbench_paired\": 1", "\"taskbench_paired\": 2", "is 2; this taskbench reads"},
           {"\"judged\"", "\"guessed\"",
            "field 'outcome' is 'guessed', and can only be judged, identical, failed, no_base"},
           {"\"FAIL\"", "\"PERHAPS\"", "is 'PERHAPS', and can only be PASS, FAIL, INCONCLUSIVE"},
           {"\"blocks\": 8", "\"blocks\": 9", "'blocks' is not a whole number from 0 to 8"},
           {"\"max_blocks\": 8", "\"max_blocks\": true",
            "r.json: not a sound report of `taskbench ab`: field 'setup.max_blocks' is not a whole "
            "number from 1 to 1000000; create it again"},
           {"\"sort\": 100.0", "\"sort\": true", "field 'samples[0].real_ns.sort' is not a "},
           {"\"took_s\": 0.1", "\"took_s\": 1e999", "holds a number that is too large"},
           {"\"samples\": [", "\"samples\": null, \"x\": [", "'samples' is not an array"},
       }) {
    EXPECT_TRUE(contains(complaint(replaced(text, from, to)), says));
  }
}

TEST(PairedReader, refuses_instructions_that_are_neither_counted_nor_explained) {
  model::PairedTrial trial = sample_trial();
  trial.setup.counts_instructions = true;
  trial.instructions = {{model::Side::base, "sort", {}, "no valgrind"}};
  const std::string text = to_json({.trial = trial, .report = verdict::judge(trial)});
  for (const std::string other : {"\"reason\": null", "\"reason\": 5", "\"x\": 1"}) {
    const std::string changed = replaced(text, "\"reason\": \"of base: no valgrind\"", other);
    EXPECT_NE(complaint(changed), "nothing was thrown") << other;
  }
}

TEST(PairedReader, refuses_a_failure_of_nobody) {
  model::PairedFailure failure;
  failure.side = model::Side::head;
  const std::string text =
      to_json({.outcome = Outcome::failed, .trial = sample_trial(), .failure = failure});
  EXPECT_EQ(complaint(text), "nothing was thrown");
  for (const std::string other : {"\"side\": 7", "\"x\": 1"}) {
    EXPECT_NE(complaint(replaced(text, "\"side\": \"head\"", other)), "nothing was thrown");
  }
}

TEST(PairedReader, knows_reports_from_results) {
  EXPECT_TRUE(is_paired_report("\n {\n\"taskbench_paired\": 1, "));
  EXPECT_FALSE(is_paired_report("{\"context\": {}, \"benchmarks\": []}"));
  EXPECT_FALSE(is_paired_report(""));
  EXPECT_FALSE(is_paired_report("[\"taskbench_paired\"]"));
}

}  // namespace
}  // namespace taskbench::reports::json
