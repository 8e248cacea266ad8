// The blocks into which the product of two square matrices is divided.
#pragma once

#include <cstddef>
#include <utility>

namespace taskbench::workloads {

/// Blocks with at most this many rows and columns are not divided further.
inline constexpr std::size_t kMatrixBlock = 32;

/// Three blocks: `product` += `left` times `right`. Rows are `stride` apart.
struct MatrixBlocks {
  const float* left;
  const float* right;
  float* product;
  std::size_t rows;     // of left and product
  std::size_t inner;    // columns of left, rows of right
  std::size_t columns;  // of right and product
  std::size_t stride;

  [[nodiscard]] bool is_small() const {
    return rows <= kMatrixBlock && inner <= kMatrixBlock && columns <= kMatrixBlock;
  }

  /// The part for a quarter of the product and half of the inner rows.
  [[nodiscard]] MatrixBlocks part(bool lower, bool later, bool right_half) const {
    const auto split = [](std::size_t whole, bool second) {
      const std::size_t half = whole / 2;
      return second ? std::pair{half, whole - half} : std::pair{std::size_t{0}, half};
    };
    const auto [row, row_count] = split(rows, lower);
    const auto [mid, mid_count] = split(inner, later);
    const auto [column, column_count] = split(columns, right_half);
    return {left + row * stride + mid,
            right + mid * stride + column,
            product + row * stride + column,
            row_count,
            mid_count,
            column_count,
            stride};
  }
};

/// Not inlined, since a coroutine would keep the variables in memory.
[[gnu::noinline]] inline void multiply(const MatrixBlocks& blocks) {
  const std::size_t columns = blocks.columns;
  for (std::size_t i = 0; i < blocks.rows; ++i) {
    float* const product = blocks.product + i * blocks.stride;
    for (std::size_t k = 0; k < blocks.inner; ++k) {
      const float factor = blocks.left[i * blocks.stride + k];
      const float* const right = blocks.right + k * blocks.stride;
      for (std::size_t j = 0; j < columns; ++j) product[j] += factor * right[j];
    }
  }
}

}  // namespace taskbench::workloads
