#include "workloads/base/countdown.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace taskbench::workloads {

std::optional<std::string> Countdown::verify(std::string_view what) {
  // relaxed: the driving thread learned of the last task through the channel, which orders this
  // load after every count.
  const std::uint64_t actual = counted_.exchange(0, std::memory_order_relaxed);
  const std::uint64_t expected = std::exchange(target_, 0);
  return compare_counts(what, expected, actual);
}

std::optional<std::string> compare_counts(std::string_view what, std::uint64_t expected,
                                          std::uint64_t actual) {
  if (actual == expected) return std::nullopt;
  return fmt::format("expected {} {}, counted {}", expected, what, actual);
}

void require_heard(const std::optional<Signal>& heard) {
  if (!heard) throw std::runtime_error("the last task ended without saying so");
}

}  // namespace taskbench::workloads
