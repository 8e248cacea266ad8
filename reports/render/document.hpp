// A report before it is HTML or Markdown: what is said, in which order. The renderers decide how it
// looks. All text is as it came from the inputs: who renders it escapes it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "reports/render/tone.hpp"

namespace taskbench::reports::render {

struct Paragraph {
  std::string text;
  Tone tone = Tone::plain;

  Paragraph(std::string content, Tone meant = Tone::plain)  // NOLINT: text is a paragraph
      : text(std::move(content)), tone(meant) {}
};

struct Items {
  std::vector<Paragraph> items;
};

/// Text as it was typed or logged, line by line.
struct Listing {
  std::string label;  ///< what it is
  std::string text;
};

struct TableColumn {
  std::string title;
  bool is_number = false;
};

struct Cell {
  std::string text;
  Tone tone;
  std::optional<double> number;  ///< what the row is sorted by, where the text does not begin so

  Cell(std::string content, Tone meant = Tone::plain, std::optional<double> value = {})  // NOLINT
      : text(std::move(content)), tone(meant), number(value) {}
};

/// The first cell of a row names it.
struct TableBlock {
  std::string caption;
  std::vector<TableColumn> columns;
  std::vector<std::vector<Cell>> rows;
  bool folded = false;  ///< shown on demand: the caption is enough for most readers
};

/// Where a plot stands, or would stand.
struct Figure {
  std::string plot;     ///< Plot::name
  std::string caption;  ///< what is seen, of how many samples
};

using Block = std::variant<Paragraph, Items, Listing, TableBlock, Figure>;

struct Section {
  std::string id;  ///< unique in the document; letters, digits and dashes
  std::string title;
  std::vector<Block> blocks;
  std::vector<Section> parts{};
};

/// A plot as gnuplot draws it: `script` is NAME.gp, which reads NAME.dat and writes NAME.svg and
/// NAME.png beside itself.
struct Plot {
  std::string name;   ///< of the files: lower-case letters, digits, dashes and underscores
  std::string title;  ///< what is plotted
  std::string script;
  std::string data;
};

struct Document {
  std::string title;
  std::vector<Paragraph> lead;
  std::vector<Section> sections;
  std::vector<Plot> plots;
};

/// What came of a plot.
struct DrawnPlot {
  std::string svg;     ///< the whole file; empty: it was not drawn
  std::string reason;  ///< why not: a sentence
};

// A report as Markdown, with links to its plots.

/// Where the plots lie, seen from the report.
inline constexpr const char* kPlotFolder = "plots";

/// The same as html(document, plots), in GitHub's dialect. Plots are linked as files below
/// kPlotFolder.
[[nodiscard]] std::string markdown(const Document& document,
                                   const std::map<std::string, DrawnPlot>& plots);

}  // namespace taskbench::reports::render
