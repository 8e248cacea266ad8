#include "runtime/testing/seeds.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>

namespace taskbench::rt::testing::detail {
namespace {

constexpr const char* kVariable = "TASKBENCH_TEST_SEED";
constexpr std::size_t kLinesShown = 30;

using Body = std::function<void(Runtime&)>;

struct Course {
  std::string failure;  // empty: none
  std::uint64_t fingerprint = 0;
  std::string trace;
};

Course run(std::uint64_t seed, const Body& body, const SeedOptions& options, bool traces) {
  Options own = options.runtime;
  own.trace = own.trace || traces;
  Course course;
  Runtime test(seed, own);
  try {
    body(test);
    if (options.has_failed && options.has_failed()) course.failure = "an assertion failed";
  } catch (const std::exception& error) {
    course.failure = error.what();
    if (course.failure.empty()) course.failure = "an exception without a text";
  } catch (...) {
    course.failure = "something was thrown that is no std::exception";
  }
  course.fingerprint = test.fingerprint();
  course.trace = test.trace();
  return course;
}

std::string last_lines(const std::string& text) {
  std::size_t from = text.size();
  for (std::size_t lines = 0; from > 0; --from) {
    if (text[from - 1] == '\n' && lines++ == kLinesShown) break;
  }
  return text.substr(from);
}

[[noreturn]] void report(std::uint64_t seed, const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  throw SeedFailed(seed, text);
}

std::optional<std::uint64_t> chosen_seed() {
  const char* const text = std::getenv(kVariable);
  if (text == nullptr) return std::nullopt;
  std::uint64_t seed = 0;
  const char* const end = text + std::strlen(text);
  const auto [stopped, error] = std::from_chars(text, end, seed);
  if (error != std::errc{} || stopped != end) {
    throw std::invalid_argument(std::string(kVariable) + " is a number, not '" + text + "'");
  }
  return seed;
}

}  // namespace

void run_seeds(std::uint64_t count, const Body& body, const SeedOptions& options) {
  if (const auto seed = chosen_seed()) {
    const Course course = run(*seed, body, options, true);
    std::fputs(course.trace.c_str(), stderr);
    const std::string text = "seed " + std::to_string(*seed);
    if (!course.failure.empty()) report(*seed, text + " failed: " + course.failure);
    std::fprintf(stderr, "%s passed\n", text.c_str());
    return;
  }
  for (std::uint64_t passed = 0; passed < count; ++passed) {
    const std::uint64_t seed = options.first + passed;
    const Course course = run(seed, body, options, false);
    if (course.failure.empty()) continue;
    const Course again = run(seed, body, options, true);
    std::string text = "seed " + std::to_string(seed) + " failed, after " + std::to_string(passed) +
                       " that passed: " + course.failure + "\nwhat happened last:\n" +
                       last_lines(again.trace);
    if (again.fingerprint != course.fingerprint) {
      text +=
          "Run again, it took another course: something in the test depends on more than the seed, "
          "such as the system's clock, addresses in memory, or what an earlier seed has left.\n";
    }
    report(seed, text + kVariable + "=" + std::to_string(seed) +
                     " in the environment runs it alone, and prints all that happens.");
  }
}

}  // namespace taskbench::rt::testing::detail
