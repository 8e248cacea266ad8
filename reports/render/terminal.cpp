// Prints documents on a terminal: in lines that fit, with colours if requested.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "reports/render/columns.hpp"
#include "reports/render/document.hpp"

namespace taskbench::reports::render {
namespace {

// ANSI's colour codes.
constexpr std::string_view kBold = "1";
constexpr std::string_view kDim = "2";
constexpr std::array<std::string_view, 5> kInks{"", "32", "1;31", "33", kDim};  // in Tone's order

constexpr std::size_t kGap = 2;  // between columns

std::string_view ink_of(Tone tone) { return kInks[static_cast<std::size_t>(tone)]; }

std::size_t sum(std::span<const std::size_t> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::size_t{0});
}

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  for (const std::string& word : wrap(text, 1)) longest = std::max(longest, display_width(word));
  return longest;
}

/// The text in an ink, if the style has colours.
std::string inked(const TableStyle& style, std::string_view ink, std::string_view text) {
  if (!style.colour || ink.empty() || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", ink, text);
}

/// A line of a table: its titles, its units, the heading of a group, which has one cell, or a row.
struct Line {
  std::vector<Cell> cells;
  std::string_view ink{};
  std::string_view below{};
  bool is_heading = false;
};

/// The width of each column: the maximum of `measure` over its cells.
template <class Measure>
std::vector<std::size_t> widths_of(std::span<const Line> lines, std::size_t columns,
                                   Measure measure) {
  std::vector<std::size_t> widths(columns, 0);
  for (const Line& line : lines) {
    if (line.is_heading) continue;
    for (std::size_t i = 0; i < line.cells.size(); ++i) {
      widths[i] = std::max(widths[i], measure(one_line(line.cells[i].text)));
    }
  }
  return widths;
}

/// Distributes columns over blocks of lines, in order, after the first column, which every block
/// has. A part whose columns fit into one block is not split. Returns the number of columns of each
/// block.
std::vector<std::size_t> distribute(std::span<const std::size_t> widths,
                                    std::span<const Column> columns, std::size_t label_width,
                                    std::size_t width) {
  const std::size_t room = width > label_width ? width - label_width : 0;
  std::vector<std::size_t> blocks{0};
  std::size_t used = 0;
  const auto start_block = [&] {
    if (blocks.back() == 0) return;
    blocks.push_back(0);
    used = 0;
  };
  for (std::size_t first = 0, end = 0; first < columns.size(); first = end) {
    while (end < columns.size() && columns[end].part == columns[first].part) ++end;
    const auto part = widths.subspan(first, end - first);
    if (used + sum(part) + kGap * part.size() > room) start_block();
    for (const std::size_t each : part) {
      if (used + each + kGap > room) start_block();
      ++blocks.back();
      used += each + kGap;
    }
  }
  return blocks;
}

/// A table laid out for a width.
class Layout {
 public:
  Layout(const Table& table, bool extras, const TableStyle& style) : style_(style) {
    const bool has_groups = !table.group_title.empty();
    for (const Column& column : table.columns) {
      if (extras || !column.is_extra) columns_.push_back(column);
    }
    std::string_view group;
    for (const Row& row : table.rows) {
      if (has_groups && (lines_.empty() || row.group != group)) {
        lines_.push_back({{Cell(row.group)}, kBold, {}, true});
      }
      group = row.group;
      Line& line = lines_.emplace_back(Line{{}, {}, row.below});
      for (std::size_t i = 0; i < row.cells.size(); ++i) {
        if (extras || !table.columns[i].is_extra) line.cells.push_back(row.cells[i]);
      }
      if (has_groups) line.cells.front().text.insert(0, "  ");
    }
    is_broken_ = std::ranges::any_of(columns_, [](const auto& each) { return each.part > 0; });
    if (!is_broken_) return;
    for (const bool is_short : {false, true, false}) {
      is_short_ = is_short;
      widths_ = widths_of(with_titles(), columns_.size(), display_width);
      blocks_ = distribute(std::span(widths_).subspan(1), std::span(columns_).subspan(1),
                           widths_.front(), style.columns());
      if (blocks_.size() == 1) return;  // several blocks have room for long titles
    }
  }

  [[nodiscard]] bool is_short() const { return is_short_; }
  [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }

  [[nodiscard]] std::string text() {
    is_broken_ ? print_blocks() : print_lines();
    return std::move(text_);
  }

 private:
  [[nodiscard]] std::vector<Line> with_titles() const {
    Line titles{{}, kBold, {}};
    Line units{{}, kDim, {}};
    for (const Column& column : columns_) {
      const bool is_short = is_short_ && !column.short_title.empty();
      titles.cells.emplace_back(is_short ? column.short_title : column.title);
      units.cells.emplace_back(column.unit);
    }
    std::vector<Line> all{std::move(titles)};
    if (is_broken_) all.push_back(std::move(units));
    all.insert(all.end(), lines_.begin(), lines_.end());
    return all;
  }

  /// Puts cells next to each other, and wraps those that are wider than their column.
  void print(const Line& line, std::span<const std::size_t> places, std::size_t indent = 0) {
    if (line.is_heading) return print_heading(line);
    std::vector<std::vector<std::string>> wrapped;
    std::size_t height = 1;
    for (const std::size_t place : places) {
      if (place >= line.cells.size()) break;
      std::string cell = one_line(line.cells[place].text);
      const bool fits = display_width(cell) <= widths_[place];
      wrapped.push_back(fits ? std::vector{std::move(cell)} : wrap(cell, widths_[place]));
      height = std::max(height, wrapped.back().size());
    }
    for (std::size_t at = 0; at < height; ++at) {
      std::string blank(indent, ' ');
      for (std::size_t i = 0; i < wrapped.size(); ++i) {
        const std::size_t place = places[i];
        const std::string part = at < wrapped[i].size() ? wrapped[i][at] : std::string();
        const std::size_t used = std::min(display_width(part), widths_[place]);
        const std::string pad(widths_[place] - used, ' ');
        const bool is_number = columns_[place].is_number;
        if (i > 0) blank += std::string(kGap, ' ');
        if (is_number) blank += pad;
        if (!part.empty()) {
          const std::string_view ink = ink_of(line.cells[place].tone);
          text_ += blank + inked(style_, ink.empty() ? line.ink : ink, part);
          blank.clear();
        }
        if (!is_number) blank += pad;
      }
      text_ += '\n';
    }
  }

  void print_heading(const Line& line) {
    for (const std::string& each : wrap(one_line(line.cells.front().text), style_.columns())) {
      text_ += inked(style_, line.ink, each) + '\n';
    }
  }

  void print_blocks() {
    std::size_t first = 1;
    const std::vector<Line> all = with_titles();
    const bool has_units =
        std::ranges::any_of(columns_, [](const Column& column) { return !column.unit.empty(); });
    for (const std::size_t count : blocks_) {
      if (first > 1) text_ += '\n';
      std::vector<std::size_t> places{0};
      std::size_t width = widths_.front();
      for (std::size_t i = first; i < first + count; ++i) {
        places.push_back(i);
        width += kGap + widths_[i];
      }
      for (std::size_t i = 0; i < all.size(); ++i) {
        const bool is_units = i == 1;
        if (is_units && !has_units) continue;
        print(all[i], places);
        if (!is_units) continue;
        std::string dashes;
        for (std::size_t at = 0; at < width; ++at) dashes += "─";
        text_ += inked(style_, kDim, dashes) + '\n';
      }
      first += count;
    }
  }

  /// Every column is as wide as its widest cell. If the rows do not fit into one line, words are
  /// wrapped; if that is not enough, the first cell of each row gets a line of its own.
  void print_lines() {
    constexpr std::string_view kBelowRow = "    ";
    const std::vector<Line> all = with_titles();
    widths_ = widths_of(all, columns_.size(), display_width);
    const bool fits = narrow(widths_of(all, columns_.size(), longest_word));
    std::vector<std::size_t> places(columns_.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    for (const Line& line : all) {
      fits || line.is_heading ? print(line, places) : print_stacked(line, places);
      if (line.below.empty()) continue;
      for (const std::string& each :
           wrap(printable(line.below), style_.columns() - kBelowRow.size(), "  ")) {
        text_ += std::string(kBelowRow) + each + '\n';
      }
    }
  }

  void print_stacked(const Line& line, std::span<const std::size_t> places) {
    const std::string name = one_line(line.cells.front().text);
    // The first column of a header may have no title.
    if (!name.empty()) text_ += inked(style_, line.ink, name) + '\n';
    std::size_t first = 1;
    for (const std::size_t count :
         distribute(std::span(widths_).subspan(1), std::span(columns_).subspan(1), 0,
                    style_.table_columns())) {
      print(line, places.subspan(first, count), kGap);
      first += count;
    }
  }

  /// Narrows the widest columns that can be wrapped until the table fits. If that is impossible,
  /// changes nothing and returns false.
  bool narrow(const std::vector<std::size_t>& least) {
    constexpr std::size_t kReadable = 20;  // narrower text is hard to read
    std::vector<std::size_t> tried = widths_;
    while (sum(tried) + kGap * (tried.size() - 1) > style_.table_columns()) {
      std::size_t* widest = nullptr;
      for (std::size_t i = 0; i < tried.size(); ++i) {
        if (columns_[i].is_number || tried[i] <= std::max(least[i], kReadable)) continue;
        if (widest == nullptr || tried[i] > *widest) widest = &tried[i];
      }
      if (widest == nullptr) return false;
      --*widest;
    }
    widths_ = std::move(tried);
    return true;
  }

  TableStyle style_;
  std::vector<Column> columns_;
  std::vector<Line> lines_;
  std::vector<std::size_t> widths_;
  std::vector<std::size_t> blocks_;  ///< columns in each, besides the first
  bool is_broken_ = false;           ///< into blocks, if it does not fit
  bool is_short_ = false;
  std::string text_;
};

class Page {
 public:
  explicit Page(const TableStyle& style) : style_(style) {}

  std::string print(const Document& document) {
    if (!document.title.empty()) {
      begin(Kind::other);
      lines(document.title, kBold, "", style_.columns());
    }
    // If rows are one line, for scripts, so is a lead in plain words, which is an answer.
    for (const Paragraph& each : document.lead) add(each, style_.table_columns());
    for (const Section& each : document.sections) section(each);
    return std::move(text_);
  }

 private:
  /// The kind of the last output. Paragraphs of one kind follow each other without an empty line.
  enum class Kind { nothing, heading, text, quiet, other };

  void begin(Kind kind) {
    const bool follows = kind == last_ && (kind == Kind::text || kind == Kind::quiet);
    if (last_ != Kind::nothing && last_ != Kind::heading && !follows) text_ += '\n';
    last_ = kind;
  }

  /// Text in lines; all but the first begin with `indent`.
  void lines(std::string_view text, std::string_view ink, std::string_view indent,
             std::size_t width) {
    for (const std::string& each : wrap(printable(text), width, indent)) {
      text_ += inked(style_, ink, each) + '\n';
    }
  }

  void section(const Section& content) {
    if (last_ != Kind::nothing) last_ = Kind::other;
    if (!content.title.empty()) {
      begin(Kind::other);
      lines(content.title, kBold, "", style_.columns());
      last_ = Kind::heading;
    }
    for (const Block& block : content.blocks) {
      std::visit([this](const auto& each) { add(each); }, block);
    }
    for (const Section& part : content.parts) section(part);
  }

  void add(const Paragraph& content, std::optional<std::size_t> answer_width = {}) {
    const bool is_quiet = content.tone == Tone::quiet;
    begin(is_quiet ? Kind::quiet : Kind::text);
    std::string text = content.label;
    for (char& each : text) {
      each = static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
    }
    const bool is_answer = answer_width && content.tone == Tone::plain;
    lines(content.before + text + content.text, ink_of(content.tone), is_quiet ? "" : "  ",
          is_answer ? *answer_width : style_.columns());
  }

  void add(const Items& content) {
    begin(Kind::other);
    for (const Paragraph& item : content.items) {
      lines(fmt::format("- {}{}{}", item.before, item.label, item.text), ink_of(item.tone), "  ",
            style_.columns());
    }
  }

  void add(const Findings& content) {
    begin(Kind::other);
    bool was_short = true;
    for (const Finding& each : content.findings) {
      // A finding without details takes one line, without an empty line before it.
      const bool is_short = each.detail.empty();
      if (&each != content.findings.data() && !(is_short && was_short)) text_ += '\n';
      was_short = is_short;
      labelled(each.label, ink_of(each.tone), each.text, "");
      if (!is_short) labelled("", "", each.detail, kDim);
      if (each.command.empty()) continue;
      // A command stays on one line, of any length, so that it can be copied.
      text_ += std::string(kLabelWidth, ' ') +
               inked(style_, kBold, "→ " + printable(each.command)) + '\n';
    }
  }

  /// Prints the label once, and the text next to it in as many lines as it needs.
  void labelled(std::string_view label, std::string_view label_ink, std::string_view text,
                std::string_view ink) {
    std::string margin = inked(style_, label_ink, pad_right(label, kLabelWidth));
    for (const std::string& each : wrap(printable(text), style_.columns() - kLabelWidth)) {
      text_ += margin + inked(style_, ink, each) + '\n';
      margin = std::string(kLabelWidth, ' ');
    }
  }

  void add(const Listing& content) {
    begin(Kind::other);
    if (!content.label.empty()) lines(content.label + ":", "", "", style_.columns());
    std::string text = printable(content.text);
    if (text.ends_with('\n')) text.pop_back();
    text_ += "  " + replaced(text, "\n", "\n  ") + '\n';
  }

  void add(const Table& content) {
    begin(Kind::other);
    Layout layout(content, false, style_);
    bool draws = false;
    if (style_.draws) {
      Layout wider(content, true, style_);
      draws = wider.blocks() == layout.blocks();
      if (draws) layout = std::move(wider);
    }
    text_ += layout.text();
    if (const auto meaning = legend(content, layout.is_short(), draws); !meaning.empty()) {
      add(Paragraph{meaning, Tone::quiet});
    }
  }

  void add(const Figure&) {}

  static constexpr std::size_t kLabelWidth = 10;

  TableStyle style_;
  std::string text_;
  Kind last_ = Kind::nothing;
};

}  // namespace

std::string terminal(const Document& document, const TableStyle& style) {
  return Page(style).print(document);
}

}  // namespace taskbench::reports::render
