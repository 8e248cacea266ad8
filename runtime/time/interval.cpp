#include "runtime/time/interval.hpp"

#include <cstdint>
#include <stdexcept>
#include <utility>

#include "runtime/base/deadline.hpp"

namespace taskbench::rt::time {
namespace {

/// The time from the last multiple of `period` after `start` to `now`.
std::chrono::nanoseconds since_last_of(Clock::time_point start, Clock::time_point now,
                                       std::chrono::nanoseconds period) noexcept {
  const auto count = [](auto time) { return static_cast<std::uint64_t>(time.count()); };
  // Unsigned: it may exceed the range of a duration.
  const std::uint64_t late = count(now.time_since_epoch()) - count(start.time_since_epoch());
  return std::chrono::nanoseconds(static_cast<std::int64_t>(late % count(period)));
}

}  // namespace

Interval::Interval(Clock::time_point first, std::chrono::nanoseconds period, MissedTicks missed)
    : next_(first), period_(period), missed_(missed) {
  if (period.count() <= 0) throw std::invalid_argument("the period of an interval is positive");
}

Clock::time_point Interval::advance() noexcept {
  const Clock::time_point now = Clock::now();
  const Clock::time_point due = std::exchange(next_, base::later(next_, period_));
  if (now < next_) return due;
  switch (missed_) {
    case MissedTicks::burst:
      break;
    case MissedTicks::delay:
      next_ = base::later(now, period_);
      break;
    case MissedTicks::skip:
      next_ = base::later(now - since_last_of(next_, now, period_), period_);
      break;
  }
  return due;
}

Interval interval(std::chrono::nanoseconds period, MissedTicks missed) {
  return {Clock::now(), period, missed};
}

}  // namespace taskbench::rt::time
