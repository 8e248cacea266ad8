#include "reports/stats/sequential.hpp"

#include <algorithm>

#include "reports/stats/require.hpp"

namespace taskbench::reports::stats {

std::array<Look, 4> looks(double alpha, double pass_error) {
  require_fraction(alpha, "looks: alpha");
  require_fraction(pass_error, "looks: pass_error");
  std::array<Look, 4> result;
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = {kLookBlocks[i], alpha * kAlphaShares[i], pass_error * kPassShares[i]};
  }
  return result;
}

std::optional<std::size_t> look_index(std::size_t blocks) {
  const auto found = std::find(kLookBlocks.begin(), kLookBlocks.end(), blocks);
  if (found == kLookBlocks.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - kLookBlocks.begin());
}

Look last_look(std::size_t blocks, double alpha, double pass_error) {
  Look last{blocks, 0, 0};
  for (const Look& look : looks(alpha, pass_error)) {
    if (look.blocks >= blocks) {
      last.alpha += look.alpha;
      last.pass_error += look.pass_error;
    }
  }
  return last;
}

}  // namespace taskbench::reports::stats
