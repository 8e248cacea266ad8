#include "reports/stats/sign_flip.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <compare>
#include <numeric>
#include <utility>

#include "reports/stats/require.hpp"
#include "reports/stats/split_mix.hpp"
#include "reports/stats/walsh.hpp"

namespace taskbench::reports::stats {
namespace {

/// Workloads are compared by the rank statistic and, if that is equal, by the sizes.
struct Standing {
  double ranks = 0;
  std::int64_t sizes = 0;
  auto operator<=>(const Standing&) const = default;
};

/// One workload: its statistic under flips, and how often flips reached the observed one.
class Workload {
 public:
  Workload(std::span<const double> differences, double shift, Direction direction) {
    std::vector<double> sizes;
    std::vector<int> signs;
    for (const double difference : differences) {
      const double above = (direction == Direction::slower ? difference : -difference) - shift;
      sizes.push_back(std::abs(above));
      signs.push_back((above > 0 ? 1 : 0) - (above < 0 ? 1 : 0));
    }
    std::vector<double> sorted = sizes;
    std::sort(sorted.begin(), sorted.end());
    double squares = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      // For equal values at places first to last - 1, counted from 0, the middle rank is (first + 1
      // + last) / 2, so twice that is whole.
      const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), sizes[i]);
      const auto doubled_rank = (first - sorted.begin()) + 1 + (last - sorted.begin());
      signed_ranks_.push_back(signs[i] * static_cast<std::int64_t>(doubled_rank));
      const auto rank = static_cast<double>(signed_ranks_.back());
      squares += rank * rank;
    }
    scale_ = squares > 0 ? 1 / std::sqrt(squares) : 0;
    scale_sizes(sizes, signs);
    rank_sum_ = std::accumulate(signed_ranks_.begin(), signed_ranks_.end(), std::int64_t{0});
    size_sum_ = std::accumulate(signed_sizes_.begin(), signed_sizes_.end(), std::int64_t{0});
    observed_ = standing();
    observed_sum_ = rank_sum_;
  }

  [[nodiscard]] Standing standing() const {
    return {static_cast<double>(rank_sum_) * scale_, size_sum_};
  }
  [[nodiscard]] Standing observed() const { return observed_; }

  /// The chance that ranks without ties reach the observed ones, from signed_rank_lower_tail().
  [[nodiscard]] double chance(const std::vector<double>& lower_tail) const {
    const auto n = static_cast<std::int64_t>(signed_ranks_.size());
    const std::int64_t against = n * (n + 1) - observed_sum_;  // four times the ranks below 0
    return lower_tail[static_cast<std::size_t>((against + 3) / 4)];
  }

  /// Flips the sign of one block, which may be flipped already.
  void turn(std::size_t block, bool is_turned) {
    const int change = is_turned ? 2 : -2;
    rank_sum_ += change * signed_ranks_[block];
    size_sum_ += change * signed_sizes_[block];
  }

  /// Sets the flips: bit i of `flips` decides on block i.
  void turn_all(std::span<const std::uint64_t> flips) {
    rank_sum_ = 0;
    size_sum_ = 0;
    for (std::size_t i = 0; i < signed_ranks_.size(); ++i) {
      const bool is_turned = (flips[i / 64] >> (i % 64) & 1) != 0;
      rank_sum_ += is_turned ? -signed_ranks_[i] : signed_ranks_[i];
      size_sum_ += is_turned ? -signed_sizes_[i] : signed_sizes_[i];
    }
  }

  /// `greatest` is the greatest standing of this workload and those that are not ahead of it.
  void count(const Standing& greatest) {
    const bool reached = standing().ranks >= observed_.ranks;
    reached_ += reached ? 1U : 0U;
    reached_by_any_ += reached || greatest >= observed_ ? 1U : 0U;
  }

  [[nodiscard]] std::size_t reached() const { return reached_; }
  [[nodiscard]] std::size_t reached_by_any() const { return reached_by_any_; }

 private:
  /// Stores the sizes as whole numbers, so that sums are exact in whatever order they are computed.
  void scale_sizes(const std::vector<double>& sizes, const std::vector<int>& signs) {
    constexpr double kUnit = 1099511627776.0;  // 2^40
    const double greatest = *std::max_element(sizes.begin(), sizes.end());
    double squares = 0;
    for (const double size : sizes) squares += greatest > 0 ? std::pow(size / greatest, 2) : 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const double share = greatest > 0 ? sizes[i] / greatest / std::sqrt(squares) : 0;
      signed_sizes_.push_back(signs[i] * std::llround(kUnit * share));
    }
  }

  std::vector<std::int64_t> signed_ranks_;  // doubled; 0 for a difference that equals the shift
  std::vector<std::int64_t> signed_sizes_;  // in units of the root of the sum of their squares
  double scale_ = 0;
  std::int64_t rank_sum_ = 0;  // of the signed ranks under the present flips
  std::int64_t size_sum_ = 0;
  Standing observed_;
  std::int64_t observed_sum_ = 0;
  std::size_t reached_ = 0;
  std::size_t reached_by_any_ = 0;
};

/// Counts the present flips. Workloads are in the order of their observed standing, the least
/// first: each is compared with itself and those before it.
void count_flips(std::vector<Workload>& workloads) {
  Standing greatest = workloads.front().standing();
  for (Workload& workload : workloads) {
    greatest = std::max(greatest, workload.standing());
    workload.count(greatest);
  }
}

/// Makes all 2^n flips in the order of Gray's code, in which neighbours differ in one block; the
/// first is the observed pattern. Returns their number.
std::size_t make_all_flips(std::vector<Workload>& workloads, std::size_t blocks) {
  const std::size_t total = std::size_t{1} << blocks;
  count_flips(workloads);
  for (std::size_t step = 1; step < total; ++step) {
    const auto block = static_cast<std::size_t>(std::countr_zero(step));
    const bool is_turned = ((step - 1) ^ ((step - 1) >> 1)) >> block & 1;
    for (Workload& workload : workloads) workload.turn(block, is_turned);
    count_flips(workloads);
  }
  return total;
}

/// Makes the observed pattern and kRandomFlips random ones. Returns their number.
std::size_t make_random_flips(std::vector<Workload>& workloads, std::size_t blocks,
                              std::uint64_t seed) {
  SplitMix64 random(seed);
  std::vector<std::uint64_t> flips((blocks + 63) / 64);
  count_flips(workloads);
  for (std::size_t flip = 0; flip < kRandomFlips; ++flip) {
    std::generate(flips.begin(), flips.end(), [&random] { return random.next(); });
    for (Workload& workload : workloads) workload.turn_all(flips);
    count_flips(workloads);
  }
  return kRandomFlips + 1;
}

void require_table(std::span<const std::vector<double>> differences,
                   std::span<const double> shifts) {
  require(!differences.empty(), "sign-flip test of no workloads");
  require(shifts.size() == differences.size(), "sign-flip test: one shift for each workload");
  require_finite(shifts, "sign-flip test: shifts");
  for (const std::vector<double>& row : differences) {
    require_finite(row, "sign-flip test");
    require(row.size() == differences.front().size(),
            "sign-flip test: all workloads must have the same blocks");
  }
}

}  // namespace

double least_p(std::size_t blocks, std::size_t absent) {
  const double of_all_flips = std::ldexp(1.0, -static_cast<int>(blocks));
  const double of_flips = blocks <= kMaxExactBlocks ? of_all_flips : 1.0 / (kRandomFlips + 1.0);
  return of_flips + static_cast<double>(absent) * of_all_flips;
}

SignFlipResult sign_flip_test(std::span<const std::vector<double>> differences,
                              std::span<const double> shifts, Direction direction,
                              std::uint64_t seed, std::size_t absent) {
  require_table(differences, shifts);
  std::vector<Workload> workloads;
  for (std::size_t w = 0; w < differences.size(); ++w) {
    workloads.emplace_back(differences[w], shifts[w], direction);
  }
  std::vector<std::size_t> order(workloads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return workloads[a].observed() < workloads[b].observed();
  });
  std::vector<Workload> ascending;
  for (const std::size_t w : order) ascending.push_back(std::move(workloads[w]));
  const std::size_t blocks = differences.front().size();
  const auto patterns =
      static_cast<double>(blocks <= kMaxExactBlocks ? make_all_flips(ascending, blocks)
                                                    : make_random_flips(ascending, blocks, seed));
  SignFlipResult result{std::vector<double>(order.size()), std::vector<double>(order.size())};
  std::vector<double> lower_tail;
  if (absent > 0) lower_tail = signed_rank_lower_tail(blocks);
  // No workload may be more significant than one that is ahead of it.
  double so_far = 0;
  for (std::size_t i = order.size(); i-- > 0;) {
    double adjusted = static_cast<double>(ascending[i].reached_by_any()) / patterns;
    if (absent > 0) adjusted += static_cast<double>(absent) * ascending[i].chance(lower_tail);
    so_far = std::max(so_far, std::min(adjusted, 1.0));
    result.p[order[i]] = static_cast<double>(ascending[i].reached()) / patterns;
    result.p_adjusted[order[i]] = so_far;
  }
  return result;
}

}  // namespace taskbench::reports::stats
