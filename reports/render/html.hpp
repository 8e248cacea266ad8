// HTML from pieces that cannot be confused with text: only text() converts external text, and it
// escapes.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace taskbench::reports::render {

/// Well-formed HTML.
struct Markup {
  std::string html;

  Markup& operator+=(const Markup& more) {
    html += more.html;
    return *this;
  }
  friend Markup operator+(Markup first, const Markup& second) { return std::move(first += second); }
};

/// Escapes text for any place in HTML, attributes included. Bytes that are not UTF-8 and control
/// characters become U+FFFD.
[[nodiscard]] Markup text(std::string_view content);

using Attribute = std::pair<std::string_view, std::string_view>;
using Attributes = std::initializer_list<Attribute>;

/// <name attribute="value">content</name>. Escapes the values.
[[nodiscard]] Markup element(std::string_view name, Attributes attributes, const Markup& content);

/// A drawing of gnuplot as part of a page: without its prolog, titles and background, with black
/// replaced by the text colour of the page, and its ids made unique by `prefix`. `label` is its
/// name for screen readers. Empty if there is no drawing.
[[nodiscard]] Markup inline_svg(std::string_view svg, std::string_view prefix,
                                std::string_view label);

}  // namespace taskbench::reports::render
