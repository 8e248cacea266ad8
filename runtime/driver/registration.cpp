#include "runtime/driver/registration.hpp"

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/base/socket_calls.hpp"
#include "runtime/driver/driver.hpp"
#include "runtime/driver/simulation.hpp"

namespace taskbench::rt::driver {
namespace {

/// Makes epoll report the events of `descriptor` to `registration`.
void watch_by_epoll(Driver& driver, int descriptor, Registration* registration) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET;
  event.data.ptr = registration;
  const int epoll = driver.epoll_descriptor();
  if (base::system::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0) return;
  const int error = errno;
  std::string what = "watch descriptor " + std::to_string(descriptor);
  if (error == EPERM) what += ", which is of a kind that is always ready";
  throw std::system_error(error, std::system_category(), what);
}

}  // namespace

void Registration::on_events(std::uint32_t epoll_events) noexcept {
  using State = Readiness::State;
  const auto has = [&](std::uint32_t any) { return (epoll_events & any) != 0; };
  if (has(EPOLLIN | EPOLLRDHUP | EPOLLPRI | EPOLLHUP | EPOLLERR)) {
    reading_.set(has(EPOLLRDHUP | EPOLLPRI | EPOLLHUP) ? State::lasting : State::yes);
  }
  if (has(EPOLLOUT | EPOLLHUP | EPOLLERR)) {
    writing_.set(has(EPOLLHUP) ? State::lasting : State::yes);
  }
}

void Registration::retire() noexcept {
  TASKBENCH_ASSERT(!reading_.is_awaited() && !writing_.is_awaited(),
                   "a socket or descriptor must outlive the operations on it");
  if (descriptor_ < kFirstSimulated) {
    // Not left to close(): a forked child's descriptor may keep the same file open, and watched.
    static_cast<void>(
        base::system::epoll_ctl(driver_->epoll_descriptor(), EPOLL_CTL_DEL, descriptor_, nullptr));
  } else if (Simulation* const with = simulation()) {
    with->watch(descriptor_, nullptr);
  }
  const base::Ref<Driver> driver = std::move(driver_);  // in which *this lies
  driver->registrations().remove(*this);
}

Registration& Registrations::of(int descriptor) {
  const auto number = static_cast<std::size_t>(descriptor);
  const std::size_t place = number % Page::kSize;
  const base::LockGuard guard(mutex_);
  std::unique_ptr<Page>& page = pages_[number / Page::kSize];
  if (page == nullptr) page = std::make_unique<Page>();
  constexpr std::size_t kLines = Page::kSize / 2;
  return page->all[place % kLines * 2 + place / kLines];
}

Registration& Registrations::add(Driver& driver, int descriptor) {
  Registration* const made = descriptor < 0 ? nullptr : &of(descriptor);
  Simulation* const with = simulation();
  if (with == nullptr) {
    watch_by_epoll(driver, descriptor, made);
  } else if (descriptor >= kFirstSimulated) {
    with->watch(descriptor, made);
  } else {
    throw std::logic_error(
        "a runtime for tests watches no descriptors of the system: what they do depends on more "
        "than the seed");
  }
  TASKBENCH_ASSERT(made->driver_ == nullptr,
                   "a borrowed descriptor was closed before its AsyncFd was gone");
  made->driver_ = base::Ref<Driver>(&driver);
  made->descriptor_ = descriptor;
  made->is_owned = false;
  const base::LockGuard guard(mutex_);
  if (closed_) {
    static_cast<void>(made->reading_.close());  // no task waits so far
    static_cast<void>(made->writing_.close());
  }
  return *made;
}

void Registrations::remove(Registration& registration) noexcept {
  const base::LockGuard guard(mutex_);
  registration.reading_.renew();  // G2
  registration.writing_.renew();
}

void Registrations::close() noexcept {
  for (std::size_t from = 0;;) {
    Page* page = nullptr;
    {
      const base::LockGuard guard(mutex_);
      closed_ = true;
      const auto found = pages_.lower_bound(from);
      if (found == pages_.end()) return;
      from = found->first + 1;
      page = found->second.get();
    }
    for (Registration& each : page->all) {
      for (Readiness* const direction : {&each.reading_, &each.writing_}) {
        task::Header* const waiter = direction->close();
        if (waiter != nullptr) task::wake(waiter);
      }
    }
  }
}

}  // namespace taskbench::rt::driver
