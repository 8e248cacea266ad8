#include "runtime/driver/registration.hpp"

#include <sys/epoll.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/driver/driver.hpp"

namespace taskbench::rt::driver {

Registration::Registration(Driver& driver, int descriptor)
    : driver_(&driver), descriptor_(descriptor) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET;
  event.data.ptr = this;
  if (epoll_ctl(driver.epoll_descriptor(), EPOLL_CTL_ADD, descriptor, &event) == 0) {
    driver.watch(*this);
    return;
  }
  const int error = errno;
  std::string what = "watch descriptor " + std::to_string(descriptor);
  if (error == EPERM) what += ", which is of a kind that is always ready";
  throw std::system_error(error, std::system_category(), what);
}

Registration::~Registration() = default;

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
  // Not left to close(): another descriptor, of a child that was forked, may stand for the same.
  epoll_ctl(driver_->epoll_descriptor(), EPOLL_CTL_DEL, descriptor_, nullptr);
  // The driver keeps this, and goes when nobody has it any more.
  const base::Ref<Driver> driver = std::move(driver_);
  driver->retire(this);
}

}  // namespace taskbench::rt::driver
