#include "reports/render/numbers.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "reports/render/baseline.hpp"

namespace taskbench::reports::render {
namespace {

using Rendered = std::vector<std::pair<double, std::string>>;

TEST(WithSeparators, whole_numbers) {
  for (const auto& [number, text] : std::vector<std::pair<std::uint64_t, std::string>>{
           {0, "0"},
           {999, "999"},
           {1000, "1,000"},
           {14'638'563, "14,638,563"},
           {std::numeric_limits<std::uint64_t>::max(), "18,446,744,073,709,551,615"}}) {
    EXPECT_EQ(with_separators(number), text);
  }
}

TEST(WithSeparators, numbers_with_decimals) {
  EXPECT_EQ(with_separators(0.0, 2), "0.00");
  EXPECT_EQ(with_separators(999.994, 2), "999.99");
  EXPECT_EQ(with_separators(999.996, 2), "1,000.00");
  EXPECT_EQ(with_separators(1234567.891, 1), "1,234,567.9");
  EXPECT_EQ(with_separators(-1234.5, 1), "-1,234.5");
  EXPECT_EQ(with_separators(-123.4, 0), "-123");
}

TEST(WithSeparators, hundreds_of_digits_are_not_written_out) {
  EXPECT_EQ(with_separators(123'456'789'012'345.0, 0), "123,456,789,012,345");
  EXPECT_EQ(with_separators(1e308, 3), "1e+308");
  EXPECT_EQ(with_separators(-1e308, 3), "-1e+308");
}

TEST(Rate, has_three_digits_also_where_rounding_adds_one_and_tells_none_from_hardly_any) {
  for (const auto& [number, text] : Rendered{{0, "0"},
                                             {0.001, "<0.01"},
                                             {0.005, "0.01"},
                                             {0.12345, "0.12"},
                                             {1.006, "1.01"},
                                             {9.994, "9.99"},
                                             {9.996, "10.0"},
                                             {12.345, "12.3"},
                                             {99.94, "99.9"},
                                             {99.96, "100"},
                                             {123.45, "123"},
                                             {12345.6, "12,346"}}) {
    EXPECT_EQ(rate(number), text);
  }
}

TEST(ThreeDigits, are_enough) {
  for (const auto& [number, text] : Rendered{{0, "0"}, {0.00031, "0.00031"}, {12345.6, "12,346"}}) {
    EXPECT_EQ(three_digits(number), text);
  }
}

TEST(WithPrefix, has_three_digits) {
  for (const auto& [number, text] : Rendered{{0, "0"},
                                             {0.00031, "0.00031"},
                                             {999, "999"},
                                             {999.7, "1 k"},
                                             {12'500, "12.5 k"},
                                             {5e9, "5 G"},
                                             {-2e6, "-2 M"},
                                             {1e30, "1e+06 Y"}}) {
    EXPECT_EQ(with_prefix(number), text);
  }
}

TEST(Percent, has_no_negative_zero) {
  EXPECT_EQ(percent(0.0301), "3.0 %");
  EXPECT_EQ(percent(std::nullopt), "–");
  EXPECT_EQ(percent_change(0.1), "+10.0 %");
  EXPECT_EQ(percent_change(-0.0004), "+0.0 %");
}

TEST(TimeUnit, is_the_largest_in_which_the_shortest_time_is_shown_as_at_least_one) {
  for (const auto& [ns, name] : Rendered{{0.5, "ns"},
                                         {999, "ns"},
                                         {1'000, "µs"},
                                         {999'940, "µs"},
                                         {999'960, "ms"},
                                         {1e6, "ms"},
                                         {2.5e9, "s"},
                                         {1e15, "s"},
                                         {std::numeric_limits<double>::infinity(), "ns"}}) {
    EXPECT_EQ(time_unit(ns).name, name);
  }
}

TEST(TimeUnit, gives_the_shortest_time_four_digits) {
  for (const auto& [ns, decimals] :
       std::vector<std::pair<double, int>>{{1'234, 3}, {12'345, 2}, {123'456, 1}, {5e12, 0}}) {
    EXPECT_EQ(time_unit(ns).decimals, decimals);
  }
}

TEST(TimeText, has_four_digits_also_where_rounding_adds_one) {
  for (const auto& [ns, text] : Rendered{{999'940, "999.9 µs"},
                                         {999'960, "1.000 ms"},
                                         {9.9994, "9.999 ns"},
                                         {9.9996, "10.00 ns"},
                                         {99'996, "100.0 µs"},
                                         {999.96e9, "1,000 s"}}) {
    EXPECT_EQ(time_text(ns), text);
  }
  EXPECT_EQ(ns_cell(99.994), "99.99");
  EXPECT_EQ(ns_cell(99.996), "100.0");
  EXPECT_EQ(ns_cell(999.96), "1,000");
}

TEST(OthersText, has_a_whole_number_of_cpus) {
  verdict::Others others;
  others.used = 1.81;
  others.cpus = 1.94;  // of two: the kernel's counts are coarse
  EXPECT_EQ(others_text(others), "other processes used 1.81 of 2 CPUs");
  others.cpus = 127.8;
  EXPECT_EQ(others_text(others), "other processes used 1.81 of 128 CPUs");
}

}  // namespace
}  // namespace taskbench::reports::render
