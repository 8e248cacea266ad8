#include <benchmark/benchmark.h>

static void steps(benchmark::State& state, int n) {
  unsigned sum = 1;
  for (auto _ : state) {
    for (int i = 0; i < n; ++i) {
      sum += static_cast<unsigned>(i) ^ (sum << 1);
      benchmark::DoNotOptimize(sum);
    }
  }
}

static void A(benchmark::State& state) { steps(state, 3000); }
static void B(benchmark::State& state) { steps(state, 1000); }
static void C(benchmark::State& state) { steps(state, 5000); }
static void Sizes(benchmark::State& state) { steps(state, static_cast<int>(state.range(0))); }

BENCHMARK(A);
BENCHMARK(B);
BENCHMARK(C);
BENCHMARK(Sizes)->Arg(100)->Arg(200);
