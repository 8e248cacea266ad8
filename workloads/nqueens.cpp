// All ways to place n queens on a board so that none attacks another, with a fork for each
// placement: an uneven tree, with as many forks at each node as there are safe places.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/runtime.hpp"
#include "workloads/base/countdown.hpp"
#include "workloads/base/queens.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

/// For 1 queen and more.
constexpr std::array<std::uint64_t, kMostQueens> kSolutions{
    1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2'680, 14'200, 73'712, 365'596, 2'279'184, 14'772'512};

rt::Fork<std::uint64_t> solutions(std::int8_t n, QueensBoard board) {
  if (board.rows == n) co_return 1;
  std::vector<rt::Fork<std::uint64_t>> forks;
  forks.reserve(static_cast<std::size_t>(n));
  for (std::int8_t column = 0; column < n; ++column) {
    if (board.is_safe(column)) forks.push_back(solutions(n, board.with(column)));
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t each : co_await rt::fork_join(std::move(forks))) sum += each;
  co_return sum;
}

class NQueens final : public Instance {
 public:
  NQueens(rt::Runtime& runtime, const ParameterValues& values)
      : runtime_(runtime), n_(static_cast<std::int8_t>(values.at("n"))) {}

  void run_iteration() override {
    sum_ += runtime_.block_on(solutions(n_, QueensBoard{}));
    ++iterations_;
  }

  std::optional<std::string> verify() override {
    const std::uint64_t once = kSolutions[static_cast<std::size_t>(n_) - 1];
    return compare_counts("solutions", std::exchange(iterations_, 0) * once,
                          std::exchange(sum_, 0));
  }

 private:
  rt::Runtime& runtime_;
  const std::int8_t n_;
  std::uint64_t iterations_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace

const Workload& nqueens() {
  static constexpr std::array kParameters{
      Parameter{"n", 10, 1, kSolutions.size(), "queens, and rows and columns of the board"},
  };
  static const Workload kWorkload{
      .name = "nqueens",
      .summary = "all ways to put queens on a board, a fork for each that is put somewhere",
      .operation = "search",
      .parameters = kParameters,
      .operations = [](const ParameterValues&) { return std::uint64_t{1}; },
      .make = make<NQueens>,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
