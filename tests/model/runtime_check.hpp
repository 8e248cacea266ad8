// Models of the runtime: a test each, which must hold in every execution and explore all of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>

#include "tests/model/mc/check.hpp"

namespace taskbench::rt::model {

/// Without the weak compare-exchanges that fail for no reason, which other models have.
inline const mc::Options kNoWeakFailures{.weak_failures = 0};

/// Fails the test with the trace and what happened, unless `body` holds in every execution.
inline mc::Result holds(const std::function<void()>& body, const mc::Options& options = {}) {
  mc::Result result = mc::check(options, body);
  EXPECT_FALSE(result.failed) << result.message << "\nMC_SEED=" << result.seed
                              << "\nMC_TRACE=" << result.trace << '\n'
                              << result.events;
  EXPECT_TRUE(result.complete || options.search != mc::Search::exhaustive);
  std::printf("%llu executions, %llu pruned, depth %d, %.0f a second\n",
              static_cast<unsigned long long>(result.executions),
              static_cast<unsigned long long>(result.pruned), result.depth,
              static_cast<double>(result.executions) / result.seconds);
  return result;
}

}  // namespace taskbench::rt::model
