#include "reports/render/flame_graph.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/reports/text.hpp"

namespace taskbench::reports::render {
namespace {

model::Profile sample() {
  model::Profile profile;
  profile.stacks[{"worker", "clone3", "taskbench::rt::poll<std::pair<a, b> >"}] = 6;
  profile.stacks[{"worker", "clone3", "taskbench::workloads::(anonymous namespace)::ping"}] = 3;
  profile.stacks[{"main thread", "a & <b>", "futex_wait_[k]"}] = 1;
  return profile;
}

TEST(flame_graph_test, folded_stacks_have_a_line_each_with_the_samples_last) {
  EXPECT_EQ(folded(sample()),
            "main thread;a & <b>;futex_wait_[k] 1\n"
            "worker;clone3;taskbench::rt::poll<std::pair<a, b> > 6\n"
            "worker;clone3;taskbench::workloads::(anonymous namespace)::ping 3\n");
}

TEST(flame_graph_test, widths_are_shares_and_tooltips_have_whole_names) {
  const std::string svg = flame_graph(sample(), "ping_pong: cpu-clock at 997 Hz");
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  expect_parts(svg,
               {"<title>clone3 (9 of 10 samples, 90.0 %)</title>",
                "width=\"1062.00\"",  // nine tenths of 1180
                "taskbench::rt::poll&lt;std::pair&lt;a, b&gt; &gt; (6 of 10", ">rt::poll</text>",
                "<title>a &amp; &lt;b&gt; (1 of 10", "prefers-color-scheme: dark"});
}

TEST(flame_graph_test, frames_tell_the_script_which_samples_are_theirs) {
  const std::string svg = flame_graph(sample(), "x");
  expect_parts(svg, {"data-c=\"10\" aria-labelledby",
                     "<g class=\"f other\" data-o=\"1\" data-c=\"9\"><title>worker",
                     "data-o=\"1\" data-c=\"6\" data-n=\"rt::poll\"><title>taskbench::rt"});
  EXPECT_TRUE(svg.find("<script><![CDATA[") > svg.rfind("<title>"));
}

TEST(flame_graph_test, frames_too_narrow_to_be_seen_are_there_to_be_zoomed_in_on) {
  model::Profile profile;
  profile.stacks[{"wide"}] = 99'999;
  profile.stacks[{"wide", "narrow"}] = 1;
  const std::string svg = flame_graph(profile, "x");
  EXPECT_TRUE(contains(svg, "<g class=\"f other s\" data-o=\"0\" data-c=\"1\"><title>narrow"));
}

TEST(flame_graph_test, hostile_names_are_text) {
  model::Profile profile;
  profile.stacks[{"a\"b]]><script>\x1b\n\u202e\uffff", std::string(2'000, 'x')}] = 1;
  const std::string svg = flame_graph(profile, "</svg>");
  EXPECT_TRUE(contains(svg, "<title>a&quot;b]]&gt;&lt;script&gt;\uFFFD\n\uFFFD\uFFFD (1 of 1"));
  EXPECT_EQ(svg.find("</svg>"), svg.size() - 7);
}

TEST(flame_graph_test, kinds_of_frames_have_colours_of_their_own) {
  const std::string svg = flame_graph(sample(), "x");
  const auto class_of = [&](const std::string& name) {
    const auto group = svg.rfind("<g class=\"f ", svg.find("<title>" + name)) + 12;
    return svg.substr(group, svg.find('"', group) - group);
  };
  EXPECT_EQ(class_of("taskbench::rt"), "rt");
  EXPECT_EQ(class_of("taskbench::workloads"), "workload");
  EXPECT_EQ(class_of("futex_wait_[k]"), "kernel");
  EXPECT_EQ(class_of("clone3"), "other");
}

TEST(flame_graph_test, short_symbols_keep_what_tells_functions_apart) {
  EXPECT_EQ(short_symbol("taskbench::rt::sync::Receiver<taskbench::rt::Signal>::poll"),
            "rt::sync::Receiver::poll");
  EXPECT_EQ(short_symbol("taskbench::workloads::(anonymous namespace)::ping"), "workloads::ping");
  EXPECT_EQ(short_symbol("std::operator<"), "std::operator<");
  EXPECT_EQ(short_symbol("p::operator->"), "p::operator->");
}

TEST(flame_graph_test, function_is_shown_where_its_namespaces_do_not_fit) {
  model::Profile profile;
  profile.stacks[{"worker", "taskbench::rt::work_stealing::Worker::poll"}] = 6;
  profile.stacks[{"worker", "other"}] = 94;
  EXPECT_TRUE(contains(flame_graph(profile, "x"), ">poll</text>"));
}

TEST(flame_graph_test, empty_profile_is_an_empty_picture) {
  EXPECT_TRUE(flame_graph({}, "nothing").ends_with("</svg>\n"));
  EXPECT_EQ(folded({}), "");
}

}  // namespace
}  // namespace taskbench::reports::render
