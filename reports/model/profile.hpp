// Where a program spent its time, by sampling. Plain values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace taskbench::reports::model {

struct Profile {
  /// The number of samples for each stack. The outermost frame comes first: the thread's name.
  std::map<std::vector<std::string>, std::int64_t> stacks;

  [[nodiscard]] std::int64_t samples() const {
    std::int64_t sum = 0;
    for (const auto& [stack, count] : stacks) sum += count;
    return sum;
  }
};

}  // namespace taskbench::reports::model
