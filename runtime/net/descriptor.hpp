// A descriptor that is closed unless it is released.
#pragma once

#include <utility>

namespace taskbench::rt::net::detail {

/// Closes a descriptor of the system, or a socket of a test.
void close_descriptor(int descriptor) noexcept;

class Descriptor {
 public:
  explicit Descriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  Descriptor(Descriptor&& other) noexcept : descriptor_(other.release()) {}
  /// `other` closes what was here.
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Descriptor() {
    if (is_open()) close_descriptor(descriptor_);
  }

  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
  [[nodiscard]] int get() const noexcept { return descriptor_; }
  [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

}  // namespace taskbench::rt::net::detail
