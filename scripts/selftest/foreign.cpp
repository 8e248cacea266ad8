// A program as third parties write them: COUNT benchmarks of six kinds in turn. The work of every
// EVERYth one grows by SLOWER tenths of a per cent.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

// Read at run time: with a constant, the compiler would make two different programs, and kinds
// without a slowdown would differ, too.
volatile const int kSlower = SLOWER;

int share_of(int number, int size) {
  return number % EVERY == 0 ? size * (1000 + kSlower) / 1000 : size;
}

std::vector<int> shuffled() {
  std::vector<int> numbers(1 << 16);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937(7));
  return numbers;
}

void sort(const std::vector<int>& numbers, int size) {
  std::vector<int> part(numbers.begin(), numbers.begin() + size);
  std::sort(part.begin(), part.end());
  benchmark::DoNotOptimize(part.data());
}

void fill_tree(const std::vector<int>& numbers, int size) {
  std::map<int, int> tree;
  for (int i = 0; i < size; ++i) tree[numbers[i]] += i;
  benchmark::DoNotOptimize(tree.size());
}

void join_strings(const std::vector<int>& numbers, int size) {
  std::string text;
  for (int i = 0; i < size; ++i) text += std::to_string(numbers[i]);
  benchmark::DoNotOptimize(text.data());
}

void allocate(const std::vector<int>& numbers, int size) {
  std::list<std::unique_ptr<char[]>> blocks;
  for (int i = 0; i < size; ++i) blocks.push_back(std::make_unique<char[]>(numbers[i] % 512 + 1));
  benchmark::DoNotOptimize(blocks.size());
}

void chase(const std::vector<int>& numbers, int size) {
  int at = 0;
  for (int i = 0; i < size; ++i) at = numbers[at];
  benchmark::DoNotOptimize(at);
}

void compute(const std::vector<int>& numbers, int size) {
  double sum = 0;
  for (int i = 0; i < size; ++i) sum += std::sqrt(numbers[i]);
  benchmark::DoNotOptimize(sum);
}

void work(benchmark::State& state) {
  using Kind = void (*)(const std::vector<int>&, int);
  // The first applies to every sixth benchmark, whose time grows in proportion to its work. A sort
  // of 3 % more numbers takes 2.2 % more.
  constexpr std::pair<Kind, int> kKinds[] = {{compute, 2500},     {sort, 400},     {fill_tree, 120},
                                             {join_strings, 150}, {allocate, 100}, {chase, 1500}};
  const auto number = static_cast<int>(state.range(0));
  const auto [kind, size] = kKinds[number % 6];
  const std::vector<int> numbers = shuffled();
  for (auto _ : state) kind(numbers, share_of(number, size));
}
BENCHMARK(work)->DenseRange(1, COUNT);

}  // namespace

BENCHMARK_MAIN();
