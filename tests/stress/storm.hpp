// What the storms share: random choices that a seed repeats, runtimes of every kind, and the
// account of every task.
//
// TASKBENCH_STRESS_SECONDS    how long all storms together run; 3 by default
// TASKBENCH_STRESS_SEED       where the random choices start; printed by every run
// TASKBENCH_STRESS_SCHEDULER  the scheduler of the storms that can run on any pool, which otherwise
//                             draw one; the test fails if there is none of that name
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/ladder.hpp"
#include "runtime/runtime.hpp"

namespace taskbench::rt::stress {

using Clock = std::chrono::steady_clock;
using Random = std::mt19937_64;

inline constexpr int kStorms = 14;

inline std::optional<std::uint64_t> environment_number(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

inline std::uint64_t seed() {
  static const std::uint64_t value =
      environment_number("TASKBENCH_STRESS_SEED").value_or(std::random_device{}());
  return value;
}

inline std::chrono::milliseconds time_for_a_storm() {
  const std::uint64_t seconds = environment_number("TASKBENCH_STRESS_SECONDS").value_or(3);
  return std::chrono::milliseconds(seconds * 1000 / kStorms);
}

inline std::uint64_t below(Random& random, std::uint64_t bound) { return random() % bound; }
inline bool one_in(Random& random, std::uint64_t n) { return below(random, n) == 0; }

/// The account of all tasks of a round.
struct Account {
  std::atomic<long> created{0};
  std::atomic<long> destroyed{0};
  std::atomic<long> begun{0};
  std::atomic<long> ended{0};
};

/// One future's entry in the account; a parameter of its coroutine.
class Entry {
 public:
  explicit Entry(Account& account) : account_(&account) { account.created.fetch_add(1); }
  Entry(Entry&& other) noexcept : account_(std::exchange(other.account_, nullptr)) {}
  Entry& operator=(Entry&&) = delete;
  ~Entry() {
    if (account_ != nullptr) account_->destroyed.fetch_add(1);
  }
  void begin() const { account_->begun.fetch_add(1); }
  void end() const { account_->ended.fetch_add(1); }
  [[nodiscard]] Account* account() const { return account_; }

 private:
  Account* account_;
};

inline constexpr std::string_view kPools[] = {"work_stealing", "global_queue", "sharded",
                                              "channel",       "tokio01",      "go"};

inline const char* chosen_scheduler() {
  static const char* const name = std::getenv("TASKBENCH_STRESS_SCHEDULER");
  return name;
}

#if defined(TASKBENCH_WITHOUT_RUNGS)
inline std::span<const Rung> rungs() { return {}; }
inline std::span<const SchedulerInfo> all_schedulers() { return schedulers(); }
#else
inline std::span<const Rung> rungs() { return ladder(); }
inline std::span<const SchedulerInfo> all_schedulers() { return schedulers_and_rungs(); }
#endif

/// Draws a pool: the default half of the time, and now and then a rung of the ladder.
inline std::string_view any_pool(Random& random) {
  if (chosen_scheduler() != nullptr) return chosen_scheduler();
  if (!rungs().empty() && one_in(random, 8)) {
    return rungs()[below(random, rungs().size())].scheduler->name;
  }
  return kPools[one_in(random, 2) ? 0 : below(random, std::size(kPools))];
}

inline std::string_view any_scheduler(Random& random) {
  if (chosen_scheduler() != nullptr) return chosen_scheduler();
  return one_in(random, 4) ? "current_thread" : any_pool(random);
}

inline Runtime::Builder any_builder(Random& random, std::string_view scheduler) {
  Runtime::Builder builder;
  const auto info = std::ranges::find(all_schedulers(), scheduler, &SchedulerInfo::name);
  if (info == all_schedulers().end()) {
    throw std::invalid_argument("there is no scheduler '" + std::string(scheduler) + "'");
  }
  builder.scheduler(*info).seed(random()).lifo_slot(!one_in(random, 4));
  builder.global_queue_interval(static_cast<std::uint32_t>(1 + below(random, 100)));
  if (!info->single_worker) {
    builder.workers(static_cast<unsigned>(1 + below(random, 6)));
  }
  return builder;
}
inline Runtime any_runtime(Random& random, std::string_view scheduler) {
  return any_builder(random, scheduler).build();
}

/// Repeats rounds until the time is up and at least `least` of them are done. A failure names the
/// round's seed.
template <class Round>
void storm(Round round, std::uint64_t least = 1) {
  std::printf("TASKBENCH_STRESS_SEED=%llu\n", static_cast<unsigned long long>(seed()));
  std::fflush(stdout);
  const Clock::time_point end = Clock::now() + time_for_a_storm();
  std::uint64_t number = 0;
  do {
    SCOPED_TRACE("seed " + std::to_string(seed()) + ", round " + std::to_string(number));
    Random random(seed() + number * 0x9e3779b97f4a7c15U);
    round(random);
    ++number;
  } while ((Clock::now() < end || number < least) && !::testing::Test::HasFailure());
  std::printf("%llu rounds\n", static_cast<unsigned long long>(number));
}

}  // namespace taskbench::rt::stress
