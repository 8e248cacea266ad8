// Queens that do not attack each other, row by row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace taskbench::workloads {

inline constexpr std::size_t kMostQueens = 16;

/// The columns of the queens in the first rows.
struct QueensBoard {
  std::array<std::int8_t, kMostQueens> columns;
  std::int8_t rows = 0;

  [[nodiscard]] bool is_safe(std::int8_t column) const {
    for (std::int8_t row = 0; row < rows; ++row) {
      const int apart = columns[static_cast<std::size_t>(row)] - column;
      if (apart == 0 || apart == rows - row || apart == row - rows) return false;
    }
    return true;
  }
  [[nodiscard]] QueensBoard with(std::int8_t column) const {
    QueensBoard next = *this;
    next.columns[static_cast<std::size_t>(next.rows++)] = column;
    return next;
  }
};

}  // namespace taskbench::workloads
