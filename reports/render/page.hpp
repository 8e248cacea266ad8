// Text for a terminal, piece by piece: in lines that fit, and coloured if that is wanted.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "reports/render/columns.hpp"
#include "reports/render/render.hpp"

namespace taskbench::reports::render {

// ANSI's colour codes.
inline constexpr std::string_view kPlain;
inline constexpr std::string_view kBold = "1";
inline constexpr std::string_view kDim = "2";
inline constexpr std::string_view kRed = "31";
inline constexpr std::string_view kYellow = "33";

class Page {
 public:
  explicit Page(const TableStyle& style) : style_(style) {}

  [[nodiscard]] std::size_t width() const { return style_.columns(); }

  /// Adds colour. Pad the text first: the codes have no width.
  [[nodiscard]] std::string inked(std::string_view code, std::string text) const {
    if (!style_.colour || code.empty() || text.empty()) return text;
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
  }

  void line(std::string_view text = {}) { text_.append(text) += '\n'; }

  /// Adds a paragraph; every line but the first begins with `indent`.
  void paragraph(std::string_view text, std::string_view code = kPlain,
                 std::string_view indent = "") {
    for (std::string& each : wrap(printable(text), width(), indent)) {
      line(inked(code, std::move(each)));
    }
  }

  /// Adds a line of dashes of this width, below titles and units.
  void rule(std::size_t width) {
    std::string dashes;
    for (std::size_t i = 0; i < width; ++i) dashes += "─";
    line(inked(kDim, std::move(dashes)));
  }

  /// Adds a table. The first row holds the titles; see fitted().
  void table(std::span<const Cells> rows, const std::vector<bool>& to_the_left) {
    for (const std::string& each : fitted(rows, to_the_left, style_.table_columns())) line(each);
  }
  /// Adds a table whose first column names the rows, and whose others are figures.
  void table(std::span<const Cells> rows) { table(rows, names_to_the_left(rows.front())); }

  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  TableStyle style_;
  std::string text_;
};

}  // namespace taskbench::reports::render
