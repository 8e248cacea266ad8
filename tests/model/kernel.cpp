#include "tests/model/kernel.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "runtime/base/socket_calls.hpp"
#include "runtime/driver/registration.hpp"

namespace taskbench::rt::model {

Connection::Connection(int descriptor, Reports reports, int room)
    : descriptor_(descriptor), reports_(reports), room_(room) {
  all_[descriptor] = this;
}
Connection::~Connection() { all_[descriptor_] = nullptr; }

void Connection::deliver(int count) {
  bytes_.fetch_add(count, base::relaxed);
  report(EPOLLIN);
}

void Connection::deliver_and_end(int count) {
  bytes_.fetch_add(count, base::relaxed);
  ended_.store(true, base::release);  // released, as the kernel does under its own lock
  report(EPOLLIN | EPOLLRDHUP);
}

void Connection::make_room(int count) {
  room_.fetch_add(count, base::relaxed);
  report(EPOLLOUT);
}

void Connection::report(std::uint32_t events) {
  if (reports_ == Reports::itself) {
    static_cast<driver::Registration*>(data_)->on_events(events);
  } else {
    base::Poller::opened->report(data_, events);
  }
}

bool Connection::is_interrupted() noexcept {
  ++calls_;
  if (!std::exchange(interrupts_, false)) return false;
  errno = EINTR;
  return true;
}

ssize_t Connection::receive(std::size_t size, int flags) noexcept {
  if (is_interrupted()) return -1;
  const int there = bytes_.load(base::relaxed);
  if (there == 0) {
    if (ended_.load(base::acquire) && bytes_.load(base::relaxed) == 0) return 0;
    errno = EAGAIN;
    return -1;
  }
  const int taken = std::min(there, static_cast<int>(size));
  if ((flags & MSG_PEEK) == 0) bytes_.fetch_sub(taken, base::relaxed);
  return taken;
}

ssize_t Connection::send(std::size_t size) noexcept {
  if (is_interrupted()) return -1;
  const int room = room_.load(base::relaxed);
  if (room == 0) {
    errno = EAGAIN;
    return -1;
  }
  const int taken = std::min(room, static_cast<int>(size));
  room_.fetch_sub(taken, base::relaxed);
  sent_.fetch_add(taken, base::relaxed);
  return taken;
}

}  // namespace taskbench::rt::model

namespace taskbench::rt::base::system {
namespace {

std::size_t size_of(const msghdr* message) noexcept {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < message->msg_iovlen; ++i) sum += message->msg_iov[i].iov_len;
  return sum;
}

}  // namespace

ssize_t recv(int descriptor, void*, std::size_t size, int flags) noexcept {
  return model::Connection::of(descriptor).receive(size, flags);
}
ssize_t recvmsg(int descriptor, msghdr* message, int flags) noexcept {
  return model::Connection::of(descriptor).receive(size_of(message), flags);
}
ssize_t send(int descriptor, const void*, std::size_t size, int) noexcept {
  return model::Connection::of(descriptor).send(size);
}
ssize_t sendmsg(int descriptor, const msghdr* message, int) noexcept {
  return model::Connection::of(descriptor).send(size_of(message));
}
int epoll_ctl(int, int operation, int descriptor, epoll_event* event) noexcept {
  model::Connection::of(descriptor).watch(operation == EPOLL_CTL_ADD ? event->data.ptr : nullptr);
  return 0;
}

}  // namespace taskbench::rt::base::system
