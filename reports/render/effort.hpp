// The effort to decide what a paired trial has left undecided, in time and as options.
#pragma once

#include <cstddef>
#include <string>

#include "reports/model/paired.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::render {

/// The duration of a trial that decides one metric of one benchmark in four of five cases, if the
/// true change is the measured one.
struct Effort {
  enum class Kind {
    minutes,  ///< up to two hours
    hours,    ///< up to a day, the longest budget
    never,    ///< more than a trial allows
    layouts,  ///< no number of blocks: its layouts differ by too much
    unknown,  ///< one block shows nothing
  };
  Kind kind = Kind::unknown;
  std::size_t blocks = 0;
  double seconds = 0;  ///< 0: not known for that many blocks
};

[[nodiscard]] Effort effort_of(const verdict::MetricVerdict& row, const verdict::Reach& reach);

/// "45 s", "6 min", "3 h", "> 24 h"
[[nodiscard]] std::string effort_cell(const Effort& effort);

/// "about 6 minutes would decide (--budget 6m)": the same time in words and as an option. For
/// several efforts of one kind, pass the greatest.
[[nodiscard]] std::string effort_text(const Effort& effort, const model::PairedSetup& setup);

/// What a trial that ends after this many blocks cannot do, and the option that helps: "3 blocks of
/// 4 processes cannot FAIL anything, …". Empty if there is no such limit.
[[nodiscard]] std::string reach_text(const verdict::Reach& reach, const model::PairedSetup& setup);

}  // namespace taskbench::reports::render
