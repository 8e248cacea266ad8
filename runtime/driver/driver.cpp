#include "runtime/driver/driver.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "runtime/driver/simulation.hpp"
#include "runtime/task/harness.hpp"

namespace taskbench::rt::driver {
namespace {

/// How long the watcher lets the thread that has left the driver run tasks before it takes it.
constexpr std::chrono::milliseconds kWatch{10};

/// The value of a token from the appointment of its owner as watcher until that thread notices it.
/// For the parker it is the same as no token.
constexpr std::uint32_t kTold = 0;

/// A bit of inside_: the thread sleeps in epoll_wait.
constexpr std::uintptr_t kPolls = 1;

/// An address that stands for the calling thread.
struct ThreadTag;
const void* calling_thread() noexcept { return &base::of_this_thread<char, ThreadTag>(); }

}  // namespace

struct Driver::Sleeping {
  park::Token& token;
  const std::uint32_t expected;
  Sleeping* next = this;
  Sleeping* previous = this;
};

Driver::Driver(std::uint32_t workers) : origin_(driver::now()), reserve_(*this) {
  wheels_.reserve(workers + 1);
  for (std::uint32_t i = 0; i <= workers; ++i) wheels_.push_back(std::make_unique<Wheel>(*this));
}

int Driver::epoll_descriptor() {
  if (poller_.is_open()) return poller_.descriptor();
  {
    const base::LockGuard guard(opening_);
    if (!poller_.is_open()) poller_.open();
  }
  begin_use();
  // seq_cst: the others' half of the story at the top of the header
  base::full_fence();
  // relaxed: ordered by the fence
  const std::uintptr_t inside = inside_.load(base::relaxed);
  if ((inside & kPolls) == 0) signal(inside);
  return poller_.descriptor();
}

void Driver::begin_use() noexcept {
  if (in_use()) return;
  const park::Token* told = nullptr;
  {
    const base::SpinGuard guard(lock_);
    in_use_.store(true, base::relaxed);  // relaxed: a hint, except under lock_
    told = appoint_watcher();
  }
  if (told != nullptr) base::futex_wake_one(told);
}

void Driver::interrupt(Tick when) noexcept {
  begin_use();
  // seq_cst: the others' half of the story at the top of the header
  base::full_fence();
  // relaxed: ordered by the fence
  if (when >= wakes_at_.load(base::relaxed)) return;
  // acquire: pairs with the release in sleep_inside(); a thread that polls saw the poller opened
  signal(inside_.load(base::acquire));
}

void Driver::wake(const park::Token* token) noexcept {
  // seq_cst: the others' half of the story at the top of the header
  base::full_fence();
  // acquire: pairs with the release in sleep_inside(), as in interrupt()
  const std::uintptr_t inside = inside_.load(base::acquire);
  if ((inside & ~kPolls) == reinterpret_cast<std::uintptr_t>(token)) {
    signal(inside);
  } else {
    base::futex_wake_one(token);
  }
}

void Driver::signal(std::uintptr_t inside) noexcept {
  if (inside == 0) return;
  if ((inside & kPolls) != 0) {
    poller_.wake();
    return;
  }
  // relaxed: only says that there is something to look at, behind the fences
  signal_.store(1, base::relaxed);
  base::futex_wake_one(&signal_);
}

bool Driver::sleep(park::Token& token, std::uint32_t expected,
                   Clock::time_point deadline) noexcept {
  bool takes_it = false;
  if (has_it()) return base::futex_wait(token, expected, deadline);
  if (!try_take()) {
    const bool in_time = sleep_outside(token, expected, deadline, false, takes_it);
    if (!takes_it) return in_time;
  }
  return sleep_inside(token, expected, deadline);
}

bool Driver::Reserve::sleep(park::Token& token, std::uint32_t expected,
                            Clock::time_point deadline) noexcept {
  bool takes_it = false;
  if (driver_.has_it()) return base::futex_wait(token, expected, deadline);
  const bool in_time = driver_.sleep_outside(token, expected, deadline, true, takes_it);
  return takes_it ? driver_.sleep_inside(token, expected, deadline) : in_time;
}

bool Driver::sleep_inside(const park::Token& token, std::uint32_t expected,
                          Clock::time_point deadline) noexcept {
  for (;;) {
    const bool polls = poller_.is_open();
    const Tick due = next_tick();
    // relaxed: ordered by the fence, as is inside_: a thread that publishes something not seen
    // below stores its signal behind a later fence, and so after this
    signal_.store(0, base::relaxed);
    wakes_at_.store(due, base::relaxed);
    // release: pairs with the acquire of a signaller, which uses the poller that this thread saw
    inside_.store(reinterpret_cast<std::uintptr_t>(&token) | (polls ? kPolls : 0), base::release);
    // seq_cst: the inside thread's half of the story at the top of the header
    base::full_fence();
    // relaxed: ordered by the fence
    if (token.load(base::relaxed) == expected && poller_.is_open() == polls && next_tick() >= due) {
      const Clock::time_point until = std::min(deadline, time_of(due));
      if (polls) {
        events_ = poller_.wait(until);
      } else {
        static_cast<void>(base::futex_wait(signal_, 0, until));
      }
    }
    // relaxed: D3; a thread that reads the old value ends a sleep that is over
    inside_.store(0, base::relaxed);
    wakes_at_.store(0, base::relaxed);  // relaxed: D3; one that reads the old value signals in vain
    const bool has_limit = due != kNever || deadline != Clock::time_point::max();
    const Clock::time_point now = has_limit ? Clock::now() : Clock::time_point::min();
    if (events_ != 0 || now >= time_of(due)) {
      holder_.store(calling_thread(), base::relaxed);  // relaxed: compared by this thread alone
      return false;
    }
    // relaxed: the parker takes the token
    const bool is_woken = token.load(base::relaxed) != expected;
    if (is_woken || now >= deadline) {
      release();
      return is_woken;
    }
  }
}

bool Driver::sleep_outside(park::Token& token, std::uint32_t expected, Clock::time_point deadline,
                           bool reserve, bool& takes_it) noexcept {
  Sleeping self{.token = token, .expected = expected};
  const park::Token* told = nullptr;
  bool in_time = true;
  lock_.lock();
  join_line(self, reserve);
  // Watches even while the driver is taken: the thread that gives it up need not wake a watcher.
  // relaxed: under lock_ (D1)
  if (in_use() && watcher_ == nullptr && !(reserve && held_.load(base::relaxed))) watcher_ = &self;
  for (;;) {
    const bool watches = watcher_ == &self;
    lock_.unlock();
    const Clock::time_point until = watches ? std::min(deadline, Clock::now() + kWatch) : deadline;
    in_time = base::futex_wait(token, expected, until);
    lock_.lock();
    if (watcher_ == &self) {
      std::uint32_t before = kTold;
      // relaxed: puts back the announcement; a token that came meanwhile is seen below
      token.compare_exchange_strong(before, expected, base::relaxed, base::relaxed);
    }
    // relaxed: the parker takes the token
    if (token.load(base::relaxed) != expected || (!in_time && until == deadline)) break;
    if (in_time) continue;
    watcher_ = nullptr;
    takes_it = !held_.load(base::relaxed);  // relaxed: under lock_ (D1)
    if (!takes_it) continue;
    held_.store(true, base::relaxed);  // relaxed: under lock_ (D1)
    break;
  }
  leave_line(self);
  if (watcher_ == &self) {
    watcher_ = nullptr;
    told = appoint_watcher();
  }
  lock_.unlock();
  if (told != nullptr) base::futex_wake_one(told);
  return in_time;
}

void Driver::join_line(Sleeping& self, bool reserve) noexcept {
  if (line_ != nullptr) {
    self.next = line_;
    self.previous = line_->previous;
    self.previous->next = line_->previous = &self;
    if (reserve) return;
  }
  line_ = &self;
}

void Driver::leave_line(Sleeping& self) noexcept {
  self.next->previous = self.previous;
  self.previous->next = self.next;
  if (line_ == &self) line_ = self.next == &self ? nullptr : self.next;
}

const park::Token* Driver::appoint_watcher() noexcept {
  // relaxed: under lock_ (D1)
  if (!in_use() || held_.load(base::relaxed) || watcher_ != nullptr || line_ == nullptr) {
    return nullptr;
  }
  watcher_ = line_;
  std::uint32_t expected = watcher_->expected;
  // relaxed: it is appointed under lock_; one that has a token leaves the line, and appoints the
  // next
  const bool sleeps =
      watcher_->token.compare_exchange_strong(expected, kTold, base::relaxed, base::relaxed);
  return sleeps ? &watcher_->token : nullptr;
}

bool Driver::try_take() noexcept {
  // relaxed: a first look; lock_ decides
  if (held_.load(base::relaxed)) return false;
  const base::SpinGuard guard(lock_);
  if (held_.load(base::relaxed)) return false;  // relaxed: under lock_ (D1)
  held_.store(true, base::relaxed);             // relaxed: under lock_ (D1)
  return true;
}

void Driver::release() noexcept {
  const park::Token* told = nullptr;
  {
    const base::SpinGuard guard(lock_);
    held_.store(false, base::relaxed);  // relaxed: under lock_ (D1)
    told = appoint_watcher();
  }
  if (told != nullptr) base::futex_wake_one(told);
}

bool Driver::has_it() const noexcept {
  // relaxed: what this thread has stored, or what others have and it never will
  return holder_.load(base::relaxed) == calling_thread();
}

void Driver::look_now(Wheel* own) noexcept {
  if (own != nullptr && own->next() != kNever) {
    const Tick now = tick_before(driver::now());
    if (own->next() <= now) own->fire(now, Wheel::By::owner);
  }
  if (!try_take()) return;
  if (poller_.is_open()) events_ = poller_.wait(Clock::time_point::min());
  wake_and_release(own);
}

void Driver::wake_and_release(Wheel* own) noexcept {
  holder_.store(nullptr, base::relaxed);  // relaxed: compared by this thread alone
  for (std::size_t i = 0; i < events_; ++i) {
    const base::Poller::Event event = poller_.event(i);
    static_cast<Registration*>(event.data)->on_events(event.events);
  }
  events_ = 0;
  if (next_tick() != kNever) {
    const Tick now = tick_before(driver::now());
    for (const auto& wheel : wheels_) {
      if (wheel->next() > now) continue;
      wheel->fire(now, wheel.get() == own ? Wheel::By::owner : Wheel::By::visitor);
    }
  }
  release();
}

Tick Driver::next_tick() const noexcept {
  Tick first = kNever;
  for (const auto& wheel : wheels_) first = std::min(first, wheel->next());
  return first;
}

Tick Driver::tick_before(Clock::time_point time) const noexcept {
  const auto since = std::chrono::floor<std::chrono::milliseconds>(time - origin_).count();
  return static_cast<Tick>(std::max<std::int64_t>(since, 0));
}

Tick Driver::tick_at_or_after(Clock::time_point time) const noexcept {
  const auto since = std::chrono::ceil<std::chrono::milliseconds>(time - origin_).count();
  return static_cast<Tick>(std::max<std::int64_t>(since, 0));
}

Driver::Clock::time_point Driver::time_of(Tick tick) const noexcept {
  return tick == kNever ? Clock::time_point::max() : origin_ + std::chrono::milliseconds(tick);
}

}  // namespace taskbench::rt::driver
