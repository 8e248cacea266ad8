#include "reports/render/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "reports/json/reader.hpp"
#include "reports/json/writer.hpp"
#include "reports/render/document.hpp"
#include "reports/render/html.hpp"
#include "reports/render/report_sections.hpp"
#include "tests/reports/sample_runs.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::render {
namespace {

NamedResult result(const std::string& path, const model::Run& run) {
  return {path, json::parse_result_file(path, json::to_json(run))};
}

model::Run run_of(const std::string& date, const std::string& commit, double slower = 1) {
  model::Run run = samples::complete_run();
  run.environment.date = date;
  run.environment.git_commit = commit;
  for (model::Case& each : run.cases) {
    for (model::Repetition& repetition : each.repetitions) repetition.real_ns *= slower;
  }
  return run;
}

Document document_of(const model::Run& run) { return report({{result("r.json", run)}, {}}); }

std::string markdown_of(const model::Run& run) { return markdown(document_of(run), {}); }

const Section* section(const Document& document, const std::string& id) {
  const auto found = std::ranges::find(document.sections, id, &Section::id);
  return found == document.sections.end() ? nullptr : &*found;
}

std::vector<std::string> plot_names(const Document& document) {
  std::vector<std::string> names;
  for (const Plot& plot : document.plots) names.push_back(plot.name);
  return names;
}

const Plot& plot(const Document& document, const std::string& name) {
  return *std::ranges::find(document.plots, name, &Plot::name);
}

TEST(Report, of_one_result_shows_every_sample_of_every_workload) {
  const Document document = document_of(samples::complete_run());
  EXPECT_EQ(
      plot_names(document),
      (std::vector<std::string>{"overview", "distribution-chained_spawn", "distribution-ping_pong",
                                "distribution-spawn_many", "distribution-spawn_local",
                                "distribution-yield_many", "counters"}));
  EXPECT_EQ(section(document, "history"), nullptr);
  const std::string data = plot(document, "distribution-chained_spawn").data;
  const std::string samples = data.substr(0, data.find("# index 1"));
  EXPECT_EQ(std::ranges::count(samples, '\n'), 9 + 2 + 2);  // two comment lines, two empty lines
  EXPECT_TRUE(contains(plot(document, "distribution-chained_spawn").script,
                       "set xlabel 'wall time of one iteration (µs)'"));
  EXPECT_TRUE(contains(markdown(document, {}), "Every dot is one repetition, 9 in each row"));
}

TEST(Report, puts_schedulers_and_worker_counts_side_by_side) {
  const Document document = document_of(samples::several_schedulers_run());
  const std::string script = plot(document, "overview").script;
  for (const char* variant : {"work_stealing ×1", "work_stealing ×2", "current_thread ×1"}) {
    EXPECT_TRUE(contains(script, variant)) << variant;
    EXPECT_TRUE(contains(plot(document, "distribution-ping_pong").script, variant)) << variant;
  }
  EXPECT_TRUE(contains(script, "wall time of one operation"));
}

TEST(Report, draws_what_the_number_of_workers_changes_where_there_are_several) {
  const auto drawn = [](const model::Run& run) {
    std::vector<std::string> names = plot_names(document_of(run));
    std::erase_if(names, [](const auto& name) { return !name.starts_with("workers-"); });
    return names;
  };
  EXPECT_EQ(drawn(samples::complete_run()), std::vector<std::string>());
  EXPECT_EQ(drawn(samples::several_schedulers_run()),
            (std::vector<std::string>{"workers-time", "workers-cpu", "workers-switches",
                                      "workers-steals", "workers-wakes", "workers-overflows"}));
  const Plot plot_of_time = plot(document_of(samples::several_schedulers_run()), "workers-time");
  expect_parts(plot_of_time.script, {"title 'work_stealing'", "title 'current_thread'", "'×2' 2",
                                     "set title 'spawn_many, ns'"});
  EXPECT_TRUE(contains(plot_of_time.data, "# index 0: chained_spawn: work_stealing"));
}

TEST(Report, shows_what_workloads_observed_with_its_unit_and_not_per_operation) {
  const Document document = document_of(samples::observed_run());
  expect_parts(markdown(document, {}),
               {"yield_many: medians over the repetitions.",
                "| workload | scheduler | lead_yields | wait_p99 | wait_p99_9 |",
                "| yield_many | work_stealing ×1 | 56.8 | 12.35 µs | – |",
                "| yield_many | go ×2 | 56.8 | 12.35 µs | 4.321 ms |"});
  expect_parts(plot(document, "workers-observed").script,
               {"set title 'yield_many: wait_p99_9, ms'", "set title 'yield_many: lead_yields'"});
  EXPECT_FALSE(contains(plot(document, "counters").script, "lead"));
}

TEST(Report, of_single_repetitions_names_them_in_the_singular) {
  model::Run run = samples::several_schedulers_run();
  for (model::Case& each : run.cases) each.repetitions.resize(1);
  const std::string text = markdown_of(run);
  EXPECT_TRUE(contains(text, " of 1 repetition; fewer than six values"));
  EXPECT_FALSE(contains(text, "1 repetitions"));
}

TEST(Report, names_twenty_failures_and_counts_the_rest) {
  model::Run run = samples::complete_run();
  model::Case failed = run.cases.front();
  failed.error = "it stopped";
  failed.repetitions.clear();
  for (int i = 0; i < 21; ++i) {
    failed.name = "failed/" + std::to_string(i);
    run.cases.push_back(failed);
  }
  expect_parts(markdown_of(run), {"failed/19 failed (r.json): it stopped",
                                  "1 more benchmark failed or has no repetitions."});
}

TEST(Report, counts_per_operation) {
  EXPECT_TRUE(shown_cases({}).empty());
  // 0.31 steals in 1,000 spawns.
  expect_parts(markdown_of(samples::complete_run()),
               {"Counters per operation: medians over the repetitions.", "| 0.00031 |"});
}

TEST(Report, gives_counters_a_row_each_and_benchmarks_tables_that_a_page_is_wide_enough_for) {
  const Document document = document_of(samples::several_schedulers_run());
  std::vector<std::size_t> widths;
  for (const Block& block : section(document, "counters")->blocks) {
    const auto* table = std::get_if<Table>(&block);
    if (table == nullptr) continue;
    widths.push_back(table->columns.size());
    EXPECT_EQ(table->columns.front().title, "counter");
    EXPECT_EQ(table->rows.front().cells.size(), widths.back());
  }
  EXPECT_EQ(widths, (std::vector<std::size_t>{7, 7})) << "twelve benchmarks, six abreast";
}

/// Every kind of counter, with shares that differ between the cases.
model::Run counted_run_with_all() {
  model::Run run = samples::counted_run();
  for (model::Case& each : run.cases) {
    for (model::EventCount& event : each.events) {
      if (event.event != "branch-misses") continue;
      event.counted_share = &each == &run.cases.front() ? 0.48 : 0.61;
    }
    each.events.push_back(
        {std::string(model::kInstructionsExact), "", {399'744, 399'744, 399'744}, 1, false, ""});
  }
  return run;
}

TEST(Report, shows_what_was_counted_and_why_the_rest_was_not) {
  const Document document = document_of(counted_run_with_all());
  for (const std::string& text : {html(document, {}), markdown(document, {})}) {
    expect_parts(
        text, {"cycles, instructions were not counted: not supported by this machine.",
               "page-faults was not counted: not counted.",
               "page-faults was not counted: perf stat hung.",
               "branch-misses: user only, without what the kernel did for the program.",
               "branch-misses: extrapolated from 48 to 61 % of the time: there were more events",
               "instructions-exact: instructions of the scheduler in_turn",
               "Counters per operation: medians over the repetitions, and of what was counted in "
               "a pass of its own, over its processes.",
               "every dot one of 9 repetitions, or, of what was counted in a pass of its own, a "
               "process."});
    EXPECT_FALSE(contains(text, "task-clock, ns: ")) << "counted all the time, the kernel too";
  }
  EXPECT_FALSE(contains(markdown_of(samples::complete_run()), "in a pass of its own"));
}

TEST(Report, shows_events_per_operation_in_one_row_whatever_their_shares) {
  const Document document = document_of(counted_run_with_all());
  const Section* counters = section(document, "counters");
  ASSERT_NE(counters, nullptr);
  const Table* table = nullptr;
  for (const Block& block : counters->blocks) {
    if (const auto* found = std::get_if<Table>(&block)) table = found;
  }
  ASSERT_NE(table, nullptr);
  const auto cell = [&](std::size_t benchmark, const std::string& counter) {
    std::string text = "no row";
    int rows = 0;
    for (const auto& row : table->rows) {
      if (row.cells.at(0).text != counter) continue;
      text = row.cells.at(benchmark + 1).text;
      ++rows;
    }
    EXPECT_EQ(rows, 1) << counter;
    return text;
  };
  // Both benchmarks have 1,000 operations an iteration.
  using Expected = std::tuple<std::size_t, std::string, std::string>;
  for (const auto& [benchmark, counter, text] :
       {Expected{0, "branch-misses", "1.2"}, Expected{1, "branch-misses", "2.4"},
        Expected{0, "task-clock, ns", "61"}, Expected{1, "task-clock, ns", "122"},
        Expected{0, "instructions-exact", "400"}, Expected{0, "cycles", "–"}}) {
    EXPECT_EQ(cell(benchmark, counter), text) << counter;
  }
  const std::string script = plot(document, "counters").script;
  EXPECT_TRUE(contains(script, "branch-misses"));
  EXPECT_FALSE(contains(script, "cycles"));
}

TEST(Report, of_many_variants_has_several_plots_side_by_side) {
  model::Run run = samples::complete_run();
  const std::vector<model::Case> measured = run.cases;
  run.cases.clear();
  for (int workers = 1; workers <= 25; ++workers) {
    for (model::Case each : measured) {
      each.workers = workers;
      each.name = each.workload + "/" + each.scheduler + "/workers:" + std::to_string(workers);
      run.cases.push_back(std::move(each));
    }
  }
  const Document document = document_of(run);
  std::set<std::string> shown;
  int plots = 0;
  for (const Plot& each : document.plots) {
    if (!each.name.starts_with("overview")) continue;
    ++plots;
    int here = 0;
    for (int workers = 1; workers <= 25; ++workers) {
      const std::string variant = "work_stealing ×" + std::to_string(workers) + "'";
      if (!contains(each.script, variant)) continue;
      EXPECT_TRUE(shown.insert(variant).second) << variant;
      ++here;
    }
    EXPECT_LE(here, 12) << each.name;
    EXPECT_GE(here, 8) << each.name;
    EXPECT_TRUE(contains(each.script, std::to_string(plots) + " of 3"));
  }
  EXPECT_EQ(plots, 3);
  EXPECT_EQ(shown.size(), 25U);
  EXPECT_TRUE(contains(markdown(document, {}), "Each of these plots has a scale of its own."));
}

TEST(Report, of_several_results_has_a_history_in_the_order_of_time_whatever_the_zone) {
  const ReportInputs inputs{{result("c", run_of("2026-03-14T01:30:00+02:00", "cccccccc", 3)),
                             result("b", run_of("2026-03-14T00:00:00Z", "bbbbbbbb", 2)),
                             result("a", run_of("2026-03-13T22:00:00Z", "aaaaaaaa"))},
                            {}};
  const Document document = report(inputs);
  ASSERT_NE(section(document, "history"), nullptr);
  const std::string text = markdown(document, {});
  const auto a = text.find("| aaaaaaa |");
  const auto c = text.find("| ccccccc |");
  const auto b = text.find("| bbbbbbb |");
  EXPECT_LT(a, c);
  EXPECT_LT(c, b);
  // Only the newest result is shown in full.
  EXPECT_TRUE(contains(text, "| 120.2 µs |"));
  EXPECT_EQ(std::ranges::count(plot_names(document), "distribution-chained_spawn"), 1);
}

TEST(Report, says_which_results_cannot_be_compared) {
  model::Run other = run_of("2026-03-15T00:00:00Z", "b");
  other.environment.cpu_model = "Another CPU";
  const Document document =
      report({{result("a", run_of("2026-03-14T00:00:00Z", "a")), result("b", other)}, {}});
  expect_parts(markdown(document, {}),
               {"The results come from 2 machines or builds.",
                "Marks of different colours come from different machines",
                "- CPU: Intel(R) Xeon(R) Processor @ 2.00GHz; Another CPU"});
}

TEST(Report, says_so_if_a_result_does_not_say_where_it_was_measured) {
  model::Run run = samples::complete_run();
  run.environment = {};
  const std::string text = markdown(report({{{"bench.txt", run}}, {}}), {});
  EXPECT_TRUE(contains(text, "bench.txt does not say where it was measured."));
  EXPECT_FALSE(contains(text, "Of the newest result"));
  EXPECT_TRUE(contains(markdown_of(samples::complete_run()), "Of the newest result"));
}

TEST(Report, history_of_more_machines_than_colours_says_that_colours_repeat) {
  const auto text_of = [](int machines) {
    ReportInputs inputs;
    for (int i = 0; i < machines; ++i) {
      const std::string number = std::to_string(i);
      model::Run run = run_of("2026-03-1" + number + "T00:00:00Z", number);
      run.environment.cpu_model = "CPU " + number;
      inputs.results.push_back(result(number, run));
    }
    return markdown(report(inputs), {});
  };
  const std::string seven = text_of(7);
  EXPECT_TRUE(contains(seven, "Marks of different colours come from different machines"));
  EXPECT_FALSE(contains(seven, "of them for 7 colours"));
  expect_parts(text_of(8),
               {"Marks of different colours or shapes come from different machines",
                "There are 8 of them for 7 colours: dots and lines of one colour may belong to "
                "several."});
}

TEST(Report, warns_of_what_makes_times_doubtful) {
  model::Run run = run_of("2026-03-14T00:00:00Z", "0123456789-dirty");
  run.environment.build_type = "Debug";
  run.environment.load_avg = {7, 1, 1};
  run.environment.cpu_scaling_enabled = true;
  run.partial = true;
  run.drift = {};
  run.drift.stolen_share = model::Fact<double>::known(0.031);
  run.drift.swapped_pages = model::Fact<std::int64_t>::known(17);
  expect_parts(markdown_of(run),
               {"Debug build", "ended early", "was busy", "clock rate", "had been changed",
                "r.json: the machine was disturbed while it measured: ",
                "the hypervisor stole 3.1 %", "17 pages were swapped."});
  model::Run quiet = samples::complete_run();
  quiet.drift = {};
  EXPECT_FALSE(contains(markdown_of(quiet), "Warnings"));
  EXPECT_TRUE(contains(markdown_of(samples::failed_run()),
                       "ping_pong/work_stealing/workers:2 failed (r.json): 999 of 1,000"));
}

TEST(Report, of_every_sample_is_whole) {
  for (const samples::NamedRun& sample : samples::all()) {
    if (sample.name == "hostile") continue;  // no reader accepts its times
    const Document document = document_of(sample.make());
    const std::string page = html(document, {});
    EXPECT_EQ(page, html(document_of(sample.make()), {})) << "the same for the same inputs";
    EXPECT_TRUE(page.ends_with("</html>\n")) << sample.name;
    EXPECT_FALSE(contains(page, "nan")) << sample.name;
    for (const Plot& each : document.plots) {
      EXPECT_FALSE(contains(each.data, "nan")) << sample.name << ": " << each.name;
      EXPECT_FALSE(contains(each.data, "inf")) << sample.name << ": " << each.name;
    }
  }
}

TEST(Report, names_no_plot_and_no_section_twice) {
  ReportInputs inputs;
  for (const samples::NamedRun& sample : samples::all()) {
    if (sample.name == "hostile") continue;
    inputs.results.push_back(result(std::string(sample.name), sample.make()));
  }
  const Document document = report(inputs);
  const auto names = plot_names(document);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  std::set<std::string> ids;
  for (const Section& each : document.sections) EXPECT_TRUE(ids.insert(each.id).second) << each.id;
}

}  // namespace
}  // namespace taskbench::reports::render
