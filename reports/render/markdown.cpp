#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "reports/render/columns.hpp"
#include "reports/render/document.hpp"

namespace taskbench::reports::render {
namespace {

// Limit on the rows of a table: renderers of Markdown show all of it, and do not accept files of
// many megabytes.
constexpr std::size_t kMostRows = 500;

/// Escapes everything in a text for a cell or a line that would end it, start a tag or change its
/// meaning, including control characters. Underscores within words mean nothing in GitHub's
/// Markdown, and names are full of them.
std::string escaped(std::string_view text) {
  std::string result = printable(replaced(text, "\r", ""));
  for (const char each : {'\\', '|', '`', '*', '[', ']'}) {
    result = replaced(result, {&each, 1}, std::string{'\\', each});
  }
  for (const auto& [character, escape] : {std::pair{"&", "&amp;"}, {"<", "&lt;"}, {"\n", "<br>"}}) {
    result = replaced(result, character, escape);
  }
  return result;
}

/// A fenced block with this text, however many backticks it has.
std::string fenced(std::string_view language, std::string_view content) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char each : content) {
    run = each == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(std::max<std::size_t>(3, longest + 1), '`');
  std::string text = printable(content);
  if (!text.ends_with('\n')) text += '\n';
  return fmt::format("{}{}\n{}{}\n", fence, language, text, fence);
}

std::string table_text(const Table& table) {
  const Table shown = flat(table);
  std::string titles = "|";
  std::string alignment = "|";
  for (const Column& column : shown.columns) {
    const bool is_rate = column.unit.starts_with('/');
    titles += fmt::format(" {}{}{} |", escaped(column.title),
                          column.unit.empty() || is_rate ? "" : ", ", column.unit);
    alignment += column.is_number ? "--:|" : ":--|";
  }
  std::string text = fmt::format("{}\n{}\n", titles, alignment);
  for (std::size_t i = 0; i < std::min(kMostRows, shown.rows.size()); ++i) {
    text += '|';
    for (const Cell& cell : shown.rows[i].cells) text += fmt::format(" {} |", escaped(cell.text));
    text += '\n';
  }
  return text;
}

std::string_view mark_of(Tone tone) {
  return tone == Tone::bad ? "**!** " : tone == Tone::doubtful ? "**?** " : "";
}

std::string labelled(const Paragraph& content) {
  // A label replaces the mark for its tone.
  if (content.label.empty()) {
    return fmt::format("{}{}", mark_of(content.tone), escaped(content.text));
  }
  return fmt::format("{}**{}**{}", escaped(content.before), escaped(content.label),
                     escaped(content.text));
}

class MarkdownWriter {
 public:
  MarkdownWriter(const Document& document, const DrawnPlots& plots)
      : document_(document), plots_(plots) {}

  std::string write() {
    if (!document_.title.empty()) heading(document_.title, document_.level);
    for (const Paragraph& each : document_.lead) block(each);
    for (const Section& each : document_.sections) section(each, 2);
    return document_.mark.empty() ? std::move(text_) : document_.mark + '\n' + text_;
  }

 private:
  void new_line() { text_ += text_.empty() ? "" : "\n"; }

  void section(const Section& content, std::size_t level) {
    if (content.folded) {
      new_line();
      text_ += fmt::format("<details><summary>{}</summary>\n", escaped(content.title));
    } else if (!content.title.empty()) {
      heading(content.title, level);
    }
    for (const Block& each : content.blocks) block(each);
    for (const Section& part : content.parts) section(part, level + 1);
    if (content.folded) text_ += "\n</details>\n";
  }

  void heading(std::string_view title, std::size_t level) {
    new_line();
    text_ += fmt::format("{} {}\n", std::string(level, '#'), escaped(title));
  }

  void block(const Block& content) {
    new_line();
    std::visit([this](const auto& each) { add(each); }, content);
  }

  void add(const Paragraph& content) { text_ += labelled(content) + '\n'; }

  void add(const Items& content) {
    for (const Paragraph& item : content.items) text_ += fmt::format("- {}\n", labelled(item));
  }

  void add(const Findings& content) {
    for (const Finding& each : content.findings) {
      text_ += fmt::format("- **{}** {}", escaped(each.label), escaped(each.text));
      if (!each.detail.empty()) text_ += fmt::format(". {}", escaped(each.detail));
      if (!each.command.empty()) text_ += fmt::format(" → `{}`", printable(each.command));
      text_ += '\n';
    }
  }

  void add(const Listing& content) {
    if (!content.label.empty()) text_ += fmt::format("{}:\n\n", escaped(content.label));
    text_ += fenced(content.language, content.text);
  }

  void add(const Table& content) {
    const std::string caption = escaped(content.caption);
    if (content.folded) {
      text_ += fmt::format("<details><summary>{}</summary>\n\n", caption);
    } else if (!caption.empty()) {
      text_ += fmt::format("{}\n\n", caption);
    }
    text_ += table_text(content);
    if (content.rows.size() > kMostRows) {
      text_ += fmt::format("\nThese are the first {} of {} rows; the page has all.\n", kMostRows,
                           content.rows.size());
    }
    if (content.folded) text_ += "\n</details>\n";
    if (const std::string meaning = legend(content); !meaning.empty()) block(Paragraph{meaning});
  }

  void add(const Figure& content) {
    const auto plot = std::ranges::find(document_.plots, content.plot, &Plot::name);
    const std::string title = escaped(plot == document_.plots.end() ? content.plot : plot->title);
    const auto drawn = plots_.find(content.plot);
    if (drawn != plots_.end() && !drawn->second.svg.empty()) {
      const std::string path = fmt::format("{}/{}", kPlotFolder, content.plot);
      text_ += fmt::format("![{}]({}.svg)\n\n[PNG]({}.png). ", title, path, path);
    } else {
      const std::string reason = drawn == plots_.end() ? "" : drawn->second.reason;
      text_ += fmt::format("*The plot “{}” would appear here: {}* ", title,
                           escaped(reason.empty() ? "it was not drawn." : reason));
    }
    text_ += escaped(content.caption) + '\n';
  }

  const Document& document_;
  const DrawnPlots& plots_;
  std::string text_;
};

}  // namespace

std::string markdown(const Document& document, const DrawnPlots& plots) {
  return MarkdownWriter(document, plots).write();
}

}  // namespace taskbench::reports::render
