// The trees of UTS, compared with counts made by another program, in Python with hashlib's SHA-1.
#include "workloads/base/unbalanced_tree.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace taskbench::workloads {
namespace {

std::string hex_sha1(std::string_view message) {
  const Sha1Digest digest =
      sha1({reinterpret_cast<const std::uint8_t*>(message.data()), message.size()});
  std::string hex;
  for (const std::uint8_t byte : digest) {
    hex += "0123456789abcdef"[byte / 16];
    hex += "0123456789abcdef"[byte % 16];
  }
  return hex;
}

// The digests are from FIPS 180, RFC 3174 and `printf %s … | sha1sum`.
TEST(Sha1, gives_the_published_digests) {
  EXPECT_EQ(hex_sha1("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(hex_sha1(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(hex_sha1("The quick brown fox jumps over the lazy dog"),
            "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12");
  EXPECT_EQ(hex_sha1(std::string(kSha1Most_bytes, 'a')),
            "c1c8bbdc22796e28c0e15163d20899b65621d65a");
}

template <class Tree>
std::uint64_t count(const Tree& tree, const TreeNode& node) {
  std::uint64_t nodes = 1;
  const std::uint32_t children = tree.children_of(node);
  for (std::uint32_t i = 0; i < children; ++i) nodes += count(tree, node.child(i));
  return nodes;
}

TEST(GeometricTree, has_as_many_nodes_as_another_program_counts) {
  const TreeNode root = TreeNode::root(GeometricTree::kSeed);
  EXPECT_EQ(count(GeometricTree{1}, root), 6U);
  EXPECT_EQ(count(GeometricTree{2}, root), 65U);
  EXPECT_EQ(count(GeometricTree{6}, root), 16'000U);
}

TEST(BinomialTree, has_as_many_nodes_as_another_program_counts) {
  const TreeNode root = TreeNode::root(BinomialTree::kSeed);
  EXPECT_EQ(count(BinomialTree{1}, root), 2U);
  EXPECT_EQ(count(BinomialTree{7}, root), 6'120U);
  EXPECT_EQ(count(BinomialTree{50}, root), 6'531U);
}

}  // namespace
}  // namespace taskbench::workloads
