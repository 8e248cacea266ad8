// Result files as the columns of one table, a row a benchmark: what has changed from the first to
// each of the others. Pure.
//
// A file is one process, as in files.hpp, so that a column needs several for its change to be
// judged: by the exact rank-sum test of both directions, adjusted over all that can be judged
// (Holm).
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
  std::size_t files = 0;         ///< that have a time of the benchmark; of none the rest is empty
  double ns = 0;                 ///< per iteration: median over the files
  std::optional<double> spread;  ///< relative: median absolute deviation of the files' medians; of
                                 ///< one file, of its repetitions
  std::optional<double> change;  ///< against the first column, less 1; empty where that has none
  /// Of "nothing has changed". Empty for so few files that no p could be below alpha.
  std::optional<double> p_adjusted;
  bool is_changed = false;  ///< p_adjusted is below alpha
};

struct ColumnsRow {
  std::string name;
  std::vector<ColumnCell> cells;  ///< one a column
};

struct ColumnsReport {
  std::vector<std::string> columns;
  std::vector<ColumnsRow> rows;  ///< in the order in which the benchmarks first appear
  /// Geometric means over the benchmarks that all columns have; empty where there are none.
  std::vector<double> mean_ns;
  std::size_t in_all_columns = 0;  ///< benchmarks
  double alpha = 0;
  std::size_t files_needed = 0;  ///< in each column, for every change to be judged
  std::vector<std::string> failed;
  std::vector<std::string> machine_differs;  ///< then nothing is judged
};

/// Of two columns or more. Throws std::invalid_argument for more than stats::kMaxShiftSample files
/// in one.
[[nodiscard]] ColumnsReport compare_columns(const std::vector<Column>& columns, double alpha);

/// Renames the benchmarks: the parts of a name between slashes that are OLD (one or several in a
/// row) are replaced by NEW, or left out where NEW is empty: "workers:1" in "spawn/workers:1/n:10".
/// Throws std::invalid_argument where two of them would have one name.
void rename_all(model::Run& file, const std::vector<std::pair<std::string, std::string>>& mapping);

struct Split {
  std::vector<Column> columns;       ///< one a value, in the order in which they first appear
  std::vector<std::string> without;  ///< names of benchmarks that do not have the key
  /// Names from which "workers:N" was left out: one of each column, where N is not the same.
  std::vector<std::string> with_other_workers;
};

/// The benchmarks by what their names have for `key`, "workers" in "spawn/workers:2", which is left
/// out of the names; "scheduler" in our own files needs no colon. Each file gives each column one.
/// A scheduler may have one worker where the others have more: such benchmarks meet all the same.
/// Throws std::invalid_argument where two benchmarks of a column would have one name.
[[nodiscard]] Split split_by(const std::vector<model::Run>& files, const std::string& key);

}  // namespace taskbench::reports::verdict
