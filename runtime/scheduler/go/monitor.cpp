#include "runtime/scheduler/go/monitor.hpp"

#include <algorithm>

#include "runtime/scheduler/go/go.hpp"

namespace taskbench::rt::go {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// The shortest pause between two looks, and the longest, after kPatience looks in vain.
constexpr nanoseconds kShortest{20'000};
constexpr nanoseconds kLongest{milliseconds{10}};
constexpr int kPatience = 50;

/// A blocking section of this length costs its machine the processor, if there is work for it...
constexpr nanoseconds kBlocked{20'000};
/// ...and of this length in any case.
constexpr nanoseconds kBlockedLong{milliseconds{10}};
/// Time between two looks at the driver, for processors whose tasks compute for long.
constexpr nanoseconds kLook{milliseconds{10}};
/// A time slice.
constexpr nanoseconds kSlice{milliseconds{10}};

}  // namespace

void Monitor::start() {
  seen_.resize(go_.processor_count());
  thread_ = base::Thread([this] {
    base::name_this_thread("taskbench-mon");
    run();
  });
}

void Monitor::stop() noexcept {
  parker_.unpark();
  thread_.join();
}

void Monitor::run() noexcept {
  nanoseconds delay = kShortest;
  int in_vain = 0;
  base::Clock::time_point next_look{};
  while (!go_.closed()) {
    if (go_.monitor_may_sleep()) {
      parker_.park();
      delay = kShortest;
      in_vain = 0;
      continue;
    }
    static_cast<void>(parker_.park_until(base::Clock::now() + delay));
    const auto now = base::Clock::now();
    if (now >= next_look) {
      go_.driver().look(nullptr);
      next_look = now + kLook;
    }
    bool intervened = false;
    for (std::uint32_t i = 0; i < go_.processor_count() && !go_.closed(); ++i) {
      intervened |= look_at(go_.processor(i), seen_[i], now);
    }
    if (intervened) {
      delay = kShortest;
      in_vain = 0;
    } else if (++in_vain > kPatience) {
      delay = std::min(2 * delay, kLongest);
    }
  }
}

bool Monitor::look_at(Processor& processor, Seen& seen, base::Clock::time_point now) noexcept {
  const std::uint32_t lease = processor.lease.look();
  const std::uint32_t slices = processor.slices.load(base::relaxed);  // relaxed: only compared
  if (lease != seen.lease || slices != seen.slices) {
    seen = {.lease = lease, .slices = slices, .since = now};
    return false;
  }
  const nanoseconds elapsed = now - seen.since;
  if (scheduler::Lease::is_blocking(lease)) {
    if (elapsed < kBlocked) return false;
    if (elapsed < kBlockedLong && processor.looks_empty() && go_.idle.has_spare()) return false;
    if (!processor.lease.retake(lease)) return false;
    processor.counters.hand_offs.add();  // the monitor holds it now, so no one else counts there
    if (!go_.work_is_visible()) {
      go_.release(processor, false);
    } else {
      go_.assign(processor, false);
    }
    return true;
  }
  if (elapsed < kSlice) return false;
  processor.slice_is_over.store(true, base::relaxed);  // relaxed: advice
  return false;
}

}  // namespace taskbench::rt::go
