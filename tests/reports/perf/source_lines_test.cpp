#include "reports/perf/source_lines.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace taskbench::reports::perf {
namespace {

TEST(SourceLines, of_an_address_are_the_inlined_functions_and_then_that_with_a_symbol) {
  const SourceLines lines = parse_addr2line(
      "0x00000000000019a5\n"
      "slow(std::vector<int>&)\n"
      "/src/bench.cpp:9\n"
      "BM_x(benchmark::State&)\n"
      "/src/bench.cpp:15 (discriminator 3)\n"
      "0x0000000000001310\n"
      "_start\n"
      "??:?\n"
      "0x0000000000001320\n"
      "??\n"
      "??:0\n");
  ASSERT_EQ(lines.size(), 3U);
  const auto& frames = lines.at(0x19a5);
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].function, "slow(std::vector<int>&)");
  EXPECT_EQ(frames[0].file, "/src/bench.cpp");
  EXPECT_EQ(frames[0].line, 9);
  EXPECT_EQ(frames[1].line, 15);
  EXPECT_TRUE(lines.at(0x1310).empty());
  EXPECT_TRUE(lines.at(0x1320).empty());
  EXPECT_TRUE(parse_addr2line("").empty());
  EXPECT_TRUE(parse_addr2line("f()\n/src/a.cpp:1\n").empty());
}

TEST(SourceLines, names_of_functions_are_shortened_for_readers) {
  const std::vector<std::pair<const char*, const char*>> expected{
      {"main", "main"},
      {"slow(std::vector<int>&)", "slow"},
      {"slow(int) [clone .constprop.0]", "slow"},
      {"slow.part.0", "slow"},
      {"int queue::push<int>(int, long)", "queue::push<int>"},
      {"operator new(unsigned long)", "operator new"},
      {"(anonymous namespace)::slow(int)", "(anonymous namespace)::slow"},
      {"(below main)", "(below main)"},
      {"sort(int*)::{lambda(int, int)#1}::operator()(int, int) const",
       "sort(int*)::{lambda(int, int)#1}::operator()"},
      {"f()::g(int)", "f()::g"},
      {"Queue<int, 3>::size() const", "Queue<int, 3>::size"},
      {"std::ostream& operator<< <char>(std::ostream&, char)", "operator<< <char>"},
      {"A::operator->() const", "A::operator->"},
      {"std::unique_ptr<Task, std::default_delete<Task> > make<Task>(int)", "make<Task>"},
      {"void std::__introsort_loop<__gnu_cxx::__normal_iterator<int*, std::vector<int> >, long>("
       "int*, int*)",
       "std::__introsort_loop<…>"},
      {"0x0000000000016410", "0x0000000000016410"},
      {"f(", "f"},
      {"", ""},
  };
  for (const auto& [name, shortened] : expected) {
    EXPECT_EQ(short_function_name(name), shortened) << name;
  }
}

}  // namespace
}  // namespace taskbench::reports::perf
