// The comment on a pull request and the table on a terminal, for one benchmark and for hundreds.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "reports/render/paired.hpp"
#include "tests/reports/printed.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::render {
namespace {

using verdict::BenchmarkVerdict;
using verdict::MetricVerdict;
using verdict::Verdict;

struct Sample {
  model::PairedTrial trial;
  verdict::PairedReport report;
};

constexpr int kBlocks = 32;

MetricVerdict metric(Verdict verdict, double change, double spread = 0.01) {
  MetricVerdict row;
  row.verdict = verdict;
  row.blocks = kBlocks;
  row.base = 1e6;
  row.head = 1e6 * (1 + change);
  row.change = change;
  row.low = change - spread;
  row.high = change + spread;
  row.p_adjusted = verdict == Verdict::fail ? 0.0004 : 0.4;
  row.alpha = 0.005;
  row.epsilon = 0.01;
  row.delta = 0.03;
  row.detectable = 2 * spread;
  return row;
}

MetricVerdict undecided(double change, double spread, std::optional<std::size_t> blocks_needed) {
  MetricVerdict row = metric(Verdict::inconclusive, change, spread);
  row.blocks_needed = blocks_needed;
  return row;
}

BenchmarkVerdict named(std::string name, const MetricVerdict& time) {
  BenchmarkVerdict row;
  static_cast<MetricVerdict&>(row) = time;
  row.name = std::move(name);
  row.cpu = metric(Verdict::pass, 0.001, 0.005);
  return row;
}

Sample sample_of(int count, const std::function<BenchmarkVerdict(int)>& row, double block_s = 2) {
  Sample sample;
  auto& [trial, report] = sample;
  trial.setup.base = {"old/bench", "", "", ""};
  trial.setup.head = {"new/bench", "", "", ""};
  trial.setup.reproduce = "taskbench ab --base old/bench --head new/bench";
  trial.end = model::TrialEnd::budget;
  trial.samples.resize(std::size_t{kBlocks} * model::kBlockSize);
  for (auto& process : trial.samples) process.took_s = block_s / model::kBlockSize;
  report.blocks = kBlocks;
  report.interval_level = 0.9;
  report.could_fail = true;
  bool any_fail = false;
  bool any_open = false;
  for (int i = 0; i < count; ++i) {
    report.benchmarks.push_back(row(i));
    const BenchmarkVerdict& each = report.benchmarks.back();
    trial.setup.benchmarks.push_back(each.name);
    trial.setup.noise_floors[each.name] = {each.epsilon, "assumed"};
    trial.setup.cpu_time_of[each.name] = model::CpuTimeOf::process;
    any_fail = any_fail || each.verdict == Verdict::fail ||
               (each.cpu && each.cpu->verdict == Verdict::fail) ||
               (each.instructions && each.instructions->verdict == Verdict::fail);
    any_open = any_open || each.verdict == Verdict::inconclusive;
  }
  report.overall = any_fail ? Verdict::fail : any_open ? Verdict::inconclusive : Verdict::pass;
  return sample;
}

std::string comment_of(const Sample& sample) {
  std::string text = markdown(comment({.trial = sample.trial, .report = sample.report}, {}));
  // Writes the comments to files, to read them or to look at them in a browser.
  if (const char* folder = std::getenv("TASKBENCH_COMMENTS")) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    static int number = 0;
    std::ofstream(std::string(folder) + "/" + std::to_string(++number) + "-" + test->name() + ".md")
        << text << "\n\n# On a terminal\n\n```text\n"
        << table(sample.trial, sample.report, {.width = 120, .folds = true}) << "```\n";
  }
  return text;
}

std::string name_of(int i) {
  return "group/" + std::to_string(i % 10) + "/case:" + std::to_string(i);
}

BenchmarkVerdict passing(int i) {
  return named(name_of(i), metric(Verdict::pass, 0.0001 * (i % 7)));
}
BenchmarkVerdict failing(int i) {
  BenchmarkVerdict row = named(name_of(i), metric(Verdict::fail, 0.2 + 0.001 * i));
  row.cpu = metric(Verdict::fail, 0.19 + 0.001 * i);
  row.counters = {{"steals", 3, 9, 10}};
  return row;
}

/// What a reader sees without unfolding anything.
std::vector<std::string> unfolded(const std::string& comment) {
  std::vector<std::string> lines;
  bool is_folded = false;
  for (const std::string& line : text_lines(comment)) {
    if (!is_folded) lines.push_back(line);
    if (line.starts_with("<details>")) is_folded = true;
    if (line == "</details>") is_folded = false;
  }
  return lines;
}

int first_line_with(const std::vector<std::string>& lines, std::string_view part) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find(part) != std::string::npos) return static_cast<int>(i);
  }
  return 10'000;
}

std::string first_line(const std::string& text) { return text_lines(text).front(); }

TEST(Comment, one_that_fails_is_told_in_a_sentence_and_again_with_its_reason) {
  const Sample sample = sample_of(6, [](int i) { return i == 4 ? failing(i) : passing(i); });
  const std::string comment = comment_of(sample);
  EXPECT_EQ(first_line(comment),
            "### taskbench: FAIL: group/4/case:4 is 20.4 % slower (90 % interval +19.4 % … +21.4 "
            "%), 1 of 6 benchmarks; the chance of a false alarm is at most 1 %");
  expect_parts(comment,
               {"Head new/bench against base old/bench: 1 fails, 5 pass.\n",
                "- FAIL: **group/4/case:4** is 20.4 % slower (90 % interval +19.4 % … +21.4 %), "
                "1.000 → 1.204 ms: it computes more, its CPU time +19.4 %; per iteration steals "
                "3.00 → 9.00.\n",
                "<summary>5 that pass, and the figures of all 6 benchmarks</summary>",
                "To measure it again:\n\n```sh\ntaskbench ab --base old/bench"});
}

TEST(Comment, of_five_hundred_benchmarks_has_at_most_forty_lines_that_are_not_folded) {
  const std::vector<std::pair<const char*, std::function<BenchmarkVerdict(int)>>> kinds{
      {"all pass", passing},
      {"all fail", failing},
      {"half fails", [](int i) { return i % 2 == 0 ? passing(i) : failing(i); }},
      {"one fails", [](int i) { return i == 457 ? failing(i) : passing(i); }},
      {"undecided",
       [](int i) {
         return named(name_of(i),
                      undecided(0.02, 0.05 + 0.001 * i, static_cast<std::size_t>(40 + 10 * i)));
       }},
      {"mixed", [](int i) {
         if (i % 3 == 0) return passing(i);
         if (i % 3 == 1) return failing(i);
         return named(name_of(i), undecided(0.02, 0.05, std::nullopt));
       }}};
  for (const auto& [what, row] : kinds) {
    Sample sample = sample_of(500, row);
    for (int i = 0; i < 100; ++i) {
      model::PairedSetup& setup = sample.trial.setup;
      setup.only_head.push_back("new/" + std::to_string(i));
      setup.only_base.push_back("old/" + std::to_string(i));
      setup.failing_in_base.push_back("broken/" + std::to_string(i));
      setup.left_out.push_back({"odd/" + std::to_string(i), "reason " + std::to_string(i)});
      setup.noise_floors[name_of(i)] = {0.05 + 0.001 * i, "calibrated"};
    }
    const std::string comment = comment_of(sample);
    EXPECT_LE(unfolded(comment).size(), 40U) << what << '\n' << comment.substr(0, 4000);
    EXPECT_LE(comment.size(), 64'000U) << what;
    if (sample.report.overall == Verdict::fail) {
      EXPECT_LE(first_line_with(unfolded(comment), "- FAIL: **"), 5) << what;
      EXPECT_LE(first_line_with(text_lines(comment), "- FAIL: **"), 15) << what;
    }
  }
}

TEST(Comment, of_many_that_fail_shows_those_that_changed_most_in_an_order_without_figures) {
  const auto shown = [](double jitter) {
    const Sample sample = sample_of(40, [&](int i) {
      BenchmarkVerdict row = i % 2 == 0 ? failing(i) : passing(i);
      if (i % 2 == 0) row.change += jitter * ((i * 7) % 11);
      return row;
    });
    std::vector<std::string> names;
    for (const std::string& line : unfolded(comment_of(sample))) {
      if (line.starts_with("- FAIL: **")) names.push_back(line.substr(10, line.find("** is") - 10));
    }
    return names;
  };
  const std::vector<std::string> names = shown(0);
  ASSERT_EQ(names.size(), 12U);
  EXPECT_EQ(names.front(), name_of(16)) << "the twelve greatest of twenty";
  EXPECT_EQ(names.back(), name_of(38));
  EXPECT_EQ(shown(1e-5), names) << "they change by other amounts, with the same verdicts";
}

TEST(Comment, names_the_two_worst_of_many_in_the_order_of_the_list_and_folds_the_others) {
  const Sample sample = sample_of(40, [](int i) { return i < 20 ? failing(i) : passing(i); });
  const std::string comment = comment_of(sample);
  EXPECT_EQ(first_line(comment),
            "### taskbench: FAIL: 20 of 40 benchmarks are slower; the greatest changes: "
            "group/8/case:18 by 21.8 % (90 % interval +20.8 % … +22.8 %), group/9/case:19 by 21.9 "
            "% (+20.9 % … +22.9 %); the chance that any of them is a false alarm is at most 1 %");
  expect_parts(comment, {"20 fail, 20 pass.", "<summary>8 more that fail</summary>"});
}

TEST(Comment, tells_cpu_time_and_instructions_from_times) {
  const Sample cpu = sample_of(6, [](int i) {
    BenchmarkVerdict row = passing(i);
    if (i == 2) row.cpu = metric(Verdict::fail, 0.104);
    return row;
  });
  const std::string comment = comment_of(cpu);
  expect_parts(first_line(comment), {"FAIL: group/2/case:2 takes 10.4 % more CPU time (90 % "});
  expect_parts(comment, {"its wall time passes, +0.0 %."});
  Sample counted = sample_of(6, passing);
  counted.trial.setup.counts_instructions = true;
  for (auto& row : counted.report.benchmarks) {
    const double head = row.name == name_of(3) ? 1050 : 1000;
    row.instructions =
        verdict::judge_instructions(std::vector<double>(5, 1000), std::vector<double>(5, head));
  }
  counted.report.overall = Verdict::fail;
  expect_parts(comment_of(counted),
               {"FAIL: group/3/case:3 executes 5.00 % more instructions, 1 of 6 benchmarks; "
                "instructions are counted, not timed",
                "1,000 → 1,050 per iteration: its time passes, +0.0 %."});
}

TEST(Comment, says_in_minutes_what_would_decide_and_that_hours_or_nothing_would) {
  const Sample sample = sample_of(6, [](int i) {
    if (i == 0) return passing(i);
    if (i == 1) return named(name_of(i), undecided(0.028, 0.2, std::nullopt));
    if (i == 2) return named(name_of(i), undecided(0.02, 0.1, 453'198));
    if (i == 3) return named(name_of(i), undecided(0.02, 0.06, 100));
    if (i == 4) return named(name_of(i), undecided(0.02, 0.05, 60));
    return named(name_of(i), undecided(0.02, 0.07, 900));
  });
  const std::string comment = comment_of(sample);
  EXPECT_EQ(
      first_line(comment),
      "### taskbench: INCONCLUSIVE: no slowdown is proven, but 5 of 6 benchmarks are undecided, "
      "and may be slower by up to 22.8 %");
  const std::vector<std::string> lines = unfolded(comment);
  const int minutes = first_line_with(lines, "about 36 minutes would decide (--budget 36m)");
  EXPECT_LT(minutes, first_line_with(lines, "not even a day would decide"));
  expect_parts(comment, {"- INCONCLUSIVE: 3 benchmarks, group/3/case:3 (+2.0 %, -4.0 % … +8.0 %), ",
                         "| 4 min |", "| > 24 h |"});
  EXPECT_FALSE(contains(comment, "453,198"));
  const Sample slow = sample_of(
      2, [](int i) { return named(name_of(i), undecided(0.02, 0.07, 100)); }, 100);
  expect_parts(comment_of(slow), {"about 4 hours would decide (--budget 4h); with fewer"});
}

TEST(Comment, names_one_time_as_what_would_decide_and_as_the_budget_for_it) {
  const auto with_block_of = [](double block_s) {
    const auto row = [](int i) { return named(name_of(i), undecided(0.02, 0.07, 100)); };
    return comment_of(sample_of(1, row, block_s));
  };
  expect_parts(with_block_of(0.2), {"about 25 seconds would decide (--budget 25s).", "| 25 s |"});
  expect_parts(with_block_of(2), {"about 4 minutes would decide (--budget 4m).", "| 4 min |"});
  expect_parts(with_block_of(100), {"about 4 hours would decide (--budget 4h);", "| 4 h |"});
}

TEST(Comment, says_that_what_fails_may_be_code_layout_where_nothing_is_known_of_that) {
  Sample sample = sample_of(6, [](int i) { return i == 2 ? failing(i) : passing(i); });
  const auto says_so = [&] {
    const std::string comment = comment_of(sample);
    const std::vector<std::string> lines = unfolded(comment);
    const bool in_heading = lines.front().ends_with("at most 1 %, code layout aside");
    EXPECT_EQ(first_line_with(lines, " of head. Where the linker") < 10'000, in_heading) << comment;
    return in_heading;
  };
  EXPECT_FALSE(says_so()) << "one program";
  sample.trial.setup.head.digest = "another";
  EXPECT_TRUE(says_so());
  for (auto& [name, floor] : sample.trial.setup.noise_floors) floor.source = "calibrated today";
  EXPECT_FALSE(says_so());
  for (auto& [name, floor] : sample.trial.setup.noise_floors) floor.source = "assumed: why";
  sample.trial.setup.base.layouts = {"a", "b"};
  EXPECT_TRUE(says_so());
  expect_parts(comment_of(sample), {"2 executables of base, 1 executable of head. Where"});
  sample.trial.setup.kind = "pytest";
  EXPECT_FALSE(says_so());
  sample.trial.setup.kind = "";
  sample.trial.setup.head.layouts = {"c", "d"};
  EXPECT_FALSE(says_so());
}

TEST(Comment, names_repetitions_that_were_fitted_into_the_budget_with_the_budget_that_decides) {
  Sample sample = sample_of(1, [](int i) { return named(name_of(i), undecided(0.02, 0.07, 100)); });
  model::PairedSetup& setup = sample.trial.setup;
  setup.fits_budget = true;
  expect_parts(comment_of(sample), {"(--budget 4m).", "9 repetitions of 1 ms in each process;"});
  setup.repetitions = 3;
  setup.min_time_s = 0.0002;
  expect_parts(comment_of(sample),
               {"(--budget 4m --repetitions 3 --min-time 0.2ms).",
                "3 repetitions of 0.2 ms in each process (fewer or shorter than 9 of 1 ms, so that "
                "more blocks fit the budget);"});
  setup.explored_s = 60;  // the time before the blocks counts, too
  expect_parts(comment_of(sample), {"(--budget 6m --repetitions"});
  setup.repetitions = 9;
  setup.min_time_s = 0.004;
  expect_parts(comment_of(sample), {"(longer than 1 ms, as the program takes long to start)"});
}

TEST(Comment, of_too_few_blocks_says_that_no_slowdown_could_have_been_proven) {
  Sample sample = sample_of(2, [](int i) {
    BenchmarkVerdict row = named(name_of(i), undecided(i == 0 ? 1.29 : 0.01, 0.05, 100));
    row.low = row.high = std::nullopt;
    return row;
  });
  sample.report.blocks = 3;
  sample.report.could_fail = false;
  EXPECT_EQ(first_line(comment_of(sample)),
            "### taskbench: INCONCLUSIVE: 3 blocks cannot prove any slowdown, however large it is, "
            "so that 2 of 2 benchmarks are undecided; group/0/case:0 seems 129.0 % slower, which "
            "may be chance");
  sample.report.could_fail = true;
  EXPECT_EQ(first_line(comment_of(sample)),
            "### taskbench: INCONCLUSIVE: no slowdown is proven, but 2 of 2 benchmarks are "
            "undecided; group/0/case:0 seems 129.0 % slower, which may be chance");
}

TEST(Comment, explains_its_words_below_the_figures_and_so_does_the_table) {
  Sample sample = sample_of(6, [](int i) {
    BenchmarkVerdict row = passing(i);
    if (i == 2) row.blocks = 16;
    return row;
  });
  constexpr std::size_t kWide = 1000;
  const std::string on_a_terminal = table(sample.trial, sample.report, {.width = kWide});
  for (const std::string& text : {comment_of(sample), on_a_terminal}) {
    expect_parts(text, {"A block is 4 processes, half of them base and half head.",
                        "adjusted p: the chance that any of 6 benchmarks shows such a slowdown",
                        "detectable: a slowdown that this many blocks would FAIL four times in",
                        "16 of 32 blocks: a benchmark that is decided skips the later ones"});
    EXPECT_FALSE(contains(text, " look"));
  }
}

TEST(Comment, of_a_verdict_that_was_withdrawn_says_what_was_seen_when) {
  const Sample sample = sample_of(1, [](int i) {
    BenchmarkVerdict row = named(name_of(i), undecided(0.012, 0.05, 100));
    row.decided = verdict::LookDecision{Verdict::fail, false, 8, 0.09};
    return row;
  });
  expect_parts(comment_of(sample),
               {"group/0/case:0 was a FAIL after the first 8 blocks, at +9.0 %; all 32 together, "
                "at +1.2 %, do not confirm that, so it is INCONCLUSIVE."});
}

TEST(Comment, of_what_passes_says_what_would_have_failed_and_how_sure_that_is) {
  EXPECT_EQ(
      first_line(comment_of(sample_of(40, passing))),
      "### taskbench: PASS: none of 40 benchmarks is slower by 3.0 % or more; such a slowdown "
      "is missed with a chance of at most 5 %");
  const Sample one = sample_of(1, [](int) {
    BenchmarkVerdict row = named("sort", metric(Verdict::pass, -0.2));
    row.improved = true;
    return row;
  });
  expect_parts(first_line(comment_of(one)),
               {"PASS: sort is not slower by 3.0 % or more;", "; sort is 20.0 % faster"});
}

TEST(Comment, names_the_threshold_that_another_than_the_usual_one_was_used) {
  const Sample sample = sample_of(2, [](int i) {
    BenchmarkVerdict row = i == 0 ? passing(i) : failing(i);
    if (i == 1) row.delta = 0.084;
    return row;
  });
  expect_parts(comment_of(sample), {"its threshold is 8.4 %, not 3.0 %", "| 8.4 % |", "| 3.0 % |"});
}

TEST(Comment, says_that_more_layouts_would_decide_where_no_number_of_blocks_would) {
  const auto sample_with = [](double change, double layout_error) {
    Sample sample = sample_of(1, [&](int i) {
      MetricVerdict row = undecided(change, 0.02, std::nullopt);
      row.layout_error = layout_error;
      return named(name_of(i), row);
    });
    sample.trial.setup.links = 8;
    return sample;
  };
  Sample sample = sample_with(0.02, 0.015);
  expect_parts(comment_of(sample), {"no number of blocks would decide",
                                    "more of them (further executables of each side)"});
  sample.trial.setup.head.commit = std::string(40, 'c');
  expect_parts(comment_of(sample), {"no number of blocks would decide", "(--links 16)"});
  sample.trial.setup.links = 40;
  expect_parts(comment_of(sample), {"(--links 64), or a greater --delta, would help"});
  sample.trial.setup.links = 64;
  expect_parts(comment_of(sample), {"differ by too much; a greater --delta would help"});
  expect_parts(comment_of(sample_with(0.029, 0.0005)), {"not even a day would decide"});
  expect_parts(comment_of(sample_with(0.03, 0.015)), {"not even a day would decide"});
}

TEST(VerdictTable, has_the_order_of_the_comment_with_the_reason_below_the_row) {
  const Sample sample = sample_of(6, [](int i) {
    if (i == 5) return failing(i);
    return i == 3 ? named(name_of(i), undecided(0.02, 0.06, 100)) : passing(i);
  });
  const std::string text = table(sample.trial, sample.report, {});
  const std::vector<std::string> lines = text_lines(text);
  EXPECT_TRUE(lines[1].starts_with("group/5/case:5  FAIL "));
  EXPECT_TRUE(lines[2].starts_with("  its CPU time  FAIL "));
  EXPECT_TRUE(lines[3].starts_with("    it computes more")) << text;
  EXPECT_TRUE(lines[4].starts_with("group/3/case:3  INCONCLUSIVE"));
  EXPECT_TRUE(lines[6].starts_with("group/0/case:0  PASS"));
  EXPECT_TRUE(contains(text, "about 4 minutes would decide"));
  EXPECT_TRUE(contains(text, "\nFAIL: group/5/case:5 is 20.5 % slower"));
}

TEST(VerdictTable, as_csv_has_a_row_for_each_metric) {
  const Sample sample = sample_of(2, failing);
  const std::vector<std::string> lines = text_lines(as_csv(sample.report));
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_TRUE(lines[1].starts_with("group/0/case:0,wall_time_ns,FAIL,false,1000000,1200000,0.2,"));
  EXPECT_TRUE(lines[2].starts_with("group/0/case:0,cpu_time_ns,FAIL,"));
  for (const std::string& line : lines) {
    EXPECT_EQ(std::ranges::count(line, ','), std::ranges::count(lines[0], ','));
  }
}

}  // namespace
}  // namespace taskbench::reports::render
