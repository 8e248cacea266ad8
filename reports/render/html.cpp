#include "reports/render/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "reports/render/columns.hpp"
#include "reports/render/document.hpp"
#include "reports/render/html_assets.hpp"

namespace taskbench::reports::render {
namespace {

/// Removes all text between two marks, including the marks.
void remove_all(std::string& text, std::string_view first, std::string_view last) {
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = 0; (at = text.find(first, done)) != std::string::npos;) {
    const std::size_t end = text.find(last, at);
    if (end == std::string::npos) break;
    result.append(text, done, at - done);
    done = end + last.size();
  }
  if (done > 0) text = result.append(text, done);
}

std::string_view class_of(Tone tone) {
  constexpr std::array<std::string_view, 5> kClasses{"", "good", "bad", "doubtful", "quiet"};
  return kClasses[static_cast<std::size_t>(tone)];
}

Markup line_break() { return {"\n"}; }

/// An element on a line of its own.
Markup line(std::string_view name, Attributes attributes, const Markup& content) {
  return element(name, attributes, content) + line_break();
}

Markup with_tone(std::string_view name, Tone tone, const Markup& content) {
  if (tone == Tone::plain) return line(name, {}, content);
  return line(name, {{"class", class_of(tone)}}, content);
}

Markup paragraph(const Paragraph& content, std::string_view name = "p") {
  Markup label;
  if (!content.label.empty()) label = element("strong", {}, text(content.label));
  return with_tone(name, content.tone, text(content.before) + label + text(content.text));
}

// The number of rows that a browser lays out at once without a delay; further rows are left to the
// script.
constexpr std::size_t kPlainRows = 1000;

class HtmlWriter {
 public:
  explicit HtmlWriter(const DrawnPlots& plots, const Document& document)
      : plots_(plots), document_(document) {}

  Markup section(const Section& content, int level) {
    const std::string heading = fmt::format("h{}", level);
    const std::string heading_id = content.id + "-title";
    Markup inner = line_break();
    if (!content.title.empty() && !content.folded) {
      inner += line(heading, {{"id", heading_id}}, text(content.title));
    }
    for (const Block& block : content.blocks) {
      inner += std::visit([this](const auto& each) { return markup(each); }, block);
    }
    for (const Section& part : content.parts) inner += section(part, level + 1);
    if (content.folded) {
      return line("details", {{"id", content.id}},
                  element("summary", {}, text(content.title)) + inner);
    }
    if (content.title.empty()) return line("section", {{"id", content.id}}, inner);
    return line("section", {{"id", content.id}, {"aria-labelledby", heading_id}}, inner);
  }

 private:
  Markup markup(const Paragraph& content) { return paragraph(content); }

  Markup markup(const Items& content) {
    Markup items = line_break();
    for (const Paragraph& item : content.items) items += paragraph(item, "li");
    return line("ul", {}, items);
  }

  Markup markup(const Findings& content) {
    Markup items = line_break();
    for (const Finding& each : content.findings) {
      Markup item = element("strong", {}, text(each.label)) + text(' ' + each.text);
      if (!each.detail.empty()) item += text(". " + each.detail);
      if (!each.command.empty()) item += text(" → ") + element("code", {}, text(each.command));
      items += with_tone("li", each.tone, item);
    }
    return line("ul", {}, items);
  }

  Markup markup(const Listing& content) {
    const Markup code = element("code", {}, text(content.text));
    Markup label;
    if (!content.label.empty()) label = line("p", {{"class", "label"}}, text(content.label));
    const std::string name = content.label.empty() ? "Listing" : content.label;
    return label + line("pre", {{"role", "region"}, {"tabindex", "0"}, {"aria-label", name}}, code);
  }

  Markup markup(const Table& table) {
    const Table content = flat(table);
    const std::string caption_id = fmt::format("table-{}", ++tables_);
    Markup head;
    for (const Column& column : content.columns) head += heading_cell(column);
    head = line("thead", {}, element("tr", {}, head));
    const std::size_t first = std::min(content.rows.size(), kPlainRows);
    Markup caption;
    Attribute name{"aria-label", "Table"};  // a region needs a name
    if (!content.caption.empty()) {
      caption = line("caption", {{"id", caption_id}}, element("span", {}, text(content.caption)));
      name = {"aria-labelledby", caption_id};
    }
    Markup frame = framed(name, caption + head + rows_of(content, 0, first));
    if (first < content.rows.size()) {
      frame +=
          line("noscript", {}, framed(name, head + rows_of(content, first, content.rows.size())));
    }
    if (const std::string meaning = legend(content); !meaning.empty()) {
      frame += paragraph({meaning, Tone::quiet});
    }
    if (!content.folded) return frame;
    return line("details", {}, element("summary", {}, text(content.caption)) + frame);
  }

  /// An element that scrolls if too wide. The keyboard can scroll only elements that take focus.
  static Markup scrolling(std::string_view kind, const Attribute& name, const Markup& content) {
    return element("div", {{"class", kind}, {"role", "region"}, {"tabindex", "0"}, name}, content);
  }

  static Markup framed(const Attribute& name, const Markup& table) {
    return scrolling("wide", name, element("table", {}, table)) + line_break();
  }

  static Markup rows_of(const Table& content, std::size_t first, std::size_t end) {
    Markup rows = line_break();
    for (std::size_t i = first; i < end; ++i) append_row(content, content.rows[i].cells, rows);
    return element("tbody", {}, rows);
  }

  static Markup heading_cell(const Column& column) {
    const std::string_view kind = column.is_number ? "number" : "words";
    const std::string unit = column.unit.empty() ? "" : ' ' + column.unit;
    return element("th", {{"scope", "col"}, {"class", kind}}, text(column.title + unit));
  }

  static void append_row(const Table& table, const std::vector<Cell>& cells, Markup& rows) {
    rows.html += "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string_view name = i == 0 ? "th" : "td";
      rows.html += fmt::format("<{}{}", name, i == 0 ? " scope=\"row\"" : "");
      const bool is_number = i < table.columns.size() && table.columns[i].is_number;
      const bool has_tone = cells[i].tone != Tone::plain;
      if (is_number || has_tone) {
        rows.html +=
            fmt::format(" class=\"{}{}{}\"", is_number ? "number" : "",
                        is_number && has_tone ? " " : "", has_tone ? class_of(cells[i].tone) : "");
      }
      if (cells[i].number) rows.html += fmt::format(" data-v=\"{:.7g}\"", *cells[i].number);
      rows.html += '>';
      rows += text(cells[i].text);
      rows.html += fmt::format("</{}>", name);
    }
    rows.html += "</tr>\n";
  }

  Markup markup(const Figure& content) {
    const std::string caption_id = fmt::format("figure-{}", ++figures_);
    const auto plot = std::ranges::find(document_.plots, content.plot, &Plot::name);
    const std::string title = plot == document_.plots.end() ? content.plot : plot->title;
    const auto drawn = plots_.find(content.plot);
    Markup drawing;
    if (drawn != plots_.end()) drawing = inline_svg(drawn->second.svg, caption_id, title);
    if (drawing.html.empty()) {
      const bool told = drawn != plots_.end() && !drawn->second.reason.empty();
      drawing = element(
          "p", {{"class", "missing"}},
          text(fmt::format("The plot “{}” would appear here: {}", title,
                           told ? drawn->second.reason : std::string("it was not drawn."))));
    } else {
      drawing = scrolling("plot", {"aria-labelledby", caption_id}, drawing);
    }
    const Markup caption = element("figcaption", {{"id", caption_id}}, text(content.caption));
    return line("figure", {}, drawing + line_break() + caption);
  }

  const DrawnPlots& plots_;
  const Document& document_;
  int tables_ = 0;
  int figures_ = 0;
};

/// Links to the sections that have titles; empty if none has.
Markup contents(const Document& document) {
  Markup items = line_break();
  bool any = false;
  for (const Section& section : document.sections) {
    if (section.title.empty()) continue;
    any = true;
    items += line("li", {}, element("a", {{"href", '#' + section.id}}, text(section.title)));
  }
  if (!any) return {};
  return line("nav", {{"aria-label", "Contents"}}, element("ul", {}, items));
}

Markup heading_of(const Document& document) {
  return text(document.title.empty() ? "taskbench" : document.title);
}

Markup head_of(const Document& document) {
  return Markup{
             "<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta name=\"color-scheme\" content=\"light dark\">\n"} +
         line("title", {}, heading_of(document)) +
         line("style", {}, Markup{std::string(kPageStyle)});
}

}  // namespace

Markup text(std::string_view content) {
  std::string result = printable(content);
  if (result.find_first_of("&<>\"'") == result.npos) return {std::move(result)};
  for (const auto& [character, entity] :
       {std::pair{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}}) {
    result = replaced(result, character, entity);
  }
  return {std::move(result)};
}

Markup element(std::string_view name, Attributes attributes, const Markup& content) {
  std::string start;
  for (const auto& [key, value] : attributes) {
    start += fmt::format(" {}=\"{}\"", key, text(value).html);
  }
  return {fmt::format("<{0}{1}>{2}</{0}>", name, start, content.html)};
}

Markup inline_svg(std::string_view svg, std::string_view prefix, std::string_view label) {
  const std::size_t root = svg.find("<svg");
  const std::size_t inside = root == std::string_view::npos ? root : svg.find('>', root);
  const std::size_t end = svg.rfind("</svg>");
  if (inside == std::string_view::npos || end == std::string_view::npos || end < inside) return {};
  const std::string_view start = svg.substr(root, inside - root);
  const std::size_t box = start.find("viewBox=\"");
  if (box == std::string_view::npos) return {};
  const std::string_view from_box = start.substr(box + 9);
  const std::string view_box(from_box.substr(0, from_box.find('"')));

  std::string drawing(svg.substr(inside + 1, end - inside - 1));
  remove_all(drawing, "<title>", "</title>");  // "Gnuplot": browsers show it as a tool tip
  remove_all(drawing, "<desc>", "</desc>");
  const auto replace = [&](std::string_view from, const std::string& to) {
    drawing = replaced(drawing, from, to);
  };
  // gnuplot uses either kind of quote, depending on its version and on what it draws.
  for (const std::string_view quote : {"\"", "'"}) {
    replace(fmt::format(" id={}", quote), fmt::format(" id={}{}-", quote, prefix));
    replace(fmt::format("href={}#", quote), fmt::format("href={}#{}-", quote, prefix));
    replace(fmt::format("fill={0}#ffffff{0}", quote), fmt::format("fill={0}none{0}", quote));
    for (const std::string_view attribute : {"fill", "stroke", "color"}) {
      replace(fmt::format("{0}={1}black{1}", attribute, quote),
              fmt::format("{0}={1}currentColor{1}", attribute, quote));
    }
  }
  replace("url(#", fmt::format("url(#{}-", prefix));
  for (const std::string_view black : {"rgb(  0,   0,   0)", "rgb(0,0,0)", "#000000"}) {
    replace(black, "currentColor");
  }
  return element("svg",
                 {{"viewBox", view_box},
                  {"xmlns", "http://www.w3.org/2000/svg"},
                  {"xmlns:xlink", "http://www.w3.org/1999/xlink"},
                  {"role", "img"},
                  {"aria-label", label}},
                 Markup{drawing});
}

std::string html(const Document& document, const DrawnPlots& plots) {
  HtmlWriter page(plots, document);
  Markup lead = line_break() + line("h1", {}, heading_of(document));
  for (const Paragraph& each : document.lead) lead += paragraph(each);
  Markup main = line_break();
  for (const Section& section : document.sections) main += page.section(section, 2);
  const Markup body =
      line_break() +
      line("a", {{"class", "skip"}, {"href", "#main"}}, text("Skip to the results")) +
      line("header", {}, lead) + contents(document) +
      line("main", {{"id", "main"}, {"tabindex", "-1"}}, main) +
      line("script", {}, Markup{std::string(kPageScript)});
  const Markup page_text =
      line_break() + line("head", {}, line_break() + head_of(document)) + line("body", {}, body);
  return "<!DOCTYPE html>\n" + line("html", {{"lang", "en"}}, page_text).html;
}

}  // namespace taskbench::reports::render
