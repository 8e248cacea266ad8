// Vector clocks: for each thread, how many of its operations are known.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace mc {

/// The most threads of one execution, including the body's own.
inline constexpr int kMaxThreads = 8;

class VectorClock {
 public:
  [[nodiscard]] std::uint16_t operator[](int thread) const {
    return ticks_[static_cast<std::size_t>(thread)];
  }
  void set(int thread, std::uint16_t tick) { ticks_[static_cast<std::size_t>(thread)] = tick; }
  [[nodiscard]] bool covers(int thread, std::uint16_t tick) const {
    return (*this)[thread] >= tick;
  }
  void join(const VectorClock& other) {
    for (std::size_t i = 0; i < ticks_.size(); ++i) {
      ticks_[i] = std::max(ticks_[i], other.ticks_[i]);
    }
  }

 private:
  std::array<std::uint16_t, kMaxThreads> ticks_{};
};

}  // namespace mc
