#include "reports/stats/sequential.hpp"

#include <cmath>
#include <utility>

#include "reports/stats/require.hpp"
#include "reports/stats/sign_flip.hpp"

namespace taskbench::reports::stats {
namespace {

constexpr std::size_t kFirstLook = 8;
constexpr double kLooksPerDoubling = 4;
constexpr double kFirstFailShare = 0.4;
constexpr double kFirstPassShare = 0.1;

std::vector<std::size_t> look_blocks(std::size_t max_blocks) {
  std::vector<std::size_t> blocks;
  for (int i = 0;; ++i) {
    const auto each =
        static_cast<std::size_t>(std::lround(kFirstLook * std::exp2(i / kLooksPerDoubling)));
    if (each >= max_blocks) break;
    blocks.push_back(each);
  }
  blocks.push_back(max_blocks);
  return blocks;
}

/// The share of the look with this index, if the first of `looks` has `first_share` of 1 and the
/// others divide the rest equally.
double share(std::size_t look, std::size_t looks, double first_share) {
  if (looks == 1) return 1;
  return look == 0 ? first_share : (1 - first_share) / static_cast<double>(looks - 1);
}

}  // namespace

std::vector<Look> looks(const TrialErrors& errors) {
  require(errors.max_blocks > 0, "looks: no blocks");
  if (errors.at_once) return looks_at({errors.max_blocks}, errors);
  return looks_at(look_blocks(errors.max_blocks), errors);
}

std::vector<Look> looks_at(const std::vector<std::size_t>& blocks, const TrialErrors& errors) {
  const auto& [alpha, pass_error, max_blocks, at_once] = errors;
  require_fraction(alpha, "looks: alpha");
  require_fraction(pass_error, "looks: pass_error");
  require(!blocks.empty(), "looks: no look");
  std::vector<Look> result;
  double kept = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Look look{blocks[i], kept + alpha * share(i, blocks.size(), kFirstFailShare),
              pass_error * share(i, blocks.size(), kFirstPassShare)};
    const bool can_fail = i + 1 == blocks.size() || least_p(look.blocks) < look.alpha;
    kept = can_fail ? 0 : std::exchange(look.alpha, 0);
    result.push_back(look);
  }
  return result;
}

Look last_look(std::size_t blocks, const TrialErrors& errors) {
  Look last{blocks, 0, 0};
  for (const Look& look : looks(errors)) {
    if (look.blocks >= blocks) {
      last.alpha += look.alpha;
      last.pass_error += look.pass_error;
    }
  }
  return last;
}

}  // namespace taskbench::reports::stats
