// The layout of documents on a terminal.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/render/formats.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::render {
namespace {

std::string shown(const Table& table, int width) {
  return terminal({"", {}, {{"only", "", {table}}}, {}}, {.width = width, .folds = true});
}

Table benchmarks() {
  Table table{.columns = named_figures({"benchmark", "base", "head", "change"})};
  table.add({"chained_spawn/work_stealing", "1.00 µs", "2.00 µs", "+100.0 %"});
  return table;
}

TEST(Terminal, a_row_is_a_line_where_it_fits) {
  Table table{.columns = {{"name"}, {"ns", true}, {"what"}}};
  table.add({"a", "1.5", "x y"});
  EXPECT_EQ(shown(table, 40), "name   ns  what\na     1.5  x y\n");
}

TEST(Terminal, text_is_wrapped_at_words_where_that_suffices) {
  Table table{.columns = {{"n"}, {"1", true}, {"what"}}};
  table.add({"a", "1", "the quick brown fox jumps over the lazy dog"});
  EXPECT_EQ(shown(table, 40),
            "n  1  what\na  1  the quick brown fox jumps over the\n      lazy dog\n");
}

TEST(Terminal, cells_stand_below_the_name_where_nothing_can_be_wrapped) {
  EXPECT_EQ(shown(benchmarks(), 40),
            "benchmark\n     base     head    change\n"
            "chained_spawn/work_stealing\n  1.00 µs  2.00 µs  +100.0 %\n");
  Table longer = benchmarks();
  longer.columns.push_back({"interval", true});
  longer.rows[0].cells.emplace_back("+99.0 % … +101.0 %");
  EXPECT_EQ(shown(longer, 40),
            "benchmark\n     base     head    change\n            interval\n"
            "chained_spawn/work_stealing\n  1.00 µs  2.00 µs  +100.0 %\n  +99.0 % … +101.0 %\n");
}

TEST(Terminal, no_line_is_lost_to_a_first_column_without_title) {
  Table table{.columns = named_figures({"", "polls of it", "parks of it", "spawns of it"})};
  table.add({"worker 0", "1,234", "5,678", "9"});
  EXPECT_TRUE(shown(table, 40).starts_with("  polls of it  parks of it  spawns of it\nworker 0\n"));
}

TEST(Terminal, columns_of_one_part_are_broken_last_and_every_block_has_the_names) {
  Table table{.columns = {{"name"}}};
  for (const int part : {1, 1, 2, 2}) {
    table.columns.push_back({.title = "a figure", .is_number = true, .unit = "ns", .part = part});
  }
  table.add({"one benchmark", "1", "2", "3", "4"});
  EXPECT_EQ(shown(table, 80), shown(table, 53)) << "it fits";
  const std::vector<std::string> lines = text_lines(shown(table, 52));
  ASSERT_EQ(lines.size(), 9U);
  EXPECT_EQ(lines[0], "name           a figure  a figure");
  EXPECT_EQ(lines[3], "one benchmark         1         2");
  EXPECT_EQ(lines[4], "");
  EXPECT_EQ(lines[8], "one benchmark         3         4");
}

TEST(Terminal, groups_are_headings_and_a_column_elsewhere) {
  Table table{.columns = {{"counter"}, {"n", true}}, .group_title = "case"};
  table.add({"steals", "1"}, "first");
  table.add({"parks", "2"}, "first");
  table.add({"steals", "3"}, "second");
  EXPECT_EQ(shown(table, 40),
            "counter   n\nfirst\n  steals  1\n  parks   2\nsecond\n  steals  3\n");
  EXPECT_EQ(csv(table), "case,counter,n\nfirst,steals,1\nfirst,parks,2\nsecond,steals,3\n");
}

TEST(Terminal, what_is_said_of_a_row_stands_below_it) {
  Table table = benchmarks();
  table.rows[0].below = "it computes more";
  EXPECT_TRUE(shown(table, 100).ends_with("+100.0 %\n    it computes more\n"));
}

TEST(Terminal, a_finding_has_its_label_once_and_a_command_stays_on_one_line) {
  const std::string command = "sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo";
  const Findings findings{{{"SERIOUS", Tone::bad, "boost: on", "It is hot.", command},
                           {"ok", Tone::good, "aslr: on"},
                           {"ok", Tone::good, "smt: off"}}};
  const Document document{"", {}, {{"only", "", {findings}}}, {}};
  EXPECT_EQ(terminal(document, {.width = 40}),
            "SERIOUS   boost: on\n          It is hot.\n          → " + command +
                "\n\nok        aslr: on\nok        smt: off\n");
  EXPECT_EQ(markdown(document), "- **SERIOUS** boost: on. It is hot. → `" + command +
                                    "`\n- **ok** aslr: on\n- **ok** smt: off\n");
}

TEST(Csv, of_documents_has_numbers_as_they_are_and_nothing_for_what_is_not_known) {
  Table table{.columns = {{"name"}, {.title = "median", .is_number = true, .unit = "µs"}}};
  table.add({"a, b", {"1,234.57", Tone::plain, 1234567.89}});
  table.add({"none", "–"});
  const Document document{"title", {}, {{"one", "", {table}, {{"two", "", {table}}}}}, {}};
  const std::string expected = "name,median µs\n\"a, b\",1234567.89\nnone,\n";
  EXPECT_EQ(csv(document), expected + '\n' + expected);
}

TEST(Terminal, an_answer_of_one_sentence_is_a_line_for_scripts_and_folds_for_people) {
  const Document answer = sentence("PASS: nothing was measured, because the programs are equal");
  EXPECT_EQ(terminal(answer, {.width = 40}),
            "PASS: nothing was measured, because the programs are equal\n");
  EXPECT_EQ(terminal(answer, {.width = 40, .folds = true}),
            "PASS: nothing was measured, because the\n  programs are equal\n");
}

std::string printed(const Answer& answer, std::string_view name) {
  for (const Format& each : formats()) {
    if (each.name == name) return each.print(answer, {});
  }
  return "no such format";
}

TEST(Formats, records_and_a_comment_take_the_place_of_the_document) {
  Answer answer{.document = {"", {}, {{"only", "", {benchmarks()}}}, {}},
                .json = [] { return std::string("{}\n"); }};
  EXPECT_EQ(formats().front().name, "table") << "what is printed where nothing is said";
  EXPECT_TRUE(printed(answer, "table").starts_with("benchmark  "));
  EXPECT_TRUE(printed(answer, "markdown").starts_with("| benchmark | base |"));
  EXPECT_TRUE(printed(answer, "csv").starts_with("benchmark,base,head,change\n"));
  EXPECT_TRUE(contains(printed(answer, "html"), "<th scope=\"row\">chained_spawn"));
  EXPECT_EQ(printed(answer, "json"), "{}\n");
  answer.records = columns_of({"name", "base_ns"});
  answer.records->add({"spawn", raw(1000.5)});
  answer.comment = sentence("PASS");
  EXPECT_EQ(printed(answer, "csv"), "name,base_ns\nspawn,1000.5\n");
  EXPECT_EQ(printed(answer, "markdown"), "PASS\n");
}

}  // namespace
}  // namespace taskbench::reports::render
