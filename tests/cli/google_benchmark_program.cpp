// A program of another project for `taskbench ab`: it must have Google Benchmark's own main, whose
// handling of flags, filters, threads, ranges and failures is too complex to imitate.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace {

/// How much more work than usual to do.
double factor() {
  const char* text = std::getenv("TEST_SLOWER");
  return text != nullptr ? std::atof(text) : 1;
}

void BM_sum(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(static_cast<double>(state.range(0)) * factor());
  std::vector<std::uint64_t> values(size);
  for (auto _ : state) {
    std::iota(values.begin(), values.end(), 0);
    benchmark::DoNotOptimize(std::accumulate(values.begin(), values.end(), std::uint64_t{0}));
  }
  state.counters["size"] = static_cast<double>(size);
}
BENCHMARK(BM_sum)->Arg(1000)->Arg(4000);

void BM_in_threads(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(state.iterations());
}
BENCHMARK(BM_in_threads)->Threads(2)->UseRealTime();

void BM_fails(benchmark::State& state) {
  if (std::getenv("TEST_SOUND") == nullptr) state.SkipWithError("no such device");
  for (auto _ : state) benchmark::DoNotOptimize(state.iterations());
}
BENCHMARK(BM_fails);

void BM_complexity(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(state.iterations());
  state.SetComplexityN(state.range(0));
}

void BM_no_time(benchmark::State& state) {
  for (auto _ : state) state.SetIterationTime(0);
}

/// Registers benchmarks that are valid but cannot be judged.
void register_odd_ones() {
  benchmark::RegisterBenchmark("BM_aggregates", BM_complexity)->Arg(1)->ReportAggregatesOnly(true);
  benchmark::RegisterBenchmark("BM_complexity", BM_complexity)->Range(1, 8)->Complexity();
  benchmark::RegisterBenchmark("BM_no_time", BM_no_time)->UseManualTime()->Iterations(3);
  for (int i = 0; i < 2; ++i) benchmark::RegisterBenchmark("BM_twice", BM_complexity)->Arg(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("TEST_ODD") != nullptr) register_odd_ones();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
