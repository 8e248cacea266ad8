#include "reports/render/html.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "reports/render/document.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::render {
namespace {

constexpr const char* kHostile = "<script>alert('x')</script> & \"q\" \x1b[31m \xff | `c`\n# h";

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

Document hostile_document() {
  Document document;
  document.title = kHostile;
  document.lead = {{kHostile, Tone::plain}};
  Table table{.caption = kHostile, .columns = {{kHostile}, {"n", true}}};
  table.add({{kHostile, Tone::bad}, "1"});
  Table folded = table;
  folded.folded = true;
  document.sections = {{"one",
                        kHostile,
                        {Paragraph{kHostile, Tone::doubtful}, Items{{{kHostile, Tone::good}}},
                         Listing{kHostile, kHostile}, table, folded, Figure{"plot", kHostile},
                         Figure{"missing", kHostile}},
                        {{"two", "Part", {Paragraph{"text", Tone::plain}}}}}};
  document.plots = {{"plot", kHostile, "", ""}, {"missing", kHostile, "", ""}};
  return document;
}

const std::string kSvg =
    "<?xml version=\"1.0\"?>\n<svg \n width=\"900\" height=\"100\"\n viewBox=\"0 0 900 100\"\n "
    "xmlns=\"http://www.w3.org/2000/svg\">\n<title>Gnuplot</title><desc>x</desc>"
    "<rect width=\"900\" fill=\"#ffffff\"/><path id='gpPt0' stroke='rgb(  0,   0,   0)'/>"
    "<use xlink:href='#gpPt0' color=\"black\"/></svg>\n";

std::map<std::string, DrawnPlot> plots() {
  return {{"plot", {kSvg, ""}}, {"missing", {"", "gnuplot <b>is</b> not installed."}}};
}

TEST(Html, a_folded_section_is_opened_by_its_title) {
  const Section folded{"why", "Why <so>", {Listing{"", "because", "sh"}}, {}, true};
  EXPECT_TRUE(contains(html({"", {}, {folded}, {}}),
                       "<details id=\"why\"><summary>Why &lt;so&gt;</summary>\n<pre"));
  EXPECT_EQ(markdown({"", {}, {folded}, {}}),
            "<details><summary>Why &lt;so></summary>\n\n```sh\nbecause\n```\n\n</details>\n");
}

TEST(Html, text_from_outside_cannot_be_markup) {
  EXPECT_EQ(text("<a href=\"x\" b='y'>&amp;").html,
            "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;amp;");
  const std::string page = html(hostile_document(), plots());
  EXPECT_EQ(count(page, "<script"), 1U) << "the page's own";
  EXPECT_FALSE(contains(page, "\x1b"));
  EXPECT_FALSE(contains(page, "\xff"));
  EXPECT_FALSE(contains(page, "<b>"));
  EXPECT_TRUE(
      contains(page, "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;q&quot;"));
}

TEST(Html, every_element_is_closed) {
  const std::string page = html(hostile_document(), plots());
  for (const std::string name :
       {"html",    "head",  "body",  "main", "nav", "header", "section", "table",
        "caption", "thead", "tbody", "tr",   "th",  "td",     "figure",  "figcaption",
        "svg",     "ul",    "li",    "p",    "pre", "code",   "details", "summary",
        "div",     "a",     "h1",    "h2",   "h3",  "style",  "title"}) {
    EXPECT_EQ(count(page, '<' + name + '>') + count(page, '<' + name + ' '),
              count(page, "</" + name + '>'))
        << name;
  }
}

TEST(Html, is_one_file_that_asks_for_nothing_else) {
  const std::string page = html(hostile_document(), plots());
  for (const char* part :
       {"<link", "<img", "<iframe", "@import", "src=", "url(http", "fetch(", "XMLHttp"}) {
    EXPECT_FALSE(contains(page, part)) << part;
  }
  EXPECT_TRUE(contains(page, "@media print"));
  EXPECT_TRUE(contains(page, "@media (prefers-color-scheme: dark)"));
}

TEST(Html, can_be_used_without_eyes_and_without_a_mouse) {
  const std::string page = html(hostile_document(), plots());
  expect_parts(page, {"<html lang=\"en\">", "<a class=\"skip\" href=\"#main\">",
                      "<nav aria-label=\"Contents\">", "<th scope=\"col\"", "<th scope=\"row\"",
                      "role=\"img\" aria-label=\"&lt;script&gt;"});
  EXPECT_EQ(count(page, "<caption"), 2U);
  EXPECT_EQ(count(page, "<figcaption"), 2U);
  EXPECT_EQ(count(page, "<h1>"), 1U);
}

TEST(Html, without_titles_has_a_heading_and_regions_with_names) {
  Table table{.columns = {{"n", true}}};
  table.add({Cell("1")});
  const Section section{"result", "", {table, Listing{"", "text"}}};
  const std::string page = html({"", {}, {section}, {}});
  expect_parts(page, {"<h1>taskbench</h1>", " aria-label=\"Table\"><table><thead>",
                      "<pre role=\"region\" tabindex=\"0\" aria-label=\"Listing\">"});
  for (const char* part : {"<nav", "<caption", "aria-labelledby"}) {
    EXPECT_FALSE(contains(page, part)) << part;
  }
}

TEST(Html, says_why_a_plot_is_missing) {
  const std::string page = html(hostile_document(), plots());
  EXPECT_TRUE(contains(page, "would appear here: gnuplot &lt;b&gt;is&lt;/b&gt; not installed."));
}

TEST(InlineSvg, takes_the_colour_of_the_page_and_has_ids_of_its_own) {
  const std::string drawing = inline_svg(kSvg, "figure-7", "a \"plot\"").html;
  EXPECT_TRUE(drawing.starts_with("<svg viewBox=\"0 0 900 100\" "));
  expect_parts(drawing,
               {"aria-label=\"a &quot;plot&quot;\"", "id='figure-7-gpPt0'",
                "xlink:href='#figure-7-gpPt0'", "stroke='currentColor'", "color=\"currentColor\""});
  for (const char* part : {"<?xml", "Gnuplot", "<desc>", "#ffffff", "black"}) {
    EXPECT_FALSE(contains(drawing, part)) << part;
  }
}

TEST(InlineSvg, colours_are_taken_from_attributes_in_either_quotes) {
  for (const char* const quote : {"'", "\""}) {
    std::string svg =
        "<svg viewBox=\"0 0 1 1\"><path fill=~#ffffff~ stroke=~black~/>"
        "<use color=~black~/><text fill=~black~>a</text></svg>";
    std::ranges::replace(svg, '~', *quote);
    const std::string drawing = inline_svg(svg, "a", "b").html;
    EXPECT_EQ(count(drawing, "currentColor"), 3U) << drawing;
    EXPECT_EQ(count(drawing, "fill=" + std::string(quote) + "none"), 1U) << drawing;
  }
}

TEST(InlineSvg, of_many_marks_takes_time_in_proportion) {
  std::string svg = "<svg viewBox=\"0 0 1 1\"><g>";
  for (int i = 0; i < 100'000; ++i) svg += "<path stroke='rgb(0,0,0)' fill=\"black\"/>";
  const std::string drawing = inline_svg(svg + "</g></svg>", "a", "b").html;
  EXPECT_EQ(count(drawing, "currentColor"), 200'000U);
}

TEST(InlineSvg, of_what_is_no_whole_drawing_is_nothing) {
  EXPECT_EQ(inline_svg("", "a", "b").html, "");
  EXPECT_EQ(inline_svg("<svg viewBox=\"0 0 1 1\"><g>", "a", "b").html, "");
  EXPECT_EQ(inline_svg("<svg></svg>", "a", "b").html, "");
}

TEST(DocumentMarkdown, text_from_outside_cannot_break_it) {
  const std::string text = markdown(hostile_document(), plots());
  EXPECT_EQ(count(text, "<script"), 1U);  // in the listing, where nothing is markup
  EXPECT_FALSE(contains(text, "\x1b"));
  EXPECT_FALSE(contains(text, "plots/missing"));
  expect_parts(text, {"![&lt;script>", "](plots/plot.svg)\n\n[PNG](plots/plot.png). ",
                      "would appear here: gnuplot &lt;b>is&lt;/b> not installed.*"});
}

TEST(DocumentMarkdown, folds_what_the_page_folds) {
  const std::string text = markdown(hostile_document(), plots());
  EXPECT_EQ(count(text, "<details><summary>"), 1U);
  EXPECT_EQ(count(text, "\n</details>\n"), 1U);
}

}  // namespace
}  // namespace taskbench::reports::render
