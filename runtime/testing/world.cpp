#include "runtime/testing/world.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "runtime/base/assert.hpp"
#include "runtime/base/deadline.hpp"

namespace taskbench::rt::testing {

void World::move_to(Time time) {
  TASKBENCH_ASSERT(time >= now_, "the clock of a test never goes back");
  now_ = time;
}

void World::later(std::chrono::nanoseconds delay, std::function<void()> action,
                  std::function<bool()> is_needed) {
  agenda_.emplace(std::pair(base::later(now_, delay), agreed_++),
                  Action{std::move(action), std::move(is_needed)});
}

void World::forget_needless() {
  while (!agenda_.empty() && !agenda_.begin()->second.is_still_needed()) {
    agenda_.erase(agenda_.begin());
  }
}

bool World::do_what_is_due() {
  if (next_action() > now_) return false;
  const auto next = agenda_.extract(agenda_.begin());
  if (next.mapped().is_still_needed()) next.mapped().run();
  return true;
}

bool World::chance(double probability) noexcept {
  if (probability <= 0) return false;
  constexpr std::uint32_t kSides = UINT32_MAX;
  return random_.below(kSides) < probability * kSides;
}

std::chrono::nanoseconds World::between(std::chrono::nanoseconds least,
                                        std::chrono::nanoseconds most) noexcept {
  if (most <= least) return least;
  constexpr std::uint32_t kSteps = 1U << 20;
  const auto range = static_cast<double>((most - least).count());
  const double part = range * random_.below(kSteps) / (kSteps - 1);
  return least + std::chrono::nanoseconds(static_cast<std::int64_t>(part));
}

void World::note(const std::string& what) {
  trace_.append(as_seconds(elapsed())).append("  ").append(what).push_back('\n');
}

std::string as_seconds(std::chrono::nanoseconds time) {
  char text[40];
  const std::int64_t count = time.count();
  std::snprintf(text, sizeof(text), "%" PRId64 ".%09" PRId64 " s", count / 1'000'000'000,
                count % 1'000'000'000);
  return text;
}

}  // namespace taskbench::rt::testing
