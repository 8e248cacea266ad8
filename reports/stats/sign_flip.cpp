#include "reports/stats/sign_flip.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <compare>
#include <limits>
#include <numeric>
#include <utility>

#include "reports/stats/require.hpp"
#include "reports/stats/split_mix.hpp"
#include "reports/stats/summary.hpp"
#include "reports/stats/walsh.hpp"

namespace taskbench::reports::stats {
namespace {

/// Workloads are compared by the rank statistic and, if that is equal, by the sizes.
struct Standing {
  double ranks = 0;
  std::int64_t sizes = 0;
  auto operator<=>(const Standing&) const = default;
};

/// Sums of signed ranks and sizes, as whole numbers, so that they are exact in any order of
/// summation.
struct Sums {
  std::int64_t ranks = 0;  // doubled
  std::int64_t sizes = 0;  // in units of the root of the sum of their squares, times 2^40
  Sums& operator+=(const Sums& other) {
    ranks += other.ranks;
    sizes += other.sizes;
    return *this;
  }
};

constexpr std::size_t kTogether = 8;  // blocks whose sums are looked up at once

/// The flips of a test, the observed pattern first: bit i % 8 of byte i / 8 of a pattern turns
/// block i. They are the same for all workloads.
class Patterns {
 public:
  Patterns(std::size_t blocks, std::uint64_t seed)
      : bytes_((blocks + kTogether - 1) / kTogether),
        count_(blocks <= kMaxExactBlocks ? std::size_t{1} << blocks : kRandomFlips + 1) {
    flips_.reserve(count_ * bytes_);
    if (blocks <= kMaxExactBlocks) {
      for (std::size_t pattern = 0; pattern < count_; ++pattern) add({pattern});
      return;
    }
    SplitMix64 random(seed);
    std::vector<std::uint64_t> words((blocks + 63) / 64);
    add(words);
    for (std::size_t flip = 0; flip < kRandomFlips; ++flip) {
      std::generate(words.begin(), words.end(), [&random] { return random.next(); });
      add(words);
    }
  }

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::span<const std::uint8_t> operator[](std::size_t pattern) const {
    return std::span(flips_).subspan(pattern * bytes_, bytes_);
  }

 private:
  void add(const std::vector<std::uint64_t>& words) {
    for (std::size_t i = 0; i < bytes_; ++i) {
      flips_.push_back(static_cast<std::uint8_t>(words[i / 8] >> (i % 8 * 8)));
    }
  }

  std::size_t bytes_;
  std::size_t count_;
  std::vector<std::uint8_t> flips_;
};

/// One workload: its statistic under flips, and how often flips reached the observed one.
class Workload {
 public:
  Workload(std::span<const double> differences, double shift, Direction direction,
           double outlying) {
    std::vector<double> sizes;
    std::vector<int> signs;
    for (const double difference : differences) {
      const double above = (direction == Direction::slower ? difference : -difference) - shift;
      sizes.push_back(std::abs(above));
      signs.push_back((above > 0 ? 1 : 0) - (above < 0 ? 1 : 0));
    }
    if (std::isfinite(outlying)) leave_out_above(outlying * median(sizes), sizes, signs);
    std::vector<double> sorted = sizes;
    std::sort(sorted.begin(), sorted.end());
    const std::vector<std::int64_t> whole = scaled(sizes);
    double squares = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      // For equal values at places first to last - 1, counted from 0, the middle rank is (first + 1
      // + last) / 2, so twice that is whole.
      const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), sizes[i]);
      const auto doubled_rank = (first - sorted.begin()) + 1 + (last - sorted.begin());
      signed_.push_back({signs[i] * static_cast<std::int64_t>(doubled_rank), signs[i] * whole[i]});
      const auto rank = static_cast<double>(signed_.back().ranks);
      squares += rank * rank;
    }
    scale_ = squares > 0 ? 1 / std::sqrt(squares) : 0;
    Sums sums;
    for (const Sums& each : signed_) sums += each;
    observed_ = standing(sums);
    observed_sum_ = sums.ranks;
  }

  [[nodiscard]] Standing observed() const { return observed_; }

  /// The chance that ranks without ties reach the observed ones, from signed_rank_lower_tail().
  [[nodiscard]] double chance(const std::vector<double>& lower_tail) const {
    const auto n = static_cast<std::int64_t>(signed_.size());
    const std::int64_t against = n * (n + 1) - observed_sum_;  // four times the ranks below 0
    return lower_tail[static_cast<std::size_t>((against + 3) / 4)];
  }

  /// Counts the patterns. On entry, `greatest` has, for each, the greatest standing of the
  /// workloads that are not ahead of this one; on return, it includes this one.
  void count(const Patterns& patterns, std::vector<Standing>& greatest) {
    const std::vector<Sums> table = sums_of_flips();
    for (std::size_t i = 0; i < patterns.count(); ++i) {
      Sums sums;
      const Sums* entries = table.data();
      for (const std::uint8_t flips : patterns[i]) {
        sums += entries[flips];
        entries += kEntries;
      }
      const Standing now = standing(sums);
      greatest[i] = std::max(greatest[i], now);
      const bool reached = now.ranks >= observed_.ranks;
      reached_ += reached ? 1U : 0U;
      reached_by_any_ += reached || greatest[i] >= observed_ ? 1U : 0U;
    }
  }

  [[nodiscard]] std::size_t reached() const { return reached_; }
  [[nodiscard]] std::size_t reached_by_any() const { return reached_by_any_; }

 private:
  static constexpr std::size_t kEntries = std::size_t{1} << kTogether;

  [[nodiscard]] Standing standing(const Sums& sums) const {
    return {static_cast<double>(sums.ranks) * scale_, sums.sizes};
  }

  /// The sums of each eight blocks under all of their flips: a pattern of 256 blocks then takes 32
  /// additions.
  [[nodiscard]] std::vector<Sums> sums_of_flips() const {
    std::vector<Sums> blocks = signed_;
    blocks.resize((blocks.size() + kTogether - 1) / kTogether * kTogether);
    std::vector<Sums> table;
    table.reserve(blocks.size() / kTogether * kEntries);
    for (std::size_t from = 0; from < blocks.size(); from += kTogether) {
      const std::size_t none_turned = table.size();
      Sums& sums = table.emplace_back();
      for (std::size_t i = from; i < from + kTogether; ++i) sums += blocks[i];
      for (std::size_t flips = 1; flips < kEntries; ++flips) {  // one flip more than an earlier one
        const Sums& turned = blocks[from + static_cast<std::size_t>(std::countr_zero(flips))];
        const Sums& without = table[none_turned + (flips & (flips - 1))];
        table.push_back({without.ranks - 2 * turned.ranks, without.sizes - 2 * turned.sizes});
      }
    }
    return table;
  }

  /// Removes the score of larger values: they count as 0, and the others move up a rank.
  static void leave_out_above(double most, std::vector<double>& sizes, std::vector<int>& signs) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] > most) sizes[i] = signs[i] = 0;
    }
  }

  static std::vector<std::int64_t> scaled(const std::vector<double>& sizes) {
    constexpr double kUnit = 1099511627776.0;  // 2^40
    const double greatest = *std::max_element(sizes.begin(), sizes.end());
    double squares = 0;
    for (const double size : sizes) squares += greatest > 0 ? std::pow(size / greatest, 2) : 0;
    std::vector<std::int64_t> result;
    for (const double size : sizes) {
      const double share = greatest > 0 ? size / greatest / std::sqrt(squares) : 0;
      result.push_back(std::llround(kUnit * share));
    }
    return result;
  }

  std::vector<Sums> signed_;  // of each block; ranks of 0 for a difference that equals the shift
  double scale_ = 0;
  Standing observed_;
  std::int64_t observed_sum_ = 0;
  std::size_t reached_ = 0;
  std::size_t reached_by_any_ = 0;
};

/// Makes all flips. Workloads are in the order of their observed standing, the least first: each is
/// compared with itself and those before it. Returns the number of patterns.
std::size_t make_flips(std::vector<Workload>& workloads, std::size_t blocks, std::uint64_t seed) {
  const Patterns patterns(blocks, seed);
  constexpr Standing kNone{-std::numeric_limits<double>::infinity(), 0};
  std::vector<Standing> greatest(patterns.count(), kNone);
  for (Workload& workload : workloads) workload.count(patterns, greatest);
  return patterns.count();
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
                              std::uint64_t seed, std::size_t absent, double outlying) {
  require_table(differences, shifts);
  std::vector<Workload> workloads;
  for (std::size_t w = 0; w < differences.size(); ++w) {
    workloads.emplace_back(differences[w], shifts[w], direction, outlying);
  }
  std::vector<std::size_t> order(workloads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return workloads[a].observed() < workloads[b].observed();
  });
  std::vector<Workload> ascending;
  for (const std::size_t w : order) ascending.push_back(std::move(workloads[w]));
  const std::size_t blocks = differences.front().size();
  const auto patterns = static_cast<double>(make_flips(ascending, blocks, seed));
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
