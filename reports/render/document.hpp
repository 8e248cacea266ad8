// The output of a command before it becomes text: its content and order. Each subject makes a
// document of its result; each printer decides the appearance: on a terminal, as Markdown, as a
// page, as CSV. Texts are as they came from the inputs: printers must escape them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "reports/verdict/decision.hpp"

namespace taskbench::reports::render {

/// The tone of a text. It only emphasises what the words already say.
enum class Tone {
  plain,
  good,
  bad,
  doubtful,
  quiet,  ///< the basis of the rest
};

[[nodiscard]] constexpr Tone tone_of(verdict::Verdict verdict) {
  constexpr std::array<Tone, 3> kTones{Tone::good, Tone::bad, Tone::doubtful};
  return kTones[static_cast<std::size_t>(verdict)];
}

/// The tone of MAD over median: at first it raises doubts about the median, later the median says
/// nothing.
[[nodiscard]] constexpr Tone tone_of_spread(double percent) {
  return percent > 10 ? Tone::bad : percent > 5 ? Tone::doubtful : Tone::plain;
}

struct Paragraph {
  std::string text;
  Tone tone = Tone::plain;
  std::string label{};   ///< highlighted, before the text; may be empty
  std::string before{};  ///< precedes the label; may be empty

  Paragraph(std::string content, Tone meant = Tone::plain, std::string begin = {})  // NOLINT
      : text(std::move(content)), tone(meant), label(std::move(begin)) {}
};

struct Items {
  std::vector<Paragraph> items;
};

/// A finding: a word for its severity, what it is, why it matters, and a command to copy.
struct Finding {
  std::string label;
  Tone tone = Tone::plain;
  std::string text;
  std::string detail{};   ///< may be empty
  std::string command{};  ///< may be empty
};

struct Findings {
  std::vector<Finding> findings;
};

/// Text as typed or logged, line by line.
struct Listing {
  std::string label;  ///< description; may be empty
  std::string text;
  std::string language = "text";
};

struct Column {
  std::string title;
  bool is_number = false;
  std::string unit{};         ///< "µs", "/iter"; may be empty
  std::string short_title{};  ///< for narrow headings; may be empty
  std::string meaning{};      ///< half a sentence; empty if the title says it all
  /// Columns of one part stay together if a table is broken into blocks of columns; 0: the table is
  /// not broken.
  int part = 0;
  bool is_extra = false;  ///< only for a terminal that draws, if there is room
};

struct Cell {
  std::string text;
  Tone tone;
  std::optional<double> number;  ///< the number itself, if the text does not begin with it

  Cell(std::string content = {}, Tone meant = Tone::plain,
       std::optional<double> value = {})  // NOLINT
      : text(std::move(content)), tone(meant), number(value) {}
  Cell(const char* content) : Cell(std::string(content)) {}       // NOLINT
  Cell(std::string_view content) : Cell(std::string(content)) {}  // NOLINT
};

/// A cell for each column. The first is the row's name.
struct Row {
  std::vector<Cell> cells;
  std::string group{};  ///< rows of one group are adjacent
  std::string below{};  ///< a sentence about the row; may be empty
};

struct Table {
  std::string caption{};  ///< its content; a terminal has no room for it
  std::vector<Column> columns{};
  std::vector<Row> rows{};
  bool folded = false;        ///< shown on demand: the caption suffices for most readers
  std::string group_title{};  ///< what the groups are; empty: there are none

  /// Adds a row and returns it.
  Row& add(std::vector<Cell> cells, std::string group = {}) {
    return rows.emplace_back(Row{std::move(cells), std::move(group)});
  }
};

/// The place of a plot, drawn or not.
struct Figure {
  std::string plot;     ///< Plot::name
  std::string caption;  ///< its content, and the number of samples
};

using Block = std::variant<Paragraph, Items, Findings, Listing, Table, Figure>;

struct Section {
  std::string id;     ///< unique in the document; letters, digits and dashes
  std::string title;  ///< may be empty
  std::vector<Block> blocks;
  std::vector<Section> parts{};
  bool folded = false;  ///< shown on demand: the title suffices for most readers

  void add(Block block) { blocks.push_back(std::move(block)); }
  /// Adds a paragraph, unless it is empty.
  void say(std::string text, Tone tone = Tone::plain) {
    if (!text.empty()) add(Paragraph{std::move(text), tone});
  }
};

/// A plot for gnuplot: `script` is NAME.gp, which reads NAME.dat and writes NAME.svg and NAME.png
/// to the same folder.
struct Plot {
  std::string name;   ///< of the files: lower-case letters, digits, dashes and underscores
  std::string title;  ///< what is plotted
  std::string script;
  std::string data;
};

struct Document {
  std::string title;  ///< may be empty
  std::vector<Paragraph> lead;
  std::vector<Section> sections;
  std::vector<Plot> plots;
  std::size_t level = 1;  ///< of the title's heading in Markdown
  std::string mark{};     ///< a hidden first line in Markdown; may be empty
};

/// A document of one paragraph.
[[nodiscard]] Document sentence(std::string text);

/// The columns of a table in which the first column names the rows, and the others are figures.
[[nodiscard]] std::vector<Column> named_figures(std::vector<std::string> titles);

/// A table without rows, with columns for raw values: for machines.
[[nodiscard]] Table columns_of(std::vector<std::string> titles);

/// A raw number.
[[nodiscard]] inline Cell raw(std::optional<double> number) { return {{}, Tone::plain, number}; }

/// A number that is a member of `whole`, if there is one.
template <class Whole>
[[nodiscard]] Cell raw_part(const std::optional<Whole>& whole, double Whole::*part) {
  return raw(whole ? std::optional((*whole).*part) : std::nullopt);
}

/// "steals: successful ones; …": explains the columns; empty if their titles need no explanation.
/// `is_short`: for the short titles of a narrow table; `extras`: including extra columns.
[[nodiscard]] std::string legend(const Table& table, bool is_short = false, bool extras = false);

/// The table for printers without groups and extra columns: the groups become a column.
[[nodiscard]] Table flat(Table table);

/// The drawing of a plot, or the reason for having none.
struct DrawnPlot {
  std::string svg;     ///< the whole file; empty: not drawn
  std::string reason;  ///< for not drawing it: a sentence
};
using DrawnPlots = std::map<std::string, DrawnPlot>;

/// The folder of the plots, relative to the report.
inline constexpr const char* kPlotFolder = "plots";

struct TableStyle {
  bool colour = false;  ///< ANSI colours
  int width = 100;      ///< available columns: see columns()
  bool folds = false;   ///< fold wide tables, as on a terminal; otherwise a row is one line
  bool draws = false;   ///< show extra columns, if no other column has to make room for them

  /// The width for the layout: at least 40 columns, since nothing could be read with fewer.
  [[nodiscard]] std::size_t columns() const {
    return static_cast<std::size_t>(std::max(40, width));
  }
  /// The width for tables: unlimited if a row has to be one line.
  [[nodiscard]] std::size_t table_columns() const {
    return folds ? columns() : std::numeric_limits<std::size_t>::max();
  }
};

// The printers. Texts are UTF-8 and end with a newline.

/// For people at a terminal. Plots are left out.
[[nodiscard]] std::string terminal(const Document& document, const TableStyle& style);

/// GitHub's dialect of Markdown. Plots are linked as files below kPlotFolder.
[[nodiscard]] std::string markdown(const Document& document, const DrawnPlots& plots = {});

/// A page in one file: without external links, and complete even without scripts. A plot that was
/// not drawn is replaced by a sentence.
[[nodiscard]] std::string html(const Document& document, const DrawnPlots& plots = {});

/// The tables, according to RFC 4180, but with LF at line ends; an empty line between two. Numbers
/// are raw, unknown ones empty.
[[nodiscard]] std::string csv(const Document& document);
[[nodiscard]] std::string csv(const Table& table);

}  // namespace taskbench::reports::render
