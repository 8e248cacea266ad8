#include "reports/stats/sequential.hpp"

#include <algorithm>
#include <cmath>

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

/// Shares of 1 for this many looks: `first_share` for the one with index `first`, none for the
/// looks before it, and the rest for the others, in proportion to their numbers.
std::vector<double> shares(std::size_t looks, std::size_t first, double first_share) {
  std::vector<double> result(looks, 0);
  double sum = 0;
  for (std::size_t i = first + 1; i < looks; ++i) sum += static_cast<double>(i + 1);
  for (std::size_t i = first + 1; i < looks; ++i) {
    result[i] = (1 - first_share) * static_cast<double>(i + 1) / sum;
  }
  result[first] = sum > 0 ? first_share : 1;
  return result;
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
  const auto can_fail = std::ranges::find_if(
      blocks, [&](std::size_t each) { return least_p(each) < kFirstFailShare * alpha; });
  const auto first = static_cast<std::size_t>(can_fail - blocks.begin());
  const std::vector<double> of_alpha =
      shares(blocks.size(), std::min(first, blocks.size() - 1), kFirstFailShare);
  const std::vector<double> of_pass_error = shares(blocks.size(), 0, kFirstPassShare);
  std::vector<Look> result;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    result.push_back({blocks[i], alpha * of_alpha[i], pass_error * of_pass_error[i]});
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
