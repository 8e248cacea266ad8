// Prints a line for each repetition of five benchmarks: a name, a time and its unit.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned steps(unsigned n) {
  volatile unsigned sum = 1;
  for (unsigned i = 0; i < n; ++i) sum = i ^ (sum << 1);
  return sum;
}

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static void repeat(const char* name, unsigned n) {
  const char* asked = getenv("TASKBENCH_MIN_TIME_S");
  const double least_ns = 1e9 * (asked ? atof(asked) : 0.001);
  const double begin_ns = now_ns();
  unsigned long times = 0;
  do {
    for (int i = 0; i < 100; ++i, ++times) steps(n);
  } while (now_ns() - begin_ns < least_ns);
  printf("%s %g ns\n", name, (now_ns() - begin_ns) / (double)times);
}

int main(void) {
  const char* asked = getenv("TASKBENCH_REPETITIONS");
  for (int i = asked ? atoi(asked) : 1; i > 0; --i) {
    repeat("a", 3000);
    repeat("b", 1000);
    repeat("c", 5000);
    repeat("sizes 100", 100);
    repeat("sizes 200", 200);
  }
}
