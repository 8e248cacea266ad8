#include "reports/perf/explain.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace taskbench::reports::perf {
namespace {

/// A profile of a program in which `body` was executed.
ProfiledSide side(const std::string& body, double iterations = 1) {
  return {parse_callgrind("events: Ir\nob=/home/bench\n" + body + "totals: 1\n").value(),
          iterations};
}

std::string function(const std::string& name, const std::string& costs) {
  return "fl=/home/bench.cpp\nfn=" + name + "()\n" + costs;
}

std::vector<std::string> names(const std::vector<model::GrownFunction>& grown) {
  std::vector<std::string> result;
  for (const auto& each : grown) result.push_back(each.function);
  return result;
}

using Names = std::vector<std::string>;

TEST(Explain, names_what_grew_most_first_and_not_what_grew_by_next_to_nothing) {
  const auto all = [](int a, int b, int c, int d) {
    std::string text;
    int line = 0;
    for (const auto& [name, cost] : {std::pair("a", a), {"b", b}, {"c", c}, {"d", d}}) {
      text += function(name, "0x10 " + std::to_string(++line) + ' ' + std::to_string(cost) + '\n');
    }
    return side(text);
  };
  const ProfiledSide base = all(100, 100, 100, 100);
  EXPECT_EQ(names(grown_functions(base, all(120, 100, 300, 50), 3)), (Names{"c", "a"}));
  EXPECT_EQ(names(grown_functions(base, all(120, 130, 300, 140), 3)), (Names{"c", "d", "b"}));
  EXPECT_EQ(names(grown_functions(base, all(102, 100, 300, 100), 3)), Names{"c"});
  EXPECT_TRUE(grown_functions(base, base, 3).empty());
}

TEST(Explain, counts_an_iteration_whatever_their_number) {
  const auto grown = grown_functions(side(function("a", "0x10 1 400\n"), 4),
                                     side(function("a", "0x10 1 300\n")), 3);
  ASSERT_EQ(grown.size(), 1U);
  EXPECT_EQ(grown[0].base, 100);
  EXPECT_EQ(grown[0].head, 300);
}

TEST(Explain, shows_the_line_that_grew_though_lines_above_it_were_added) {
  const auto grown = grown_functions(side(function("a", "0x10 5 100\n0x14 6 10\n0x18 9 40\n")),
                                     side(function("a", "0x10 7 100\n0x14 8 90\n0x18 11 40\n")), 3);
  ASSERT_EQ(grown.size(), 1U);
  EXPECT_EQ(grown[0].file, "/home/bench.cpp");
  EXPECT_EQ(grown[0].line, 8);
}

TEST(Explain, says_how_often_a_function_was_called) {
  const auto with = [](int calls) {
    const std::string times = std::to_string(calls);
    return side(function("main", "cfn=a()\ncalls=" + times + " 0x10 1\n0x20 2 " + times + "00\n") +
                function("a", "0x10 1 " + times + "00\n"));
  };
  const auto grown = grown_functions(with(1), with(5), 3);
  ASSERT_EQ(names(grown), Names{"a"});
  EXPECT_EQ(grown[0].base_calls, 1);
  EXPECT_EQ(grown[0].head_calls, 5);
}

TEST(Explain, a_library_of_the_system_counts_for_its_caller) {
  const auto with = [](const std::string& cost) {
    return side(
        function("a", "cob=/usr/lib/libc.so.6\ncfn=memset\ncalls=1 0x10 1\n0x20 2 " + cost + "\n") +
        "ob=/usr/lib/libc.so.6\nfl=???\nfn=memset\n0x10 0 " + cost + "\n");
  };
  const auto grown = grown_functions(with("10"), with("1000"), 3);
  ASSERT_EQ(names(grown), Names{"a"});
  EXPECT_EQ(grown[0].head, 1000);
  EXPECT_EQ(grown[0].line, 2);
}

// main calls std::sort, which calls itself and the program's comparison.
ProfiledSide sorting(int of_sort, int of_comparison) {
  const std::string inner = std::to_string(of_sort / 2 + of_comparison / 2);
  const std::string all = std::to_string(of_sort + of_comparison);
  return side(
      function("main", "cfn=void std::sort<int*>(int*)\ncalls=1 0x10 1\n0x30 3 " + all + "\n") +
      "fl=/usr/include/c++/12/bits/stl_algo.h\nfn=void std::sort<int*>(int*)\n0x10 1900 " +
      std::to_string(of_sort) + "\ncfn=void std::sort<int*>(int*)\ncalls=1 0x10 1\n" +
      "0x14 1901 " + inner + "\ncfi=/home/bench.cpp\ncfn=less()\ncalls=9 0x20 1\n0x18 1902 " +
      std::to_string(of_comparison) + "\n" +
      function("less", "0x20 7 " + std::to_string(of_comparison) + "\n"));
}

TEST(Explain, a_template_of_the_system_counts_for_its_caller_without_what_it_calls_back) {
  const ProfiledSide base = sorting(1000, 500);
  EXPECT_EQ(names(grown_functions(base, sorting(1000, 5000), 3)).front(), "less");
  EXPECT_EQ(names(grown_functions(base, sorting(9000, 500), 3)), Names{"main"});
}

TEST(Explain, inlined_code_counts_for_the_innermost_function_of_the_program) {
  ProfiledSide base = side(function("main", "0x10 1 10\n0x14 2 10\n"));
  ProfiledSide head = side(function("main", "0x10 1 10\n0x14 2 90\n"));
  EXPECT_EQ(names(grown_functions(base, head, 3)), Names{"main"}) << "without debug information";
  const SourceLines lines{
      {0x14,
       {{"int std::max<int>(int, int)", "/usr/include/c++/12/bits/stl_algobase.h", 260},
        {"slow(int)", "/home/slow.hpp", 44},
        {"main", "/home/bench.cpp", 2}}}};
  base.sources["/home/bench"] = lines;
  head.sources["/home/bench"] = lines;
  const auto grown = grown_functions(base, head, 3);
  ASSERT_EQ(names(grown), Names{"slow"});
  EXPECT_EQ(grown[0].file, "/home/slow.hpp");
  EXPECT_EQ(grown[0].line, 44);
}

}  // namespace
}  // namespace taskbench::reports::perf
