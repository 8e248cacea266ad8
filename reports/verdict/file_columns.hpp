// Shows result files as the columns of one table, with a row for each benchmark, and the changes
// from the first column to each of the others. Pure.
//
// A file gives one number for each benchmark, as in files.hpp, so judging a column's change takes
// several: by the exact rank-sum test in both directions, adjusted over everything that can be
// judged (Holm).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reports/model/run.hpp"

namespace taskbench::reports::verdict {

struct Column {
  std::string name;
  std::vector<model::Run> files;
};

struct ColumnCell {
  std::size_t files = 0;         ///< with a time of the benchmark; if 0, the rest is empty
  double ns = 0;                 ///< per iteration: median over the files
  std::optional<double> spread;  ///< relative: median absolute deviation of the files' medians; of
                                 ///< one file, of its repetitions
  std::optional<double> change;  ///< from the first column; empty if that has no time
  /// p of "nothing has changed". Empty if there are too few files for any p below alpha.
  std::optional<double> p_adjusted;
  bool is_changed = false;  ///< p_adjusted is below alpha
};

struct ColumnsRow {
  std::string name;
  std::vector<ColumnCell> cells;  ///< one for each column
};

struct ColumnsReport {
  std::vector<std::string> columns;
  std::vector<ColumnsRow> rows;  ///< in the order in which the benchmarks first appear
  /// Geometric means over the benchmarks that all columns have; empty if there are none.
  std::vector<double> mean_ns;
  std::size_t in_all_columns = 0;  ///< number of benchmarks that all columns have
  double alpha = 0;
  std::size_t files_needed = 0;  ///< in each column, so that every change can be judged
  std::vector<std::string> failed;
  std::vector<std::string> machine_differs;  ///< if not empty, nothing is judged
};

/// Compares two or more columns. Throws std::invalid_argument for more than stats::kMaxShiftSample
/// files in one.
[[nodiscard]] ColumnsReport compare_columns(const std::vector<Column>& columns, double alpha);

/// Renames benchmarks: parts of a name between slashes that are OLD (one or several in a row) are
/// replaced by NEW, or left out if NEW is empty: "workers:1" in "spawn/workers:1/n:10". Throws
/// std::invalid_argument if two benchmarks would get one name.
void rename_all(model::Run& file, const std::vector<std::pair<std::string, std::string>>& mapping);

struct Split {
  std::vector<Column> columns;       ///< one for each value, in the order of their first appearance
  std::vector<std::string> without;  ///< names of benchmarks without the key
  /// Names without their "workers:N", since N differs between columns.
  std::vector<std::string> with_other_workers;
};

/// Splits benchmarks into columns by the part of their names for `key`, "workers" in
/// "spawn/workers:2", which is removed from the names; "scheduler" in our own files needs no colon.
/// Each file contributes to each column. If a scheduler has one worker and others have more, such
/// benchmarks still share a row. Throws std::invalid_argument if two benchmarks of a column would
/// get one name. Takes ownership of the files: they may fill a good part of the machine's memory.
[[nodiscard]] Split split_by(std::vector<model::Run> files, const std::string& key);

}  // namespace taskbench::reports::verdict
