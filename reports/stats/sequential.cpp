#include "reports/stats/sequential.hpp"

#include <algorithm>

#include "reports/stats/require.hpp"

namespace taskbench::reports::stats {
namespace {

constexpr std::size_t kFirstLook = 8;
constexpr double kFirstPassShare = 0.1;

std::vector<std::size_t> look_blocks(std::size_t max_blocks) {
  std::vector<std::size_t> blocks;
  for (std::size_t each = kFirstLook; each < max_blocks; each *= 2) blocks.push_back(each);
  blocks.push_back(max_blocks);
  return blocks;
}

}  // namespace

std::vector<Look> looks(const TrialErrors& errors) {
  const auto [alpha, pass_error, max_blocks] = errors;
  require_fraction(alpha, "looks: alpha");
  require_fraction(pass_error, "looks: pass_error");
  require(max_blocks > 0, "looks: no blocks");
  std::vector<Look> result;
  double alpha_weights = 0;
  double pass_weights = 0;  // of all looks but the first
  for (const std::size_t blocks : look_blocks(max_blocks)) {
    const auto number = static_cast<double>(result.size() + 1);
    result.push_back({blocks, number * (number + 1) / 2, number});
    alpha_weights += result.back().alpha;
    if (number > 1) pass_weights += number;
  }
  const bool several = result.size() > 1;
  for (Look& look : result) {
    look.alpha *= alpha / alpha_weights;
    look.pass_error *= several ? pass_error * (1 - kFirstPassShare) / pass_weights : pass_error;
  }
  if (several) result.front().pass_error = pass_error * kFirstPassShare;
  return result;
}

bool is_look(std::size_t blocks, std::size_t max_blocks) {
  return std::ranges::count(look_blocks(max_blocks), blocks) > 0;
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
