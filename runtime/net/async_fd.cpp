#include "runtime/net/async_fd.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

#include "runtime/driver/driver.hpp"
#include "runtime/net/system.hpp"
#include "runtime/task/context.hpp"

namespace taskbench::rt {
namespace net {

void throw_error(int error, std::string_view operation, std::string_view address) {
  throw std::system_error(error, std::system_category(),
                          std::string(operation) + ' ' + std::string(address));
}

namespace detail {

void close_descriptor(int descriptor) noexcept { system::close(descriptor); }

void throw_refused(Refusal why) {
  if (why == Refusal::ended) {
    throw std::logic_error(
        "the runtime of this socket or descriptor has ended, and nobody watches it any more: keep "
        "the runtime for as long as tasks of others use what was made in it");
  }
  throw std::logic_error(
      "another operation waits for the same direction of this socket or descriptor, in another "
      "task "
      "or in another branch of this one: let one at a time read, and one write, or guard it with "
      "an "
      "rt::sync::Mutex");
}

template <Direction direction>
Attempt AskWhetherReady<direction>::attempt(const AsyncFd& fd, bool) const noexcept {
  pollfd asked{
      .fd = fd.descriptor(),
      .events = static_cast<short>(direction == Direction::read ? POLLIN | POLLRDHUP : POLLOUT),
      .revents = 0};
  const Returned ready = call_system([&] { return system::poll(&asked); });
  return ready.value == 0 ? Attempt::again : Attempt::done;
}
template struct AskWhetherReady<Direction::read>;
template struct AskWhetherReady<Direction::write>;

}  // namespace detail
}  // namespace net

namespace {

driver::Driver& driver_of_this_thread() {
  task::Spawner* const scheduler = task::thread_context().scheduler;
  if (scheduler == nullptr) {
    throw std::logic_error(
        "sockets and descriptors belong to a runtime: make them in a task or inside block_on");
  }
  return scheduler->driver();
}

}  // namespace

AsyncFd AsyncFd::own(int descriptor) {
  net::detail::Descriptor owned(descriptor);
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags == -1 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == -1) {
    net::throw_error(errno, "make non-blocking", "descriptor " + std::to_string(descriptor));
  }
  return own(std::move(owned));
}

AsyncFd AsyncFd::own(net::detail::Descriptor&& non_blocking) {
  AsyncFd made(non_blocking.get());
  (void)non_blocking.release();
  made.registration_->is_owned = true;
  return made;
}

AsyncFd AsyncFd::borrow(int descriptor) { return AsyncFd(descriptor); }

AsyncFd::AsyncFd(int descriptor) : registration_(nullptr) {
  driver::Driver& driver = driver_of_this_thread();
  registration_ = &driver.registrations().add(driver, descriptor);
}

int AsyncFd::release() && noexcept {
  const int descriptor = registration().descriptor();
  std::exchange(registration_, nullptr)->retire();
  return descriptor;
}

void AsyncFd::end() noexcept {
  if (registration_ == nullptr) return;
  const bool is_owned = registration_->is_owned;
  const int descriptor = std::move(*this).release();
  if (is_owned) net::detail::close_descriptor(descriptor);
}

}  // namespace taskbench::rt
