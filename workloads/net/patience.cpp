#include "workloads/net/patience.hpp"

#include <algorithm>
#include <utility>

#include "runtime/time/sleep.hpp"

namespace taskbench::workloads::net {
namespace {

/// Number of checks within a client's time limit.
constexpr std::uint64_t kLooks = 8;

std::uint64_t looks_of(std::chrono::milliseconds time, std::chrono::milliseconds pause) {
  return static_cast<std::uint64_t>((time + pause - std::chrono::milliseconds(1)) / pause);
}

}  // namespace

Patience::Patience(rt::Runtime& runtime, std::chrono::milliseconds patience,
                   std::chrono::milliseconds idle)
    : runtime_(runtime),
      pause_(std::max<std::chrono::milliseconds>(std::min(patience, idle) / kLooks,
                                                 std::chrono::milliseconds(1))),
      looks_of_patience_(looks_of(patience, pause_)),
      looks_of_idle_(looks_of(idle, pause_)),
      watch_(runtime.spawn(look_again_and_again())) {}

Patience::~Patience() { runtime_.block_on(stop()); }

rt::Task<> Patience::look_again_and_again() {
  for (;;) {
    co_await rt::time::sleep(pause_);
    const std::uint64_t look = looks_.fetch_add(1, std::memory_order_relaxed) + 1;
    const std::lock_guard lock(mutex_);  // so that the streams are there
    for (Wait* each = waits_; each != nullptr; each = each->next_) {
      if (look < each->cut_off_at_.load(std::memory_order_relaxed)) continue;
      each->end();
      if (each->expire_) {
        each->expire_();
      } else {
        each->stream_.shutdown();
      }
      cut_off_.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

rt::Task<> Patience::stop() {
  watch_->abort();
  try {
    co_await *watch_;
  } catch (const rt::JoinError&) {
    // The watch was cancelled: it never ends by itself.
  }
}

Patience::Wait::Wait(Patience& patience, rt::net::TcpStream& stream, std::function<void()> expire)
    : patience_(patience), stream_(stream), expire_(std::move(expire)) {
  const std::lock_guard lock(patience_.mutex_);
  next_ = std::exchange(patience_.waits_, this);
  link_ = &patience_.waits_;
  if (next_ != nullptr) next_->link_ = &next_;
}

Patience::Wait::~Wait() {
  const std::lock_guard lock(patience_.mutex_);
  *link_ = next_;
  if (next_ != nullptr) next_->link_ = link_;
}

void Patience::Wait::begin(std::uint64_t looks) {
  const std::uint64_t now = patience_.looks_.load(std::memory_order_relaxed);
  cut_off_at_.store(now + looks + 1, std::memory_order_relaxed);
}

}  // namespace taskbench::workloads::net
