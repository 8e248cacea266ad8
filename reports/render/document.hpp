// A report before it is HTML or Markdown: what is said, in which order. The renderers decide how it
// looks. Texts are as they came from the inputs: renderers have to escape them.
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
  std::optional<double> number;  ///< to sort by, if the text does not begin with it

  Cell(std::string content, Tone meant = Tone::plain, std::optional<double> value = {})  // NOLINT
      : text(std::move(content)), tone(meant), number(value) {}
};

/// A table. The first cell of a row is its name.
struct TableBlock {
  std::string caption;
  std::vector<TableColumn> columns;
  std::vector<std::vector<Cell>> rows;
  bool folded = false;  ///< shown on demand: the caption is enough for most readers
};

/// The place of a plot, drawn or not.
struct Figure {
  std::string plot;     ///< Plot::name
  std::string caption;  ///< what it shows, from how many samples
};

using Block = std::variant<Paragraph, Items, Listing, TableBlock, Figure>;

struct Section {
  std::string id;  ///< unique in the document; letters, digits and dashes
  std::string title;
  std::vector<Block> blocks;
  std::vector<Section> parts{};
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
  std::string title;
  std::vector<Paragraph> lead;
  std::vector<Section> sections;
  std::vector<Plot> plots;
};

/// The drawing of a plot, or why there is none.
struct DrawnPlot {
  std::string svg;     ///< the whole file; empty: not drawn
  std::string reason;  ///< why not: a sentence
};

// A report as Markdown, with links to its plots.

/// The folder of the plots, relative to the report.
inline constexpr const char* kPlotFolder = "plots";

/// The document in GitHub's dialect of Markdown. Plots are linked as files below kPlotFolder.
[[nodiscard]] std::string markdown(const Document& document,
                                   const std::map<std::string, DrawnPlot>& plots);

}  // namespace taskbench::reports::render
