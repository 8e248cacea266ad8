// Results as numbers with names and labels, for the formats of systems that store and chart them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/model/run.hpp"
#include "reports/verdict/baseline.hpp"
#include "reports/verdict/file_columns.hpp"
#include "reports/verdict/files.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::render {

/// One number of one benchmark.
struct Measure {
  std::string benchmark;
  /// Labels that distinguish it from others of its family: {"side", "head"}.
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
  std::optional<double> mad{};  ///< median absolute deviation, if it is a median
};

/// Numbers of one kind and unit.
struct MeasureFamily {
  std::string name;  ///< lower-case words with underscores, without the unit
  std::string unit;  ///< "seconds", "ratio"; empty: a count per iteration, or as in the name
  std::string help;  ///< a sentence
  std::vector<Measure> measures;
};

class Measures {
 public:
  /// `name` may contain any characters: those that the formats do not permit become underscores. If
  /// that makes it the name of another family, or if this benchmark has such a measure already, a
  /// number is added. So the name does not depend on what else the other benchmarks count.
  void add(std::string_view name, std::string_view unit, std::string_view help, Measure measure);

  [[nodiscard]] const std::vector<MeasureFamily>& families() const { return families_; }

 private:
  std::vector<MeasureFamily> families_;
  std::map<std::string, std::size_t> places_;  ///< of families, by their whole names
  std::set<std::string> series_;
};

/// Medians for each case: times, and counters and events per iteration. Failed cases have none.
[[nodiscard]] Measures measures(const model::Run& run);

/// For each benchmark: the times of both sides, the change with its interval, and the verdict.
[[nodiscard]] Measures measures(const verdict::PairedReport& report);
[[nodiscard]] Measures measures(const verdict::FilesReport& report);
[[nodiscard]] Measures measures(const verdict::BaselineReport& report);

/// The times in each column, and the changes from the first.
[[nodiscard]] Measures measures(const verdict::ColumnsReport& report);

/// OpenMetrics 1.0 with gauges only, so that readers of Prometheus's older text format accept it,
/// too.
[[nodiscard]] std::string open_metrics(const Measures& measures);

/// Bencher Metric Format: for each benchmark the times in nanoseconds, with the wall time called
/// "latency", and the counts. With several sides or columns, those of the last.
[[nodiscard]] std::string bencher_metrics(const Measures& measures);

}  // namespace taskbench::reports::render
