#include "reports/render/columns.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace taskbench::reports::render {
namespace {

using Lines = std::vector<std::string>;
using Sizes = std::vector<std::size_t>;

TEST(DisplayWidth, counts_columns_and_not_bytes) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("median"), 6U);
  EXPECT_EQ(display_width("µs"), 2U);
  EXPECT_EQ(display_width("± MAD"), 5U);
  EXPECT_EQ(display_width("work_stealing ×2"), 16U);
  EXPECT_EQ(display_width("–"), 1U);
  EXPECT_EQ(display_width("───"), 3U);
}

TEST(DisplayWidth, east_asian_characters_and_emoji_take_two_columns) {
  EXPECT_EQ(display_width("東京"), 4U);
  EXPECT_EQ(display_width("서울"), 4U);
  EXPECT_EQ(display_width("🚀"), 2U);
}

TEST(DisplayWidth, combining_marks_take_none) {
  EXPECT_EQ(display_width("e\xCC\x81"), 1U);  // e and U+0301
}

TEST(DisplayWidth, bytes_that_are_not_utf8_take_one_each) {
  EXPECT_EQ(display_width("a\xFFz"), 3U);
  EXPECT_EQ(display_width("\xC3"), 1U);      // cut off
  EXPECT_EQ(display_width("\xC3("), 2U);     // not continued
  EXPECT_EQ(display_width("\xC0\x80"), 2U);  // overlong
  EXPECT_EQ(display_width("\xE2\x82"), 2U);  // cut off after two of three
}

TEST(Printable, control_characters_and_broken_bytes_become_replacement_characters) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\xEF\xBF\xBD[31mb");
  EXPECT_EQ(printable("bell\a tab\t"), "bell\xEF\xBF\xBD tab\xEF\xBF\xBD");
  EXPECT_EQ(printable("\xFFz"), "\xEF\xBF\xBDz");
  EXPECT_EQ(printable("two\nlines, µs"), "two\nlines, µs");
}

TEST(Pad, goes_by_columns) {
  EXPECT_EQ(pad_left("µs", 5), "   µs");
  EXPECT_EQ(pad_right("µs", 5), "µs   ");
}

TEST(Pad, leaves_text_that_is_too_wide) {
  EXPECT_EQ(pad_left("median", 3), "median");
  EXPECT_EQ(pad_right("median", 3), "median");
}

TEST(Printable, direction_marks_become_replacement_characters) {
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b\xE2\x81\xA6"),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
}

TEST(MarkdownEscaped, holds_no_control_characters) {
  EXPECT_EQ(markdown_escaped("a\x1b[31m\r|"), "a\xEF\xBF\xBD\\[31m\\|");
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

TEST(Wrap, breaks_at_spaces) {
  EXPECT_EQ(wrap("the quick brown fox", 10), (Lines{"the quick", "brown fox"}));
  EXPECT_EQ(wrap("the quick brown fox", 9), (Lines{"the quick", "brown fox"}));
  EXPECT_EQ(wrap("the quick", 100), Lines{"the quick"});
}

TEST(Wrap, longer_word_has_a_line_of_its_own) {
  EXPECT_EQ(wrap("a /very/long/path b", 6), (Lines{"a", "/very/long/path", "b"}));
}

TEST(Wrap, indents_every_line_but_the_first_and_keeps_line_breaks) {
  EXPECT_EQ(wrap("one two\nthree", 5, "  "), (Lines{"one", "  two", "  three"}));
  EXPECT_EQ(wrap("", 5), Lines{""});
}

TEST(Wrap, goes_by_columns) { EXPECT_EQ(wrap("±±± ±±±", 7), Lines{"±±± ±±±"}); }

TEST(Distribute, one_block_when_everything_fits) {
  EXPECT_EQ(distribute(Sizes{5, 5, 5}, Sizes{2, 1}, 10, 2, 31), (Sizes{3}));
}

TEST(Distribute, breaks_between_groups_first) {
  EXPECT_EQ(distribute(Sizes{5, 5, 5, 5}, Sizes{2, 2}, 10, 2, 31), (Sizes{2, 2}));
}

TEST(Distribute, splits_a_group_that_does_not_fit_into_a_block) {
  EXPECT_EQ(distribute(Sizes{5, 5, 5, 5}, Sizes{3, 1}, 10, 2, 24), (Sizes{2, 2}));
}

TEST(Distribute, every_block_has_a_column_however_narrow) {
  EXPECT_EQ(distribute(Sizes{50, 50}, Sizes{1, 1}, 10, 2, 20), (Sizes{1, 1}));
  EXPECT_EQ(distribute(Sizes{50, 50}, Sizes{2}, 10, 2, 0), (Sizes{1, 1}));
}

TEST(Printable, takes_out_what_reorders_text_or_breaks_xml) {
  EXPECT_EQ(printable("a\u202eb\u2066c\uffffd"), "a\uFFFDb\uFFFDc\uFFFDd");
  EXPECT_EQ(printable("\u05d0\u200f é"), "\u05d0\u200f é") << "writing from the right is writing";
  EXPECT_EQ(printable("\xe0\x80\xbc"), "\uFFFD\uFFFD\uFFFD") << "an overlong '<'";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD") << "half a surrogate pair";
}

TEST(Shortened, keeps_the_beginning_and_the_end) {
  EXPECT_EQ(shortened("short", 5), "short");
  EXPECT_EQ(shortened("abcdefghij", 7), "abc…hij");
  EXPECT_EQ(shortened("äöüäöüäöü", 4), "äö…ü");
  EXPECT_EQ(display_width(shortened(std::string(2'000, 'x'), 48)), 48U);
  EXPECT_LE(display_width(shortened("漢字漢字漢字", 6)), 6U);
}

}  // namespace
}  // namespace taskbench::reports::render
