#include "reports/render/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "reports/render/columns.hpp"

namespace taskbench::reports::render {
namespace {

// Limit on the rows of a table: renderers of Markdown show all of it, and accept no files of many
// megabytes.
constexpr std::size_t kMostRows = 500;

std::string_view mark_of(Tone tone) {
  switch (tone) {
    case Tone::bad:
      return "**!** ";
    case Tone::doubtful:
      return "**?** ";
    case Tone::good:
    case Tone::plain:
      break;
  }
  return "";
}

std::string escaped(std::string_view text) { return markdown_escaped(printable(text)); }

class Writer {
 public:
  Writer(const Document& document, const std::map<std::string, DrawnPlot>& plots)
      : document_(document), plots_(plots) {}

  void section(const Section& content, std::size_t level) {
    heading(content.title, level);
    for (const Block& block : content.blocks) {
      text_ += '\n';
      std::visit([this](const auto& each) { add(each); }, block);
    }
    for (const Section& part : content.parts) section(part, level + 1);
  }

  void heading(std::string_view title, std::size_t level) {
    text_ += fmt::format("{}{} {}\n", text_.empty() ? "" : "\n", std::string(level, '#'),
                         escaped(title));
  }

  void add(const Paragraph& content) {
    text_ += fmt::format("{}{}\n", mark_of(content.tone), escaped(content.text));
  }

  void new_line() { text_ += '\n'; }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void add(const Items& content) {
    for (const Paragraph& item : content.items) {
      text_ += fmt::format("- {}{}\n", mark_of(item.tone), escaped(item.text));
    }
  }

  void add(const Listing& content) {
    text_ += fmt::format("{}:\n\n{}", escaped(content.label), fenced("text", content.text));
  }

  void add(const TableBlock& content) {
    const std::string caption = escaped(content.caption);
    text_ += content.folded ? fmt::format("<details><summary>{}</summary>\n\n", caption)
                            : fmt::format("{}\n\n", caption);
    Cells titles;
    std::vector<bool> left;
    for (const TableColumn& column : content.columns) {
      titles.push_back(column.title);
      left.push_back(!column.is_number);
    }
    const std::size_t shown = std::min(content.rows.size(), kMostRows);
    std::vector<Cells> rows(shown);
    for (std::size_t i = 0; i < shown; ++i) {
      for (const Cell& cell : content.rows[i]) rows[i].push_back(cell.text);
    }
    text_ += markdown_table(titles, left, rows);
    if (shown < content.rows.size()) {
      text_ += fmt::format("\nThese are the first {} of {} rows; the page has all.\n", shown,
                           content.rows.size());
    }
    if (content.folded) text_ += "\n</details>\n";
  }

  void add(const Figure& content) {
    const auto plot = std::ranges::find(document_.plots, content.plot, &Plot::name);
    const std::string title = plot == document_.plots.end() ? content.plot : plot->title;
    const auto drawn = plots_.find(content.plot);
    if (drawn != plots_.end() && !drawn->second.svg.empty()) {
      const std::string path = fmt::format("{}/{}", kPlotFolder, content.plot);
      text_ += fmt::format("![{}]({}.svg)\n\n[PNG]({}.png). {}\n", escaped(title), path, path,
                           escaped(content.caption));
      return;
    }
    const std::string reason = drawn == plots_.end() ? "" : drawn->second.reason;
    text_ += fmt::format("*The plot “{}” would stand here: {}* {}\n", escaped(title),
                         escaped(reason.empty() ? "it was not drawn." : reason),
                         escaped(content.caption));
  }

  const Document& document_;
  const std::map<std::string, DrawnPlot>& plots_;
  std::string text_;
};

}  // namespace

std::string markdown(const Document& document, const std::map<std::string, DrawnPlot>& plots) {
  Writer writer(document, plots);
  writer.heading(document.title, 1);
  for (const Paragraph& each : document.lead) {
    writer.new_line();
    writer.add(each);
  }
  for (const Section& section : document.sections) writer.section(section, 2);
  return writer.take();
}

}  // namespace taskbench::reports::render
