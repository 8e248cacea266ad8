#include "runtime/time/interval.hpp"

#include <stdexcept>
#include <utility>

namespace taskbench::rt::time {

Interval::Interval(Clock::time_point first, std::chrono::nanoseconds period, MissedTicks missed)
    : next_(first), period_(period), missed_(missed) {
  if (period.count() <= 0) throw std::invalid_argument("the period of an interval is positive");
}

Clock::time_point Interval::advance() noexcept {
  const Clock::time_point now = Clock::now();
  const Clock::time_point due = std::exchange(next_, next_ + period_);
  if (now < next_) return due;
  switch (missed_) {
    case MissedTicks::burst:
      break;
    case MissedTicks::delay:
      next_ = now + period_;
      break;
    case MissedTicks::skip:
      next_ += (now - next_) / period_ * period_ + period_;
      break;
  }
  return due;
}

Interval interval(std::chrono::nanoseconds period, MissedTicks missed) {
  return {Clock::now(), period, missed};
}

}  // namespace taskbench::rt::time
