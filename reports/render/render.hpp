// Turns results into text: one function for each of them and each format. All text is UTF-8 and
// ends with a newline.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include "reports/model/doctor.hpp"
#include "reports/model/noise.hpp"
#include "reports/model/run.hpp"
#include "reports/model/trace.hpp"
#include "reports/verdict/file_columns.hpp"
#include "reports/verdict/files.hpp"

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

// Result files against each other.
[[nodiscard]] std::string table(const verdict::FilesReport& report, const TableStyle& style);
[[nodiscard]] std::string markdown(const verdict::FilesReport& report);
/// A row a benchmark, with a header line.
[[nodiscard]] std::string csv(const verdict::FilesReport& report);

// Result files side by side.
/// Columns that do not fit into the width go to further blocks of lines.
[[nodiscard]] std::string table(const verdict::ColumnsReport& report, const TableStyle& style);
[[nodiscard]] std::string markdown(const verdict::ColumnsReport& report);
/// A row for each benchmark in each column, with a header line.
[[nodiscard]] std::string csv(const verdict::ColumnsReport& report);

/// The findings of `taskbench doctor`: what disturbs, worst first, with what mends it; what is not
/// known; what is in order; the floor; and what an operation of each workload costs beside it.
[[nodiscard]] std::string table(const model::DoctorReport& report, const TableStyle& style);

/// A machine's noise: for each benchmark its noise floor, how much a block differs from the next,
/// and what a trial of so many minutes would see, for the chance of a false alarm and the smallest
/// change that matters which `taskbench ab` has by default.
[[nodiscard]] std::string table(const model::NoiseCalibration& noise, const TableStyle& style);

/// A line for each worker and one for the threads outside: what it did how often, which shares of
/// the time it polled, searched and slept, its longest poll, and how many events were lost; below
/// it what the figures rest on.
[[nodiscard]] std::string table(const model::Trace& trace, const TableStyle& style);

}  // namespace taskbench::reports::render
