// Turns a run into text: one function a format, one source file each. All text is UTF-8 and ends
// with a newline.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include "reports/model/run.hpp"

namespace taskbench::reports::render {

struct TableStyle {
  bool colour = false;  ///< ANSI colours
  int width = 100;      ///< columns that are at hand: see columns()
  bool folds = false;   ///< on a terminal: a wider table is folded; elsewhere a row is a line
  /// A histogram of each row's repetitions, where a column of it costs no other.
  bool distribution = false;

  /// What is laid out for so many: in fewer than 40, nothing could be read.
  [[nodiscard]] std::size_t columns() const {
    return static_cast<std::size_t>(std::max(40, width));
  }
  /// The same for the lines of a table with one line a row.
  [[nodiscard]] std::size_t table_columns() const {
    return folds ? columns() : std::numeric_limits<std::size_t>::max();
  }
};

/// The table that a person reads: median, spread, ns per operation, CPU time, context switches,
/// scheduler counters per iteration; failed cases with their reason below it. Columns that do not
/// fit into the width go to a second block of lines.
[[nodiscard]] std::string table(const model::Run& run, const TableStyle& style);

/// The same columns as a Markdown table.
[[nodiscard]] std::string markdown(const model::Run& run);

/// One row a repetition, with a header line; quoted as RFC 4180 says, lines end with LF. A failed
/// case has one row, with its error and without numbers. What --counters counted stands in the last
/// columns, the same in each row of a case.
[[nodiscard]] std::string csv(const model::Run& run);

/// "test chained_spawn ... bench:     168,854 ns/iter (+/- 8,339)": median and max - min, as
/// libtest prints them. A workload that the run holds once goes by its own name, one that it holds
/// several times by the full names of its cases.
[[nodiscard]] std::string libtest(const model::Run& run);

}  // namespace taskbench::reports::render
