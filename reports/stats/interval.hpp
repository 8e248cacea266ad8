#pragma once

namespace taskbench::reports::stats {

/// A confidence interval, both ends included. An end that the data do not bound is infinite.
struct Interval {
  double low = 0;
  double high = 0;
};

}  // namespace taskbench::reports::stats
