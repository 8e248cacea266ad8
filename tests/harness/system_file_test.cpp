#include "harness/os/system_file.hpp"

#include <gtest/gtest.h>

#include "tests/harness/fake_root.hpp"

namespace taskbench::harness {
namespace {

using Cpus = std::vector<unsigned>;

TEST(system_file, cpu_lists_have_ranges_and_single_cpus) {
  EXPECT_EQ(cpu_list("0"), (Cpus{0}));
  EXPECT_EQ(cpu_list("0-2,8"), (Cpus{0, 1, 2, 8}));
}

TEST(system_file, what_is_no_cpu_list_is_empty) {
  for (const char* text : {"", "-", "a", "0-", "2-1", "0,,1", "0-4294967295", "1 2"}) {
    EXPECT_EQ(cpu_list(text), Cpus{}) << text;
  }
}

TEST(system_file, numbers_are_all_of_the_text) {
  EXPECT_EQ(number<int>("12"), 12);
  EXPECT_EQ(number<double>("0.25"), 0.25);
  for (const char* text : {"", "12 ", "x", "1x"})
    EXPECT_EQ(number<int>(text), std::nullopt) << text;
}

TEST(system_file, words_and_lines_leave_out_what_is_between_them) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(words_of("  a\tb  c\n"), (Parts{"a", "b", "c"}));
  EXPECT_EQ(words_of(" "), Parts{});
  EXPECT_EQ(lines_of("a\n\nb"), (Parts{"a", "", "b"}));
}

TEST(system_file, a_missing_file_and_a_folder_are_empty) {
  const FakeRoot root;
  EXPECT_EQ(content_of(root.path() / "none"), std::nullopt);
  EXPECT_EQ(content_of(root.path()), std::nullopt);
  EXPECT_EQ(first_line(root.path() / "none"), "");
  EXPECT_EQ(first_line(root.path()), "");
  EXPECT_EQ(whole_number_in(root.path() / "none"), std::nullopt);
  EXPECT_EQ(value_of_line(root.path() / "none", "a"), "");
}

TEST(system_file, values_are_found_by_their_whole_name) {
  const FakeRoot root;
  root.write("status", "Cpus_allowed:\t3\nCpus_allowed_list:\t0-1\n");
  EXPECT_EQ(value_of_line(root.path() / "status", "Cpus_allowed_list"), "0-1");
  EXPECT_EQ(value_of_line(root.path() / "status", "Cpus"), "");
}

TEST(system_file, files_longer_than_a_block_are_read_whole) {
  const FakeRoot root;
  const std::string content(10'000, 'x');
  root.write("long", content);
  EXPECT_EQ(content_of(root.path() / "long"), content);
}

}  // namespace
}  // namespace taskbench::harness
