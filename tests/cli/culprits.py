"""A C++ program for tests to build: a benchmark of ten functions, one of which does more work if
CULPRIT is its number. If defined, FENCE adds fences to one, BYTES makes each allocation twice as
large, and DRAWN makes the work of one vary between processes."""

# In the order of their numbers; the names in reports contain these.
FUNCTIONS = ("sum_up", "mix_bits", "divide_all<unsigned int>", "push_all", "clear_memory",
             "sort_some", "allocate", "recurse", "count_shared", "by_lambda")

# The program speaks Google Benchmark's protocol without including its headers, which take seconds
# to compile, and it has the two functions by which Google Benchmark's loop is found.
SOURCE = r"""
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#ifndef CULPRIT
#define CULPRIT -1
#endif

namespace benchmark {
struct State {
  [[gnu::noinline]] void StartKeepRunning() { started = std::chrono::steady_clock::now(); }
  [[gnu::noinline]] void FinishKeepRunning() { ended = std::chrono::steady_clock::now(); }
  double seconds() const { return std::chrono::duration<double>(ended - started).count(); }
  std::chrono::steady_clock::time_point started, ended;
};
}  // namespace benchmark

namespace {

constexpr int kUsual = 400;

template <int number>
constexpr int size() {
  return CULPRIT == number ? 4 * kUsual : kUsual;
}

volatile unsigned sink;
unsigned values[4 * kUsual];
std::atomic<unsigned> shared{0};

// Inlined or not, a template or not, with a library's help or alone.

unsigned sum_up(int count) {
  unsigned sum = 0;
  for (int i = 0; i < count; ++i) sum = sum * 31 + values[i];
  return sum;
}

[[gnu::noinline]] unsigned mix_bits(int count) {
  unsigned mixed = 1;
  for (int i = 0; i < count; ++i) mixed ^= mixed << 3 ^ values[i] >> 2;
  return mixed;
}

template <class Number>
[[gnu::noinline]] Number divide_all(Number count) {
  Number rest = 0;
  for (Number i = 1; i < count; ++i) rest += (values[i] + rest) % (i | 1);
  return rest;
}

struct Queue {
  unsigned push_all(int count) {
    for (int i = 0; i < count; ++i) ring[i % 64] += static_cast<unsigned>(i);
    return ring[7];
  }
  unsigned ring[64] = {};
};

[[gnu::noinline]] unsigned clear_memory(int count) {
  static char memory[64 * 4 * kUsual];
  std::memset(memory, count & 1, static_cast<std::size_t>(64 * count));
  return static_cast<unsigned char>(memory[9]);
}

[[gnu::noinline]] unsigned sort_some(int count) {
  unsigned sorted[4 * kUsual];
  for (int i = 0; i < count / 4; ++i) sorted[i] = static_cast<unsigned>(i * 7919 % 613);
  std::sort(sorted, sorted + count / 4);
  return sorted[3];
}

[[gnu::noinline]] unsigned allocate(int count) {
  unsigned sum = 0;
  for (int i = 0; i < count / 40; ++i) {
#ifdef BYTES
    std::vector<unsigned> fresh(static_cast<std::size_t>(2 * i + 2), 3);
#else
    std::vector<unsigned> fresh(static_cast<std::size_t>(i + 1), 3);
#endif
    sum += fresh[static_cast<std::size_t>(i) / 2];
  }
  return sum;
}

[[gnu::noinline]] unsigned recurse(int depth) {
  return depth <= 0 ? 1 : recurse(depth - 1) * 3 + values[depth & 7];
}

unsigned count_shared(int count) {
  for (int i = 0; i < count; ++i) {
    shared.store(shared.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
#ifdef FENCE
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  }
  return shared.load(std::memory_order_relaxed);
}

unsigned by_lambda(int count) {
  unsigned most = 0;
  std::for_each(values, values + count, [&](unsigned each) {
    if ((each ^ most) > most) most = each ^ 5;
  });
  return most;
}

[[gnu::noinline]] void all_of_them(benchmark::State& state, long iterations) {
  Queue queue;
  state.StartKeepRunning();
  for (long i = 0; i < iterations; ++i) {
#ifdef DRAWN
    sink = sum_up(getpid() % 199 * 2);
#endif
    sink = sum_up(size<0>());
    sink = mix_bits(size<1>());
    sink = divide_all<unsigned>(size<2>());
    sink = queue.push_all(size<3>());
    sink = clear_memory(size<4>());
    sink = sort_some(size<5>());
    sink = allocate(size<6>());
    sink = recurse(size<7>());
    sink = count_shared(size<8>());
    sink = by_lambda(size<9>());
  }
  state.FinishKeepRunning();
}

const char* option(int argc, char** argv, const char* name) {
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], name, std::strlen(name)) == 0) return argv[i] + std::strlen(name);
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (option(argc, argv, "--version") != nullptr) return 1;
  if (option(argc, argv, "--benchmark_list_tests=true") != nullptr) {
    std::puts("all_of_them");
    return 0;
  }
  for (unsigned i = 0; i < 4 * kUsual; ++i) values[i] = i * 2654435761U;
  const double min_time_s = std::atof(option(argc, argv, "--benchmark_min_time="));
  const int repetitions = std::atoi(option(argc, argv, "--benchmark_repetitions="));
  std::FILE* out = std::fopen(option(argc, argv, "--benchmark_out="), "w");
  std::fputs("{\"context\": {\"json_schema_version\": 1}, \"benchmarks\": [", out);
  benchmark::State state;
  long iterations = 1;
  for (int i = 0; i < repetitions; ++i) {
    for (all_of_them(state, iterations); state.seconds() < min_time_s;) {
      iterations *= 2;
      all_of_them(state, iterations);
    }
    const double ns = 1e9 * state.seconds() / static_cast<double>(iterations);
    std::fprintf(out,
                 "%s{\"name\": \"all_of_them\", \"run_name\": \"all_of_them\", \"run_type\": "
                 "\"iteration\", \"repetition_index\": %d, \"iterations\": %ld, \"real_time\": %f, "
                 "\"cpu_time\": %f, \"time_unit\": \"ns\"}",
                 i == 0 ? "" : ", ", i, iterations, ns, ns);
  }
  std::fputs("]}\n", out);
  return std::fclose(out);
}
"""
