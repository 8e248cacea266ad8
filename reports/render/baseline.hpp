// Stored baselines, and comparisons with them, as text. UTF-8, ends with a newline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/model/baseline.hpp"
#include "reports/render/render.hpp"
#include "reports/render/verdict_table.hpp"
#include "reports/verdict/baseline.hpp"

namespace taskbench::reports::render {

/// A comparison with all that it rests on.
struct BaselineComparison {
  model::Series now;
  model::Series rolling;
  std::optional<model::Series> anchor;
  verdict::BaselinePolicy policy;
  verdict::BaselineReport report;
};

/// The table on a terminal; below it what the figures do not show, and what they rest on.
[[nodiscard]] std::string table(const BaselineComparison& comparison, const TableStyle& style);

/// A comment for reviewers: the verdict first, a bar for each benchmark, then the table.
[[nodiscard]] std::string markdown(const BaselineComparison& comparison, const CommentStyle& style);

[[nodiscard]] std::string json(const BaselineComparison& comparison);

/// "other processes used 0.98 of 2 CPUs, and the hypervisor took 0.20"
[[nodiscard]] std::string others_text(const verdict::Others& others);

/// "the canary's handover took from 340 to 2,110 µs"
[[nodiscard]] std::string moved_cpus_text(const verdict::MovedCpus& moved);

/// Why nothing can be said of a program.
struct BaselineFailure {
  enum class Stage {
    machine,  ///< the baseline is of other machines or builds
    measure,  ///< the program failed
  };
  Stage stage = Stage::measure;
  std::string name;     ///< of the baseline
  std::string program;  ///< as given; empty: that of the baseline
  std::string message;  ///< what happened, in lines
};

/// The comment where there is nothing to judge.
[[nodiscard]] std::string failure_markdown(const BaselineFailure& failure,
                                           const CommentStyle& style);
[[nodiscard]] std::string failure_json(const BaselineFailure& failure);

/// What is stored under one name and one key.
struct StoredBaseline {
  model::Series rolling;
  std::optional<model::Series> anchor;
  bool this_machine = false;
};

/// A line each: `taskbench baseline list`.
[[nodiscard]] std::string table(const std::vector<StoredBaseline>& list, const TableStyle& style);
[[nodiscard]] std::string json(const std::vector<StoredBaseline>& list);

/// All of one: the fields of its key, its canary, and each benchmark's spread.
[[nodiscard]] std::string details(const StoredBaseline& stored, const TableStyle& style);
[[nodiscard]] std::string details_json(const StoredBaseline& stored);

}  // namespace taskbench::reports::render
