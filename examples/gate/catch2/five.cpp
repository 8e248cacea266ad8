#ifdef CATCH2_VERSION_2
#include <catch2/catch.hpp>
#else
#include <catch2/benchmark/catch_benchmark.hpp>
#include <catch2/catch_test_macros.hpp>
#endif

static unsigned steps(int n) {
  volatile unsigned sum = 1;
  for (int i = 0; i < n; ++i) sum = static_cast<unsigned>(i) ^ (sum << 1);
  return sum;
}

TEST_CASE("steps") {
  BENCHMARK("a") { return steps(3000); };
  BENCHMARK("b") { return steps(1000); };
  BENCHMARK("c") { return steps(5000); };
}

TEST_CASE("sizes, few of them") {
  BENCHMARK("100") { return steps(100); };
  BENCHMARK("200") { return steps(200); };
}
