// Models of the runtime: each is a test that must hold in every execution and explore all of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>

#include "tests/model/mc/check.hpp"

namespace taskbench::rt::model {

/// Turns off the spurious failures of weak compare-exchanges and try_lock, which models have by
/// default.
inline const mc::Options kNoWeakFailures{.weak_failures = 0};

/// Prints a row of the table in docs/design/permutation_testing.md.
inline void print_row(const mc::Options& options, const mc::Result& result) {
  const auto bound = [](int most) { return most < 0 ? "none" : std::to_string(most); };
  std::printf("| %s | %d | %s | %s | %llu | %.2f |\n", options.name.c_str(), result.threads,
              bound(options.preemptions).c_str(), bound(options.stale).c_str(),
              static_cast<unsigned long long>(result.executions), result.seconds);
}

/// Fails the test with a trace and a table of events unless `body` holds in every execution; with
/// TASKBENCH_RANDOM_MODELS=N, in N drawn executions without bounds.
inline mc::Result holds(const std::function<void()>& body, mc::Options options = {}) {
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  options.name = std::string(test.test_suite_name()) + '.' + test.name();
  if (const char* count = std::getenv("TASKBENCH_RANDOM_MODELS")) {
    options.search = mc::Search::random;
    options.executions = static_cast<std::uint64_t>(std::atoll(count));
    options.seed = std::random_device{}();
    options.preemptions = options.stale = -1;
    std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
  }
  mc::Result result = mc::check(options, body);
  EXPECT_FALSE(result.failed) << result.message << "\nMC_SEED=" << result.seed
                              << "\nMC_TRACE=" << result.trace << '\n'
                              << result.events;
  EXPECT_TRUE(result.complete || options.search != mc::Search::exhaustive);
  print_row(options, result);
  return result;
}

}  // namespace taskbench::rt::model
