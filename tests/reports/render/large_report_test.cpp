// Reports with more benchmarks, results and samples than anybody looks at one by one, and with
// values that no clock shows.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "reports/render/document.hpp"
#include "reports/render/html.hpp"
#include "reports/render/report.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::render {
namespace {

model::Case benchmark(const std::string& name, double ns, int repetitions = 1,
                      const model::Counters& counters = {}) {
  model::Case result;
  result.name = name;
  for (int i = 0; i < repetitions; ++i) result.repetitions.push_back({i, 10, ns, ns, counters});
  return result;
}

NamedResult named(const std::string& path, const std::string& date,
                  std::vector<model::Case> benchmarks) {
  NamedResult result;
  result.path = path;
  result.file.environment.date = date;
  result.file.environment.host_name = "host";
  result.file.cases = std::move(benchmarks);
  return result;
}

std::vector<model::Case> many(int count, const std::function<std::string(int)>& name) {
  std::vector<model::Case> result;
  for (int i = 0; i < count; ++i) {
    result.push_back(benchmark(name(i), 1 + i, 1, {{"items_per_second", 5e9}}));
  }
  return result;
}

std::string markdown_of_results(const std::vector<NamedResult>& results) {
  return markdown(report({results, {}}), {});
}

std::size_t plots_of(const Document& document, const std::string& kind) {
  return static_cast<std::size_t>(std::ranges::count_if(
      document.plots, [&](const Plot& plot) { return plot.name.starts_with(kind); }));
}

TEST(LargeReport, plots_the_slowest_and_tables_hold_all) {
  const std::vector<std::function<std::string(int)>> namings{
      [](int i) { return "b" + std::to_string(i); },
      [](int i) { return "family/" + std::to_string(i); },
      [](int i) { return "b" + std::to_string(i) + "/" + std::to_string(i); }};
  for (const auto& naming : namings) {
    const Document document =
        report({{named("r.json", "2026-11-21T00:00:00Z", many(3'000, naming))}, {}});
    EXPECT_LE(plots_of(document, "overview"), 4U) << naming(1);
    EXPECT_LE(plots_of(document, "distribution"), 24U) << naming(1);
    EXPECT_LE(plots_of(document, "counters"), 4U) << naming(1);
    const std::string page = html(document, {});
    EXPECT_TRUE(contains(page, "The plots show the 64 of 3000 benchmarks that are slowest;"));
    std::size_t rows = 0;
    for (std::size_t at = 0; (at = page.find("<tr><th scope=\"row\">", at)) != page.npos; ++at) {
      ++rows;
    }
    EXPECT_GE(rows, 2 * 3'000U) << "results, and counters";
    EXPECT_LT(page.size(), 3'000'000U);
  }
}

TEST(LargeReport, leaves_to_the_script_what_a_browser_would_lay_out_slowly) {
  const auto name = [](int i) { return "b" + std::to_string(i); };
  const auto page_of = [&](int count) {
    return html(report({{named("r.json", "", many(count, name))}, {}}), {});
  };
  EXPECT_FALSE(contains(page_of(1'000), "<noscript>"));
  const std::string page = page_of(1'001);
  const auto rest = page.find("<noscript>");
  ASSERT_NE(rest, page.npos);
  EXPECT_LT(page.find(">b999<"), rest);
  EXPECT_GT(page.find(">b1000<"), rest);
}

TEST(LargeReport, markdown_is_cut_and_says_so) {
  const auto name = [](int i) { return "b" + std::to_string(i); };
  const std::string text = markdown_of_results({named("r.json", "", many(2'500, name))});
  expect_parts(text, {"These are the first 500 of 2500 rows; the page has all.", "| b499 |"});
  EXPECT_FALSE(contains(text, "| b500 |"));
}

TEST(LargeReport, histories_of_many_benchmarks_are_a_table_and_plots_of_those_that_moved) {
  std::vector<model::Case> before;
  std::vector<model::Case> after;
  for (int i = 0; i < 100; ++i) {
    const std::string name = "b" + std::to_string(i);
    before.push_back(benchmark(name, 100));
    after.push_back(benchmark(name, i == 77 ? 50 : 100));
  }
  const Document document = report(
      {{named("a", "2026-11-20T00:00:00Z", before), named("b", "2026-11-21T00:00:00Z", after)},
       {}});
  EXPECT_EQ(plots_of(document, "history"), 24U);
  EXPECT_EQ(plots_of(document, "history-b77"), 1U);
  const std::string text = markdown(document, {});
  EXPECT_TRUE(contains(text, "| b77 | 2 | 100.0 ns | 50.00 ns | -50.0 % |"));
  EXPECT_TRUE(contains(text, "| b99 | 2 | 100.0 ns | 100.0 ns | +0.0 % |"));
}

TEST(LargeReport, of_a_thousand_results_has_a_history) {
  std::vector<NamedResult> results;
  for (int i = 0; i < 1'000; ++i) {
    results.push_back(
        named("r" + std::to_string(i), "2026-11-21T00:00:00Z", {benchmark("b", 100 + i, 7)}));
    results.back().file.environment.host_name = "host " + std::to_string(i % 50);
  }
  const Document document = report({results, {}});
  const Plot& plot = *std::ranges::find(document.plots, std::string("history-b"), &Plot::name);
  EXPECT_TRUE(contains(plot.script, "39 other machines or builds"));
  EXPECT_LT(plot.script.size() + plot.data.size(), 1'000'000U);
}

TEST(LargeReport, of_many_samples_draws_some_dots_and_says_so) {
  const Document document = report({{named("r", "", {benchmark("b", 5, 10'000)})}, {}});
  EXPECT_LT(document.plots.front().data.size(), 200'000U);
  EXPECT_TRUE(contains(markdown(document, {}),
                       "A dot is one repetition, 10000 in each row; up and down within a row means "
                       "nothing. At most 3000 dots of each are drawn"));
}

TEST(ExtremeReport, of_any_time_ends_and_is_readable) {
  for (const std::vector<double>& times : std::vector<std::vector<double>>{
           {5e-324}, {1e308}, {5e-324, 1e308}, {1e308, 1e308}, {1e-9, 1}}) {
    std::vector<model::Case> benchmarks;
    for (std::size_t i = 0; i < times.size(); ++i) {
      benchmarks.push_back(benchmark("b" + std::to_string(i), times[i], 8, {{"c", times[i]}}));
    }
    const Document document = report({{named("r", "", benchmarks)}, {}});
    const std::string text = markdown(document, {});
    EXPECT_LT(text.size(), 10'000U) << "a number of 300 digits?";
    EXPECT_FALSE(contains(text, "| 0.000 ns |")) << text;
    EXPECT_FALSE(contains(text, "inf ")) << text;
    for (const Plot& plot : document.plots) EXPECT_LT(plot.script.size(), 10'000U);
  }
}

TEST(ExtremeReport, of_any_name_has_plots_of_its_own_and_labels_that_fit) {
  const std::string long_name(2'000, 'n');
  std::vector<model::Case> benchmarks;
  for (const std::string& name :
       {std::string("sort"), std::string("Sort"), std::string("SORT"), long_name, long_name + "2",
        std::string("\"'<&>\x1b[31m\n\r\t`%d$(x)\\"), std::string("\u05d0\u05d1\u202e/x"),
        std::string("\xff\xfe")}) {
    benchmarks.push_back(benchmark(name, 5, 7));
  }
  const Document document = report({{named("r", "", benchmarks)}, {}});
  EXPECT_EQ(plots_of(document, "distribution"), 8U);
  std::vector<std::string> names;
  for (const Plot& plot : document.plots) {
    EXPECT_LT(plot.name.size(), 90U);
    names.push_back(plot.name);
    for (const std::string& text : {plot.script, plot.data}) {
      EXPECT_FALSE(contains(text, "\x1b"));
      EXPECT_FALSE(contains(text, "\u202e"));
    }
    const std::string script = plot.script.substr(plot.script.find('\n'));
    EXPECT_FALSE(contains(script, std::string(100, 'n'))) << plot.name;
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST(History, of_one_day_shows_times_and_of_one_moment_numbers) {
  const auto script_of = [](const std::vector<std::string>& dates) {
    std::vector<NamedResult> results;
    for (const std::string& date : dates) {
      results.push_back(named(std::to_string(results.size()), date,
                              {benchmark("b", 5 + static_cast<double>(results.size()))}));
    }
    const Document document = report({results, {}});
    return std::ranges::find(document.plots, std::string("history-b"), &Plot::name)->script;
  };
  using Case = std::pair<std::vector<std::string>, std::string>;
  for (const auto& [dates, ticks] :
       {Case{{"2026-11-20T08:15:00Z", "2026-11-21T08:15:00Z"}, "'2026-11-20' 1, '2026-11-21' 2"},
        Case{{"2026-11-21T08:15:00Z", "2026-11-21T09:30:00Z"},
             "'2026-11-21 08:15' 1, '2026-11-21 09:30' 2"},
        Case{{"2026-11-21T08:15:01Z", "2026-11-21T08:15:02Z"},
             "'2026-11-21 08:15:01' 1, '2026-11-21 08:15:02' 2"},
        Case{{"2026-11-21T08:15:01Z", "2026-11-21T08:15:01Z"},
             "'2026-11-21 08:15:01 (1)' 1, '2026-11-21 08:15:01 (2)' 2"},
        Case{{"", ""}, "'undated (1)' 1, 'undated (2)' 2"}}) {
    EXPECT_TRUE(contains(script_of(dates), ticks));
  }
}

TEST(Counters, of_an_older_result_stay_when_a_newer_one_has_none) {
  const Document document =
      report({{named("old.json", "2026-11-20T00:00:00Z", {benchmark("b", 5, 7, {{"steals", 3}})}),
               named("new.json", "2026-11-21T00:00:00Z", {benchmark("b", 6, 7)})},
              {}});
  EXPECT_EQ(plots_of(document, "counters"), 1U);
  expect_parts(markdown(document, {}),
               {"| steals | 3 |",
                "b: counted in the older result old.json; newer ones have no such counters."});
}

TEST(Counters, that_are_rates_have_units_with_prefixes) {
  const model::Counters rates{{"bytes_per_second", 5e9}, {"items_per_second", 12}};
  expect_parts(markdown_of_results({named("r", "", {benchmark("b", 5, 7, rates)})}),
               {"| bytes_per_second | 5 GB/s |", "| items_per_second | 12 /s |"});
}

TEST(Captions, speak_of_the_bars_that_are_drawn) {
  const auto text_of = [](int first, int second) {
    return markdown_of_results(
        {named("a", "2026-11-20T00:00:00Z", {benchmark("x", 5, first), benchmark("y", 5, first)}),
         named("b", "2026-11-21T00:00:00Z",
               {benchmark("x", 6, second), benchmark("y", 6, second)})});
  };
  const std::string few = text_of(3, 3);
  EXPECT_FALSE(contains(few, "its bar"));
  EXPECT_TRUE(contains(few, "the median of a result; fewer than six values give it no 95 %"));
  EXPECT_TRUE(contains(text_of(3, 7),
                       "the median of a result, its bar the 95 % interval of that median where "
                       "there are the six values that it takes"));
  EXPECT_TRUE(contains(text_of(7, 7), "its bar the 95 % interval of that median; every dot"));
}

}  // namespace
}  // namespace taskbench::reports::render
