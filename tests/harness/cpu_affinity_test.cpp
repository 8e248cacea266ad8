#include "harness/os/cpu_affinity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace taskbench::harness {
namespace {

TEST(cpu_affinity, allowed_cpus_are_ascending_and_not_empty) {
  const auto cpus = allowed_cpus();
  ASSERT_FALSE(cpus.empty());
  EXPECT_TRUE(std::ranges::is_sorted(cpus));
}

TEST(cpu_affinity, bound_thread_has_one_cpu_left) {
  const unsigned last = allowed_cpus().back();
  std::jthread([last] {
    ASSERT_TRUE(bind_to_cpu(last));
    EXPECT_EQ(allowed_cpus(), std::vector<unsigned>{last});
  });
}

TEST(cpu_affinity, scoped_binding_gives_back_what_the_thread_had) {
  const auto before = allowed_cpus();
  {
    const ScopedBinding binding(before.front());
    EXPECT_TRUE(binding.bound());
    EXPECT_EQ(allowed_cpus(), std::vector<unsigned>{before.front()});
  }
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(cpu_affinity, cpu_that_is_not_there_is_refused) {
  std::jthread([] { EXPECT_FALSE(bind_to_cpu(CPU_SETSIZE - 1)); });
}

}  // namespace
}  // namespace taskbench::harness
