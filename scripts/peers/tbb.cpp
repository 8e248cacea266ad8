// The workloads that fork and those that spawn, and the channel, written with oneTBB: see
// scripts/compare-peers.
#include <sched.h>
#include <tbb/concurrent_queue.h>
#include <tbb/global_control.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "scripts/peers/common.hpp"
#include "scripts/peers/spawning.hpp"
#include "workloads/base/matrix_blocks.hpp"
#include "workloads/base/queens.hpp"
#include "workloads/base/unbalanced_tree.hpp"

namespace {

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

Number nqueens(std::int8_t n, taskbench::workloads::QueensBoard board) {
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

/// As workloads/matmul.cpp.
void matmul(const taskbench::workloads::MatrixBlocks& blocks) {
  if (blocks.is_small()) return multiply(blocks);
  for (const bool later : {false, true}) {
    tbb::task_group forks;
    forks.run([&] { matmul(blocks.part(false, later, false)); });
    forks.run([&] { matmul(blocks.part(false, later, true)); });
    forks.run([&] { matmul(blocks.part(true, later, false)); });
    matmul(blocks.part(true, later, true));
    forks.wait();
  }
}

/// As workloads/uts.cpp.
template <class Tree>
Number uts(const Tree& tree, const taskbench::workloads::TreeNode& node) {
  const std::uint32_t children = tree.children_of(node);
  if (children == 0) return 1;
  std::vector<Number> counts(children);
  tbb::task_group forks;
  for (std::uint32_t i = 0; i + 1 < children; ++i) {
    forks.run([&, i] { counts[i] = uts(tree, node.child(i)); });
  }
  counts.back() = uts(tree, node.child(children - 1));
  forks.wait();
  Number count = 1;
  for (const Number each : counts) count += each;
  return count;
}

template <class Tree>
std::function<void()> uts_iteration(Number size) {
  const auto count = [size] {
    return uts(Tree{size}, taskbench::workloads::TreeNode::root(Tree::kSeed));
  };
  return [count, before = std::optional<Number>()]() mutable {
    const Number nodes = count();
    if (before.value_or(nodes) != nodes) throw std::runtime_error("a wrong count");
    before = nodes;
  };
}

/// As workloads/channel.cpp, with threads, since waiting for this queue blocks the thread.
void channel(Number numbers) {
  constexpr Number kEnds = 4;
  constexpr Number kNone = ~Number{0};
  tbb::concurrent_bounded_queue<Number> queue;
  queue.set_capacity(1'024);
  std::array<Number, kEnds> sums{};
  std::vector<std::thread> receivers;
  std::vector<std::thread> senders;
  for (Number& sum : sums) {
    receivers.emplace_back([&queue, &sum] {
      Number received = 0;
      for (Number number = 0;;) {
        queue.pop(number);
        if (number == kNone) break;
        received += number;
      }
      sum = received;
    });
  }
  for (Number i = 0; i < kEnds; ++i) {
    senders.emplace_back([&queue, i, numbers] {
      for (Number each = numbers * i / kEnds; each < numbers * (i + 1) / kEnds; ++each) {
        queue.push(each);
      }
    });
  }
  for (std::thread& each : senders) each.join();
  for (Number i = 0; i < kEnds; ++i) queue.push(kNone);
  for (std::thread& each : receivers) each.join();
  Number sum = 0;
  for (const Number each : sums) sum += each;
  if (sum != numbers * (numbers - 1) / 2) throw std::runtime_error("a wrong sum");
}

/// As workloads/sort.cpp, with oneTBB's own algorithm.
std::function<void()> sort_iteration(Number numbers) {
  std::vector<Number> given(numbers);
  std::mt19937_64 random;
  std::generate(given.begin(), given.end(), random);
  std::vector<Number> expected = given;
  std::sort(expected.begin(), expected.end());
  return [given = std::move(given), expected = std::move(expected),
          sorted = std::vector<Number>(numbers), checked = false]() mutable {
    std::copy(given.begin(), given.end(), sorted.begin());
    tbb::parallel_sort(sorted.begin(), sorted.end());
    if (!std::exchange(checked, true) && sorted != expected) {
      throw std::runtime_error("wrong order");
    }
  };
}

/// One iteration of `workload`.
std::function<void()> iteration_of(std::string_view workload, Number n) {
  const auto require = [](Number actual, Number expected) {
    if (actual != expected) throw std::runtime_error("a wrong result");
  };
  if (workload == "uts_geometric") return uts_iteration<taskbench::workloads::GeometricTree>(n);
  if (workload == "uts_binomial") return uts_iteration<taskbench::workloads::BinomialTree>(n);
  if (workload == "channel") return [n] { channel(n); };
  if (workload == "sort") return sort_iteration(n);
  if (workload == "fib" || workload == "spawned_fib") {
    return [=] { require(fib(n), peers::fibonacci(n)); };
  }
  if (workload == "skynet" || workload == "spawned_skynet") {
    return [=] { require(skynet(0, n), n * (n - 1) / 2); };
  }
  if (workload == "nqueens") {
    return [n] {
      static_cast<void>(nqueens(static_cast<std::int8_t>(n), taskbench::workloads::QueensBoard{}));
    };
  }
  if (workload != "matmul") throw std::runtime_error("no such workload");
  return [n, left = std::vector<float>(n * n, 1), right = std::vector<float>(n * n, 2),
          product = std::vector<float>(n * n)]() mutable {
    std::fill(product.begin(), product.end(), 0.0F);
    matmul({left.data(), right.data(), product.data(), n, n, n, n});
    if (product.back() != 2 * static_cast<float>(n)) throw std::runtime_error("a wrong result");
  };
}

/// The thread that measures takes no part. oneTBB would count it as one of the threads: the limit
/// is one more, and the arena keeps no place for it. A group's callbacks go into the deque of the
/// worker that spawns them, those that are enqueued into queues that all workers share.
class Pool {
 public:
  explicit Pool(unsigned threads)
      : limit_(tbb::global_control::max_allowed_parallelism, threads + 1),
        arena_(static_cast<int>(threads), 0) {}
  ~Pool() { group_.wait(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  template <class Callback>
  void enter(Callback callback) {
    arena_.enqueue(std::move(callback));
  }
  template <class Callback>
  void spawn(Callback callback) {
    group_.run(std::move(callback));
  }
  /// With the group it would run next: the deque is last in, first out.
  template <class Callback>
  void yield(Callback callback) {
    arena_.enqueue(std::move(callback));
  }

 private:
  tbb::global_control limit_;
  tbb::task_arena arena_;
  tbb::task_group group_;
};

}  // namespace

/// The channel has as many threads as ends; they share this number of CPUs.
void use_cpus(unsigned count) {
  cpu_set_t cpus;
  ::sched_getaffinity(0, sizeof(cpus), &cpus);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &cpus)) continue;
    if (count == 0) {
      CPU_CLR(cpu, &cpus);
    } else {
      --count;
    }
  }
  ::sched_setaffinity(0, sizeof(cpus), &cpus);
}

// tbb fib|skynet|nqueens|matmul|uts_geometric|uts_binomial|sort|channel THREADS SECONDS N
// tbb spawned_fib|spawned_skynet THREADS SECONDS N
// tbb chained_spawn|ping_pong|spawn_many|spawn_local|yield_many THREADS SECONDS TASKS [YIELDS]
int main(int count, char** arguments) {
  try {
    const std::vector<std::string> words(arguments + 1, arguments + count);
    if (peers::measure_spawning<Pool>(words)) return 0;
    const auto threads = static_cast<unsigned>(std::stoul(words.at(1)));
    if (words.at(0) == "channel") use_cpus(threads);
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    tbb::task_arena arena(static_cast<int>(threads));
    const auto iterate = iteration_of(words.at(0), std::stoull(words.at(3)));
    peers::measure(std::stod(words.at(2)), [&] { arena.execute(iterate); });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
