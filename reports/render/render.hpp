// Turns results into text: a function for each kind of result and each format. Texts are UTF-8 and
// end with a newline.
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
  int width = 100;      ///< columns that are available: see columns()
  bool folds = false;   ///< fold wide tables, as on a terminal; elsewhere a row is one line
  /// Whether to show a histogram of each row's repetitions, if no other column has to go for it.
  bool distribution = false;

  /// The width to lay out for: with fewer than 40 columns, nothing could be read.
  [[nodiscard]] std::size_t columns() const {
    return static_cast<std::size_t>(std::max(40, width));
  }
  /// The width for tables: unlimited if a row has to be one line.
  [[nodiscard]] std::size_t table_columns() const {
    return folds ? columns() : std::numeric_limits<std::size_t>::max();
  }
};

/// The table for people: median, spread, ns per operation, CPU time, context switches, scheduler
/// counters per iteration; below it failed cases with their reason. Columns that do not fit into
/// the width go to a second block of lines.
[[nodiscard]] std::string table(const model::Run& run, const TableStyle& style);

/// The columns of table() as a Markdown table.
[[nodiscard]] std::string markdown(const model::Run& run);

/// A row for each repetition, with a header line; quoted according to RFC 4180, lines end with LF.
/// A failed case has one row, with its error and without numbers. What --counters counted is in the
/// last columns, the same in each row of a case.
[[nodiscard]] std::string csv(const model::Run& run);

// Comparisons of result files, of two sides.
[[nodiscard]] std::string table(const verdict::FilesReport& report, const TableStyle& style);
[[nodiscard]] std::string markdown(const verdict::FilesReport& report);
/// A row for each benchmark, with a header line.
[[nodiscard]] std::string csv(const verdict::FilesReport& report);

// Result files as columns next to each other. Columns that do not fit into the width go to further
// blocks of lines.
[[nodiscard]] std::string table(const verdict::ColumnsReport& report, const TableStyle& style);
[[nodiscard]] std::string markdown(const verdict::ColumnsReport& report);
/// A row for each benchmark in each column, with a header line.
[[nodiscard]] std::string csv(const verdict::ColumnsReport& report);

/// The findings of `taskbench doctor`: what disturbs, worst first, and how to fix it; what is not
/// known; what is in order; the floor; and the cost of an operation of each workload compared with
/// it.
[[nodiscard]] std::string table(const model::DoctorReport& report, const TableStyle& style);

/// A machine's noise: for each benchmark its noise floor, how much blocks differ from each other,
/// and what a trial of a few minutes would detect with the default --alpha and --delta of
/// `taskbench ab`.
[[nodiscard]] std::string table(const model::NoiseCalibration& noise, const TableStyle& style);

/// A line for each worker and one for the threads outside: how often it did what, which shares of
/// the time it polled, searched and slept, its longest poll, and how many events were lost; below
/// it what the figures rest on.
[[nodiscard]] std::string table(const model::Trace& trace, const TableStyle& style);

}  // namespace taskbench::reports::render
