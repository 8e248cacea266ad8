#include "reports/render/columns.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "reports/render/formats.hpp"

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
           {"東京", 4},  // two columns per character
           {"서울", 4},
           {"🚀", 2},
           {"✅⚡⌚", 6},
           {"✓→", 2},           // they are symbols, not emoji
           {"e\u0301", 1},      // a combining mark takes none
           {"a\xFFz", 3},       // invalid UTF-8 takes one per byte
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
           {"\u05d0\u200f é", "\u05d0\u200f é"},       // right-to-left text is allowed
           {"\xe0\x80\xbc", "\uFFFD\uFFFD\uFFFD"},     // an overlong '<'
           {"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"}}) {  // half a surrogate pair
    EXPECT_EQ(printable(text), shown);
  }
  EXPECT_EQ(markdown(sentence("a\x1b[31m\r|")), "a\uFFFD\\[31m\\|\n");
}

TEST(Pad, goes_by_columns_and_leaves_text_that_is_too_wide) {
  EXPECT_EQ(pad_left("µs", 5), "   µs");
  EXPECT_EQ(pad_right("µs", 5), "µs   ");
  EXPECT_EQ(pad_left("median", 3), "median");
  EXPECT_EQ(pad_right("median", 3), "median");
}

TEST(Beginning, has_the_characters_that_fit) {
  EXPECT_EQ(beginning("short", 5), "short");
  EXPECT_EQ(beginning("abcdef", 3), "abc");
  EXPECT_EQ(beginning("äöü", 2), "äö");
  EXPECT_EQ(beginning("漢字", 3), "漢");
  EXPECT_EQ(beginning("e\u0301x", 1), "e\u0301");
  EXPECT_EQ(beginning("", 0), "");
}

TEST(Shortened, keeps_the_beginning_and_the_end) {
  EXPECT_EQ(shortened("short", 5), "short");
  EXPECT_EQ(shortened("abcdefghij", 7), "abc…hij");
  EXPECT_EQ(shortened("äöüäöüäöü", 4), "äö…ü");
  EXPECT_EQ(display_width(shortened(std::string(2'000, 'x'), 48)), 48U);
  EXPECT_LE(display_width(shortened("漢字漢字漢字", 6)), 6U);
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

}  // namespace
}  // namespace taskbench::reports::render
