#include "reports/render/columns.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace taskbench::reports::render {
namespace {

using Lines = std::vector<std::string>;
using Sizes = std::vector<std::size_t>;

TEST(DisplayWidth, counts_columns_and_not_bytes) {
  for (const auto& [text, width] : std::vector<std::pair<std::string, std::size_t>>{
           {"", 0},
           {"median", 6},
           {"µs", 2},
           {"± MAD", 5},
           {"work_stealing ×2", 16},
           {"–", 1},
           {"───", 3},
           {"東京", 4},  // two columns a character
           {"서울", 4},
           {"🚀", 2},
           {"e\u0301", 1},      // a combining mark takes none
           {"a\xFFz", 3},       // what is not UTF-8 takes one a byte
           {"\xC3", 1},         // cut off
           {"\xC3(", 2},        // not continued
           {"\xC0\x80", 2},     // overlong
           {"\xE2\x82", 2}}) {  // cut off after two of three
    EXPECT_EQ(display_width(text), width) << text;
  }
}

TEST(Printable, has_no_character_that_steers_reorders_or_breaks_xml) {
  for (const auto& [text, shown] : std::vector<std::pair<std::string, std::string>>{
           {"a\x1b[31mb", "a\uFFFD[31mb"},
           {"bell\a tab\t", "bell\uFFFD tab\uFFFD"},
           {"\xFFz", "\uFFFDz"},
           {"two\nlines, µs", "two\nlines, µs"},
           {"a\u202eb\u2066c\uffffd", "a\uFFFDb\uFFFDc\uFFFDd"},
           {"\u05d0\u200f é", "\u05d0\u200f é"},       // writing from the right is writing
           {"\xe0\x80\xbc", "\uFFFD\uFFFD\uFFFD"},     // an overlong '<'
           {"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"}}) {  // half a surrogate pair
    EXPECT_EQ(printable(text), shown);
  }
  EXPECT_EQ(markdown_escaped("a\x1b[31m\r|"), "a\uFFFD\\[31m\\|");
}

TEST(Pad, goes_by_columns_and_leaves_text_that_is_too_wide) {
  EXPECT_EQ(pad_left("µs", 5), "   µs");
  EXPECT_EQ(pad_right("µs", 5), "µs   ");
  EXPECT_EQ(pad_left("median", 3), "median");
  EXPECT_EQ(pad_right("median", 3), "median");
}

TEST(Shortened, keeps_the_beginning_and_the_end) {
  EXPECT_EQ(shortened("short", 5), "short");
  EXPECT_EQ(shortened("abcdefghij", 7), "abc…hij");
  EXPECT_EQ(shortened("äöüäöüäöü", 4), "äö…ü");
  EXPECT_EQ(display_width(shortened(std::string(2'000, 'x'), 48)), 48U);
  EXPECT_LE(display_width(shortened("漢字漢字漢字", 6)), 6U);
}

TEST(Fitted, is_a_line_a_row_where_it_fits) {
  const std::vector<Cells> rows{{"name", "ns", "what"}, {"a", "1.5", "x y"}};
  EXPECT_EQ(fitted(rows, {true, false, true}, 16), (Lines{"name   ns  what", "a     1.5  x y"}));
}

TEST(Fitted, wraps_text_at_words_where_that_suffices) {
  const std::vector<Cells> rows{{"a", "1", "the quick brown fox jumps over the dog"}};
  EXPECT_EQ(fitted(rows, {true, false, true}, 30),
            (Lines{"a  1  the quick brown fox\n      jumps over the dog"}));
}

TEST(Fitted, stands_below_the_first_cell_where_nothing_can_be_wrapped) {
  const std::vector<Cells> rows{{"benchmark", "base", "head", "change"},
                                {"chained_spawn/work_stealing", "1.00 µs", "2.00 µs", "+100.0 %"}};
  EXPECT_EQ(fitted(rows, {true, false, false, false}, 30),
            (Lines{"benchmark\n     base     head    change",
                   "chained_spawn/work_stealing\n  1.00 µs  2.00 µs  +100.0 %"}));
  EXPECT_EQ(fitted(rows, {true, false, false, false}, 20),
            (Lines{"benchmark\n     base     head\n    change",
                   "chained_spawn/work_stealing\n  1.00 µs  2.00 µs\n  +100.0 %"}));
}

TEST(Fitted, no_line_is_lost_to_a_first_cell_without_text) {
  const std::vector<Cells> rows{{"", "polls", "parks"}, {"worker 0", "1,234", "5,678"}};
  EXPECT_EQ(fitted(rows, {true, false, false}, 16),
            (Lines{"  polls  parks", "worker 0\n  1,234  5,678"}));
}

TEST(Wrap, breaks_at_spaces_by_columns_and_keeps_line_breaks) {
  EXPECT_EQ(wrap("the quick brown fox", 10), (Lines{"the quick", "brown fox"}));
  EXPECT_EQ(wrap("the quick brown fox", 9), (Lines{"the quick", "brown fox"}));
  EXPECT_EQ(wrap("the quick", 100), Lines{"the quick"});
  EXPECT_EQ(wrap("a /very/long/path b", 6), (Lines{"a", "/very/long/path", "b"}));
  EXPECT_EQ(wrap("one two\nthree", 5, "  "), (Lines{"one", "  two", "  three"}));
  EXPECT_EQ(wrap("", 5), Lines{""});
  EXPECT_EQ(wrap("±±± ±±±", 7), Lines{"±±± ±±±"});
}

TEST(Distribute, breaks_between_groups_first_and_gives_every_block_a_column) {
  EXPECT_EQ(distribute(Sizes{5, 5, 5}, Sizes{2, 1}, 10, 2, 31), (Sizes{3}));
  EXPECT_EQ(distribute(Sizes{5, 5, 5, 5}, Sizes{2, 2}, 10, 2, 31), (Sizes{2, 2}));
  EXPECT_EQ(distribute(Sizes{5, 5, 5, 5}, Sizes{3, 1}, 10, 2, 24), (Sizes{2, 2}));
  EXPECT_EQ(distribute(Sizes{50, 50}, Sizes{1, 1}, 10, 2, 20), (Sizes{1, 1}));
  EXPECT_EQ(distribute(Sizes{50, 50}, Sizes{2}, 10, 2, 0), (Sizes{1, 1}));
}

}  // namespace
}  // namespace taskbench::reports::render
