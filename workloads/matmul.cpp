// The product of two square matrices, by quarters: few forks, which compute a lot and share data.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "runtime/runtime.hpp"
#include "workloads/base/matrix_blocks.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

rt::Fork<> multiply_by_forks(MatrixBlocks blocks) {
  if (blocks.is_small()) {
    multiply(blocks);
    co_return;
  }
  for (const bool later : {false, true}) {
    co_await rt::fork_join(multiply_by_forks(blocks.part(false, later, false)),
                           multiply_by_forks(blocks.part(false, later, true)),
                           multiply_by_forks(blocks.part(true, later, false)),
                           multiply_by_forks(blocks.part(true, later, true)));
  }
}

class MatMul final : public Instance {
 public:
  MatMul(rt::Runtime& runtime, const ParameterValues& values)
      : runtime_(runtime), n_(values.at("n")), left_(n_ * n_), right_(n_ * n_), product_(n_ * n_) {
    // Whole numbers so small that every sum is exact.
    for (std::size_t i = 0; i < n_ * n_; ++i) {
      left_[i] = static_cast<float>(i * 7 % 5);
      right_[i] = static_cast<float>(i * 11 % 3);
    }
  }

  void run_iteration() override {
    std::fill(product_.begin(), product_.end(), 0.0F);
    ran_ = true;
    runtime_.block_on(
        multiply_by_forks({left_.data(), right_.data(), product_.data(), n_, n_, n_, n_}));
  }

  /// Checks the last product by the weighted sum over each row.
  std::optional<std::string> verify() override {
    if (!std::exchange(ran_, false)) return std::nullopt;
    std::vector<double> right_sums(n_);
    for (std::size_t k = 0; k < n_; ++k) right_sums[k] = sum_of(right_.data() + k * n_);
    for (std::size_t i = 0; i < n_; ++i) {
      double expected = 0;
      for (std::size_t k = 0; k < n_; ++k) expected += left_[i * n_ + k] * right_sums[k];
      if (sum_of(product_.data() + i * n_) != expected) {
        return "row " + std::to_string(i) + " of the product is wrong";
      }
    }
    return std::nullopt;
  }

 private:
  /// The columns have different weights, so that none can stand for another. Exact for every n.
  [[nodiscard]] double sum_of(const float* row) const {
    double sum = 0;
    for (std::size_t j = 0; j < n_; ++j) sum += static_cast<double>(j + 1) * row[j];
    return sum;
  }

  rt::Runtime& runtime_;
  const std::size_t n_;
  std::vector<float> left_;
  std::vector<float> right_;
  std::vector<float> product_;
  bool ran_ = false;  // since the last verify()
};

}  // namespace

const Workload& matmul() {
  static constexpr std::array kParameters{
      Parameter{"n", 128, 1, 8'192, "rows and columns of the matrices"},
  };
  static const Workload kWorkload{
      .name = "matmul",
      .summary = "the product of two matrices by quarters, four forks at each level",
      .operation = "multiplication",
      .parameters = kParameters,
      .operations =
          [](const ParameterValues& values) {
            return values.at("n") * values.at("n") * values.at("n");
          },
      .make = make<MatMul>,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
