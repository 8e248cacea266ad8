// The workloads that fork, written for oneTBB: see scripts/compare-peers.
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Number = std::uint64_t;

/// As workloads/fib.cpp.
Number fib(Number n) {
  if (n < 2) return n;
  Number one = 0;
  tbb::task_group forks;
  forks.run([&one, n] { one = fib(n - 1); });
  const Number two = fib(n - 2);
  forks.wait();
  return one + two;
}

/// As workloads/skynet.cpp.
Number skynet(Number first, Number count) {
  if (count < 2) return count * first;
  std::array<Number, 10> sums;
  tbb::task_group forks;
  for (Number i = 0; i < sums.size(); ++i) {
    const Number begin = count * i / sums.size();
    const Number end = count * (i + 1) / sums.size();
    if (i + 1 < sums.size()) {
      forks.run([&sums, i, first, begin, end] { sums[i] = skynet(first + begin, end - begin); });
    } else {
      sums[i] = skynet(first + begin, end - begin);
    }
  }
  forks.wait();
  Number sum = 0;
  for (const Number each : sums) sum += each;
  return sum;
}

/// As workloads/nqueens.cpp.
struct Board {
  std::array<std::int8_t, 16> columns;
  std::int8_t rows = 0;

  [[nodiscard]] bool is_safe(std::int8_t column) const {
    for (std::int8_t row = 0; row < rows; ++row) {
      const int apart = columns[static_cast<std::size_t>(row)] - column;
      if (apart == 0 || apart == rows - row || apart == row - rows) return false;
    }
    return true;
  }
  [[nodiscard]] Board with(std::int8_t column) const {
    Board next = *this;
    next.columns[static_cast<std::size_t>(next.rows++)] = column;
    return next;
  }
};

Number nqueens(std::int8_t n, Board board) {
  if (board.rows == n) return 1;
  std::array<Number, 16> counts;
  std::size_t count = 0;
  tbb::task_group forks;
  for (std::int8_t column = 0; column < n; ++column) {
    if (!board.is_safe(column)) continue;
    Number& solutions = counts[count++];
    forks.run([&solutions, n, next = board.with(column)] { solutions = nqueens(n, next); });
  }
  forks.wait();
  Number sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += counts[i];
  return sum;
}

/// As workloads/matmul.cpp, for numbers of rows that are powers of two.
struct Blocks {
  const float* left;
  const float* right;
  float* product;
  std::size_t rows;
  std::size_t stride;
};

[[gnu::noinline]] void multiply_block(Blocks blocks) {
  for (std::size_t i = 0; i < blocks.rows; ++i) {
    float* const product = blocks.product + i * blocks.stride;
    for (std::size_t k = 0; k < blocks.rows; ++k) {
      const float factor = blocks.left[i * blocks.stride + k];
      const float* const right = blocks.right + k * blocks.stride;
      for (std::size_t j = 0; j < blocks.rows; ++j) product[j] += factor * right[j];
    }
  }
}

void matmul(Blocks blocks) {
  if (blocks.rows <= 32) return multiply_block(blocks);
  const std::size_t half = blocks.rows / 2;
  for (std::size_t inner : {std::size_t{0}, half}) {
    const auto part = [&](std::size_t row, std::size_t column) {
      const std::size_t stride = blocks.stride;
      matmul({blocks.left + row * stride + inner, blocks.right + inner * stride + column,
              blocks.product + row * stride + column, half, stride});
    };
    tbb::task_group forks;
    forks.run([&] { part(0, 0); });
    forks.run([&] { part(0, half); });
    forks.run([&] { part(half, 0); });
    part(half, half);
    forks.wait();
  }
}

/// What an iteration of `workload` does.
std::function<void()> iteration_of(std::string_view workload, Number n) {
  const auto require = [](Number actual, Number expected) {
    if (actual != expected) throw std::runtime_error("a wrong result");
  };
  if (workload == "fib") {
    return [=] {
      Number one = 0;
      Number next = 1;
      for (Number i = 0; i < n; ++i) next += std::exchange(one, next);
      require(fib(n), one);
    };
  }
  if (workload == "skynet") return [=] { require(skynet(0, n), n * (n - 1) / 2); };
  if (workload == "nqueens") {
    return [n] { static_cast<void>(nqueens(static_cast<std::int8_t>(n), Board{})); };
  }
  if (workload != "matmul") throw std::runtime_error("no such workload");
  return [n, left = std::vector<float>(n * n, 1), right = std::vector<float>(n * n, 2),
          product = std::vector<float>(n * n)]() mutable {
    std::fill(product.begin(), product.end(), 0.0F);
    matmul({left.data(), right.data(), product.data(), n, n});
    if (product.back() != 2 * static_cast<float>(n)) throw std::runtime_error("a wrong result");
  };
}

double cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

}  // namespace

// tbb fib|skynet|nqueens|matmul THREADS SECONDS N
int main(int count, char** arguments) {
  try {
    const std::vector<std::string> words(arguments + 1, arguments + count);
    const auto threads = static_cast<unsigned>(std::stoul(words.at(1)));
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    tbb::task_arena arena(static_cast<int>(threads));
    const auto iterate = iteration_of(words.at(0), std::stoull(words.at(3)));
    arena.execute(iterate);
    const double cpu = cpu_ns();
    const Clock::time_point begin = Clock::now();
    double iterations = 0;
    for (; Clock::now() - begin < std::chrono::duration<double>(std::stod(words.at(2)));
         ++iterations) {
      arena.execute(iterate);
    }
    const std::chrono::duration<double, std::nano> real = Clock::now() - begin;
    std::printf("{\"real_ns\":%g,\"cpu_ns\":%g}\n", real.count() / iterations,
                (cpu_ns() - cpu) / iterations);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
