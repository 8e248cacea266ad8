// Numbers are sorted by merging, with a fork for each half: this divides memory traffic, and the
// last steps are as large as the first.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/runtime.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

using Numbers = std::uint64_t*;

/// Shorter ranges are sorted, or merged, without forks.
constexpr std::ptrdiff_t kFew = 4'096;
/// Shorter ranges are sorted by insertion.
constexpr std::ptrdiff_t kVeryFew = 24;

void insert_in_order(Numbers begin, Numbers end) {
  for (Numbers each = begin; each < end; ++each) {
    const std::uint64_t number = *each;
    Numbers place = each;
    for (; place != begin && place[-1] > number; --place) *place = place[-1];
    *place = number;
  }
}

/// Takes each number without a branch, which no processor could predict.
[[gnu::noinline]] void merge_few(Numbers left, Numbers left_end, Numbers right, Numbers right_end,
                                 Numbers into) {
  while (left != left_end && right != right_end) {
    const std::uint64_t one = *left;
    const std::uint64_t other = *right;
    const bool takes_right = other < one;
    *into++ = takes_right ? other : one;
    right += takes_right;
    left += !takes_right;
  }
  into = std::copy(left, left_end, into);
  std::copy(right, right_end, into);
}

/// Sorts [begin, end); the result is there, or in `other`, which has the same length.
[[gnu::noinline]] void sort_few(Numbers begin, Numbers end, Numbers other, bool into_other) {
  const std::ptrdiff_t count = end - begin;
  if (count < kVeryFew) {
    insert_in_order(begin, end);
    if (into_other) std::copy(begin, end, other);
    return;
  }
  const std::ptrdiff_t half = count / 2;
  sort_few(begin, begin + half, other, !into_other);
  sort_few(begin + half, end, other + half, !into_other);
  const Numbers from = into_other ? begin : other;
  const Numbers into = into_other ? other : begin;
  merge_few(from, from + half, from + half, from + count, into);
}

/// The longer range is halved, and the other split at the position of its middle value.
rt::Fork<> merge(Numbers left, Numbers left_end, Numbers right, Numbers right_end, Numbers into) {
  if (left_end - left < right_end - right) {
    std::swap(left, right);
    std::swap(left_end, right_end);
  }
  if (left_end - left < kFew) {
    merge_few(left, left_end, right, right_end, into);
    co_return;
  }
  const Numbers middle = left + (left_end - left) / 2;
  const Numbers other = std::lower_bound(right, right_end, *middle);
  co_await rt::fork_join(
      merge(left, middle, right, other, into),
      merge(middle, left_end, other, right_end, into + (middle - left) + (other - right)));
}

rt::Fork<> sort(Numbers begin, Numbers end, Numbers other, bool into_other) {
  const std::ptrdiff_t count = end - begin;
  if (count < kFew) {
    sort_few(begin, end, other, into_other);
    co_return;
  }
  const std::ptrdiff_t half = count / 2;
  co_await rt::fork_join(sort(begin, begin + half, other, !into_other),
                         sort(begin + half, end, other + half, !into_other));
  const Numbers from = into_other ? begin : other;
  const Numbers into = into_other ? other : begin;
  co_await merge(from, from + half, from + half, from + count, into);
}

class Sort final : public Instance {
 public:
  Sort(rt::Runtime& runtime, const ParameterValues& values)
      : runtime_(runtime),
        given_(values.at("numbers")),
        sorted_(given_.size()),
        other_(given_.size()) {
    std::mt19937_64 random;
    std::generate(given_.begin(), given_.end(), random);
  }

  void run_iteration() override {
    std::copy(given_.begin(), given_.end(), sorted_.begin());
    runtime_.block_on(sort(sorted_.data(), sorted_.data() + sorted_.size(), other_.data(), false));
    ran_ = true;
  }

  /// Compares with the standard library's result for the same numbers.
  std::optional<std::string> verify() override {
    if (!std::exchange(ran_, false)) return std::nullopt;
    std::copy(given_.begin(), given_.end(), other_.begin());
    std::sort(other_.begin(), other_.end());
    const auto wrong = std::mismatch(sorted_.begin(), sorted_.end(), other_.begin()).first;
    if (wrong == sorted_.end()) return std::nullopt;
    return "number " + std::to_string(wrong - sorted_.begin()) + " in order is wrong";
  }

 private:
  rt::Runtime& runtime_;
  std::vector<std::uint64_t> given_;
  std::vector<std::uint64_t> sorted_;
  std::vector<std::uint64_t> other_;
  bool ran_ = false;  // since the last verify()
};

}  // namespace

const Workload& sort() {
  static constexpr std::array kParameters{
      Parameter{"numbers", 100'000, 1, 1'000'000'000, "numbers that are sorted"},
  };
  static const Workload kWorkload{
      .name = "sort",
      .summary = "numbers are sorted by merging, a fork for each half",
      .operation = "number",
      .parameters = kParameters,
      .operations = [](const ParameterValues& values) { return values.at("numbers"); },
      .make = make<Sort>,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
