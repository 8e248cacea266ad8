// for_each_seed(): a test that is run with many seeds, and again with the one that failed.
//
//   rt::testing::for_each_seed(10'000, [](rt::testing::Runtime& test) -> rt::Task<> {
//     ...
//     rt::testing::require(balance == 100, "nothing is paid twice");
//   });
//
// When a seed fails it is run once more, to show what happened last, and whether the test takes the
// same course again. TASKBENCH_TEST_SEED=17 in the environment runs seed 17 alone, and prints all
// that happens to stderr.
//
// Threads: any; each test runs on the thread that calls.
#pragma once

#include <cstdint>
#include <functional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "runtime/testing/runtime.hpp"

namespace taskbench::rt::testing {

struct SeedOptions {
  /// The options of each test's runtime.
  Options runtime = {};
  std::uint64_t first = 0;
  /// Asked after each seed whether it has failed though nothing was thrown: for frameworks whose
  /// assertions do not throw, `[] { return ::testing::Test::HasFailure(); }` with GoogleTest.
  std::function<bool()> has_failed = {};
};

/// A seed that failed. The text has all the details.
class SeedFailed : public std::runtime_error {
 public:
  SeedFailed(std::uint64_t seed, const std::string& what) : std::runtime_error(what), seed_(seed) {}

  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }

 private:
  std::uint64_t seed_;
};

/// What require() throws.
class RequirementFailed : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws if `holds` is false: `what` with the place of the call.
inline void require(bool holds, std::string_view what,
                    const std::source_location& place = std::source_location::current()) {
  if (holds) return;
  throw RequirementFailed(std::string(place.file_name()) + ':' + std::to_string(place.line()) +
                          ": not so: " + std::string(what));
}

namespace detail {
void run_seeds(std::uint64_t count, const std::function<void(Runtime&)>& body,
               const SeedOptions& options);
}  // namespace detail

/// Calls `body(Runtime&)` with `count` seeds, and runs the Task that it returns, if any. The first
/// seed that throws ends the loop: the failure is printed on stderr, and SeedFailed is thrown.
template <class Body>
void for_each_seed(std::uint64_t count, Body&& body, const SeedOptions& options = {}) {
  detail::run_seeds(
      count,
      [&body](Runtime& test) {
        if constexpr (std::is_void_v<std::invoke_result_t<Body&, Runtime&>>) {
          body(test);
        } else {
          test.block_on(body(test));
        }
      },
      options);
}

}  // namespace taskbench::rt::testing
