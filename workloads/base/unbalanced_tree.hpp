// The trees of UTS, the unbalanced tree search benchmark (Olivier and others, LCPC 2006). Each node
// has a SHA-1 digest, which determines the number and the digests of its children: so a tree is the
// same everywhere, and the size of a part of it is unknown without walking it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "workloads/base/sha1.hpp"

namespace taskbench::workloads {

struct TreeNode {
  Sha1Digest digest;
  std::uint32_t depth = 0;

  [[nodiscard]] static TreeNode root(std::uint32_t seed) {
    return {.digest = digest_of(Sha1Digest{}.begin(), 16, seed)};
  }
  [[nodiscard]] TreeNode child(std::uint32_t number) const {
    return {.digest = digest_of(digest.begin(), digest.size(), number), .depth = depth + 1};
  }
  /// In [0, 1).
  [[nodiscard]] double random() const {
    std::uint32_t bits = digest[16] & 0x7fU;
    for (std::size_t i = 17; i < 20; ++i) bits = bits << 8 | digest[i];
    return static_cast<double>(bits) / 2'147'483'648.0;
  }

 private:
  /// Of `size` bytes and a number in big-endian order.
  static Sha1Digest digest_of(const std::uint8_t* bytes, std::size_t size, std::uint32_t number) {
    std::array<std::uint8_t, 24> message;
    std::copy_n(bytes, size, message.begin());
    for (std::size_t i = 0; i < 4; ++i) {
      message[size + i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
    }
    return sha1({message.data(), size + 4});
  }
};

/// UTS's T1 at a depth of 10: four children on average, but none below the depth.
struct GeometricTree {
  static constexpr std::uint32_t kSeed = 19;
  static constexpr std::uint32_t kMostChildren = 100;

  std::uint64_t depth;

  [[nodiscard]] std::uint32_t children_of(const TreeNode& node) const {
    if (node.depth >= depth) return 0;
    constexpr double kMean = 4;
    const double count = std::floor(std::log(1 - node.random()) / std::log(1 - 1 / (1 + kMean)));
    return std::min(static_cast<std::uint32_t>(count), kMostChildren);
  }
};

/// UTS's T3 with 2,000 children of the root: any other node has eight children with a probability
/// of a little less than an eighth, and is the root of a tree of 1,000 nodes on average.
struct BinomialTree {
  static constexpr std::uint32_t kSeed = 42;

  std::uint64_t root_children;

  [[nodiscard]] std::uint32_t children_of(const TreeNode& node) const {
    if (node.depth == 0) return static_cast<std::uint32_t>(root_children);
    return node.random() < 0.124875 ? 8 : 0;
  }
};

}  // namespace taskbench::workloads
