// The nodes of an unbalanced tree are counted, with a fork for each: nothing tells in advance how
// much work is below a node, so it must be redistributed all the time.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/runtime.hpp"
#include "workloads/base/countdown.hpp"
#include "workloads/base/unbalanced_tree.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

constexpr std::array kGeometricParameters{
    Parameter{"depth", 6, 1, 20, "depth of the tree; 10 is the T1 of UTS"},
};
constexpr std::array kBinomialParameters{
    Parameter{"roots", 20, 1, 1'000'000, "children of the root; 2,000 is the T3 of UTS"},
};

/// The published results for T1 and T3.
constexpr std::uint64_t kPublishedT1 = 4'130'071;
constexpr std::uint64_t kPublishedT3 = 4'112'897;

template <class Tree>
rt::Fork<std::uint64_t> count_below(Tree tree, TreeNode node) {
  const std::uint32_t children = tree.children_of(node);
  if (children == 0) co_return 1;
  const auto child = [&](std::size_t i) {
    return count_below(tree, node.child(static_cast<std::uint32_t>(i)));
  };
  std::uint64_t count = 1;
  for (const std::uint64_t each : co_await rt::fork_join(children, child)) count += each;
  co_return count;
}

/// The same without forks.
template <class Tree>
std::uint64_t count_in_turn(Tree tree) {
  std::uint64_t count = 0;
  for (std::vector<TreeNode> left{TreeNode::root(Tree::kSeed)}; !left.empty(); ++count) {
    const TreeNode node = left.back();
    left.pop_back();
    const std::uint32_t children = tree.children_of(node);
    for (std::uint32_t i = 0; i < children; ++i) left.push_back(node.child(i));
  }
  return count;
}

template <class Tree>
class Search final : public Instance {
 public:
  Search(rt::Runtime& runtime, Tree tree, std::optional<std::uint64_t> published)
      : runtime_(runtime), tree_(tree), nodes_(published) {}

  void run_iteration() override {
    counted_ += runtime_.block_on(count_below(tree_, TreeNode::root(Tree::kSeed)));
    ++iterations_;
  }

  std::optional<std::string> verify() override {
    if (!nodes_) nodes_ = count_in_turn(tree_);
    return compare_counts("nodes", std::exchange(iterations_, 0) * *nodes_,
                          std::exchange(counted_, 0));
  }

 private:
  rt::Runtime& runtime_;
  const Tree tree_;
  std::optional<std::uint64_t> nodes_;  // once they are known
  std::uint64_t iterations_ = 0;
  std::uint64_t counted_ = 0;
};

template <class Tree>
std::unique_ptr<Instance> make_search(rt::Runtime& runtime, std::uint64_t size,
                                      std::uint64_t published_size, std::uint64_t published) {
  return std::make_unique<Search<Tree>>(
      runtime, Tree{size}, size == published_size ? std::optional(published) : std::nullopt);
}

}  // namespace

const Workload& uts_geometric() {
  static const Workload kWorkload{
      .name = "uts_geometric",
      .summary = "the nodes of a tree of limited depth are counted, a fork for each",
      .operation = "search",
      .parameters = kGeometricParameters,
      .operations = [](const ParameterValues&) { return std::uint64_t{1}; },
      .make =
          [](rt::Runtime& runtime, const ParameterValues& values) {
            return make_search<GeometricTree>(runtime, values.at("depth"), 10, kPublishedT1);
          },
  };
  return kWorkload;
}

const Workload& uts_binomial() {
  static const Workload kWorkload{
      .name = "uts_binomial",
      .summary = "the nodes of a tree with branches of any length are counted, a fork for each",
      .operation = "search",
      .parameters = kBinomialParameters,
      .operations = [](const ParameterValues&) { return std::uint64_t{1}; },
      .make =
          [](rt::Runtime& runtime, const ParameterValues& values) {
            return make_search<BinomialTree>(runtime, values.at("roots"), 2'000, kPublishedT3);
          },
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
