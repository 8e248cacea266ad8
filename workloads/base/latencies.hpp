// Times that a workload observes one by one, and their quantiles.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/base/workload.hpp"

namespace taskbench::workloads {

/// Collects times. Belongs to one thread at a time.
class Latencies {
 public:
  using Duration = std::chrono::steady_clock::duration;

  void add(Duration latency) { latencies_ns_.push_back(Nanoseconds(latency).count()); }

  /// Stores the quantiles of all times since the last call, as `of`_p50_ns and so on. A quantile
  /// with less than one time above it is meaningless and left out.
  void take(std::string_view of, Figures& figures) {
    struct Quantile {
      std::string_view name;
      std::size_t part, whole;
    };
    constexpr Quantile kQuantiles[] = {{"p50", 1, 2}, {"p99", 99, 100}, {"p99_9", 999, 1'000}};
    std::ranges::sort(latencies_ns_);
    const auto put = [&](std::string_view name, float ns) {
      figures[std::string(of).append("_").append(name).append("_ns")] = ns;
    };
    const std::size_t count = latencies_ns_.size();
    for (const auto& [name, part, whole] : kQuantiles) {
      if (count >= whole) put(name, latencies_ns_[(count * part + whole - 1) / whole - 1]);
    }
    if (count > 0) put("slowest", latencies_ns_.back());
    latencies_ns_.clear();
  }

 private:
  using Nanoseconds = std::chrono::duration<float, std::nano>;

  // Half as long as a Duration: there are millions. To the nanosecond up to 16 ms, and then to
  // seven digits.
  std::vector<float> latencies_ns_;
};

}  // namespace taskbench::workloads
