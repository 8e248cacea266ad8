#include "runtime/base/poller.hpp"

#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <ctime>
#include <string>
#include <system_error>
#include <utility>

namespace taskbench::rt::base {
namespace {

/// At most this many events are taken at once.
constexpr int kMaxEvents = 256;

[[noreturn]] void fail(const char* call) {
  throw std::system_error(errno, std::generic_category(),
                          std::string("watch descriptors: ") + call);
}

/// epoll_wait with a limit in nanoseconds if the system has it (Linux 5.11), or else in
/// milliseconds, rounded up. The thread sanitizer knows only epoll_wait, from which it learns that
/// writes before a descriptor was added are visible to the thread that gets its event.
int wait_for_events(int epoll, epoll_event* events, std::chrono::nanoseconds limit,
                    [[maybe_unused]] bool& has_pwait2) noexcept {
#if defined(SYS_epoll_pwait2) && !defined(TASKBENCH_TSAN)
  if (has_pwait2) {
    timespec time{};
    time.tv_sec = static_cast<time_t>(limit.count() / 1'000'000'000);
    time.tv_nsec = static_cast<long>(limit.count() % 1'000'000'000);
    const long count = syscall(SYS_epoll_pwait2, epoll, events, kMaxEvents, &time, nullptr, 0);
    if (count >= 0 || errno == EINTR) return static_cast<int>(count);
    // ENOSYS, or what a container's filter answers to a call that it does not know: usually EPERM.
    has_pwait2 = false;
  }
#endif
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(limit).count();
  return epoll_wait(epoll, events, kMaxEvents, static_cast<int>(std::min<long>(ms, INT_MAX)));
}

}  // namespace

void Poller::open() {
  events_ = std::make_unique<epoll_event[]>(kMaxEvents);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) fail("eventfd");
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) {
    const int error = errno;
    close(std::exchange(wake_, -1));
    errno = error;
    fail("epoll_create1");
  }
  // Each write is an edge, and an edge is seen once: the eventfd need not be read.
  epoll_event edge{};
  edge.events = EPOLLIN | EPOLLET;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, wake_, &edge) != 0) {
    const int error = errno;
    close(epoll);
    close(std::exchange(wake_, -1));
    errno = error;
    fail("epoll_ctl");
  }
  // release: pairs with the acquire in descriptor()
  epoll_.store(epoll, release);
}

Poller::~Poller() {
  if (!is_open()) return;
  close(descriptor());
  close(wake_);
}

std::size_t Poller::wait(Clock::time_point deadline) noexcept {
  epoll_event* const events = events_.get();
  int count = 0;
  if (deadline == Clock::time_point::max()) {
    count = epoll_wait(descriptor(), events, kMaxEvents, -1);
  } else if (deadline == Clock::time_point::min()) {
    count = epoll_wait(descriptor(), events, kMaxEvents, 0);
  } else {
    const std::chrono::nanoseconds left = deadline - Clock::now();
    count = wait_for_events(descriptor(), events, std::max(left, std::chrono::nanoseconds{0}),
                            has_pwait2_);
  }
  const auto* const end = std::remove_if(events, events + std::max(count, 0),
                                         [](const epoll_event& e) { return !e.data.ptr; });
  return static_cast<std::size_t>(end - events);
}

Poller::Event Poller::event(std::size_t index) const noexcept {
  return {.data = events_[index].data.ptr, .events = events_[index].events};
}

void Poller::wake() noexcept {
  // Fails only after 2^64 writes.
  static_cast<void>(eventfd_write(wake_, 1));
}

}  // namespace taskbench::rt::base
