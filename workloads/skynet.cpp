// A tree of forks, ten at each level, whose leaves are numbered and summed: more forks wait at one
// time than in fib, and their results come back in arrays.
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "runtime/runtime.hpp"
#include "workloads/base/countdown.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

constexpr std::size_t kForks = 10;

/// The sum of the numbers of `count` leaves, from `first` on.
rt::Fork<std::uint64_t> sum_up(std::uint64_t first, std::uint64_t count) {
  if (count < 2) co_return count* first;
  const auto sums = co_await rt::fork_join<kForks>([first, count](std::size_t i) {
    const std::uint64_t begin = count * i / kForks;
    return sum_up(first + begin, count * (i + 1) / kForks - begin);
  });
  std::uint64_t sum = 0;
  for (const std::uint64_t each : sums) sum += each;
  co_return sum;
}

class Skynet final : public Instance {
 public:
  Skynet(rt::Runtime& runtime, const ParameterValues& values)
      : runtime_(runtime), leaves_(values.at("leaves")) {}

  void run_iteration() override {
    sum_ += runtime_.block_on(sum_up(0, leaves_));
    ++iterations_;
  }

  std::optional<std::string> verify() override {
    const std::uint64_t expected = std::exchange(iterations_, 0) * (leaves_ * (leaves_ - 1) / 2);
    return compare_counts("sum of the leaves", expected, std::exchange(sum_, 0));
  }

 private:
  rt::Runtime& runtime_;
  const std::uint64_t leaves_;
  std::uint64_t iterations_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace

const Workload& skynet() {
  static constexpr std::array kParameters{
      Parameter{"leaves", 100'000, 1, 1'000'000'000, "leaves of the tree, ten forks a level"},
  };
  static const Workload kWorkload{
      .name = "skynet",
      .summary = "a tree of forks, ten at each level, whose leaves are summed up",
      .operation = "leaf",
      .parameters = kParameters,
      .operations = [](const ParameterValues& values) { return values.at("leaves"); },
      .make = make<Skynet>,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
