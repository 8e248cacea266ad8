// The Fibonacci numbers by their definition, with a fork for each call. This times forking and
// joining themselves: a call does next to nothing else.
#include <array>
#include <string>
#include <utility>

#include "runtime/runtime.hpp"
#include "workloads/base/countdown.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

std::uint64_t by_addition(std::uint64_t n) {
  std::uint64_t one = 0;
  std::uint64_t next = 1;
  for (; n != 0; --n) next += std::exchange(one, next);
  return one;
}

rt::Fork<std::uint64_t> by_forks(std::uint64_t n) {
  if (n < 2) co_return n;
  const auto [one, two] = co_await rt::fork_join(by_forks(n - 1), by_forks(n - 2));
  co_return one + two;
}

class Fib final : public Instance {
 public:
  Fib(rt::Runtime& runtime, const ParameterValues& values)
      : runtime_(runtime), n_(values.at("n")) {}

  void run_iteration() override {
    sum_ += runtime_.block_on(by_forks(n_));
    ++iterations_;
  }

  std::optional<std::string> verify() override {
    const std::uint64_t expected = std::exchange(iterations_, 0) * by_addition(n_);
    return compare_counts("sum of the numbers", expected, std::exchange(sum_, 0));
  }

 private:
  rt::Runtime& runtime_;
  const std::uint64_t n_;
  std::uint64_t iterations_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace

const Workload& fib() {
  static constexpr std::array kParameters{
      Parameter{"n", 25, 1, 45, "which Fibonacci number"},
  };
  static const Workload kWorkload{
      .name = "fib",
      .summary = "a Fibonacci number by recursion, each call a fork",
      .operation = "fork",
      .parameters = kParameters,
      .operations =
          [](const ParameterValues& values) { return 2 * by_addition(values.at("n") + 1) - 1; },
      .make = make<Fib>,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
