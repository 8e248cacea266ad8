// The system calls that move the bytes of a stream, or watch a descriptor. The tester's models
// implement them themselves (tests/model/kernel.hpp); here they are the system's.
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cstddef>

#include "runtime/base/sync_primitives.hpp"

#if defined(TASKBENCH_MODEL)

namespace taskbench::rt::base::system {

ssize_t recv(int descriptor, void* into, std::size_t size, int flags) noexcept;
ssize_t recvmsg(int descriptor, msghdr* message, int flags) noexcept;
ssize_t send(int descriptor, const void* from, std::size_t size, int flags) noexcept;
ssize_t sendmsg(int descriptor, const msghdr* message, int flags) noexcept;
int epoll_ctl(int epoll, int operation, int descriptor, epoll_event* event) noexcept;

}  // namespace taskbench::rt::base::system

#else

namespace taskbench::rt::base::system {

inline ssize_t recv(int descriptor, void* into, std::size_t size, int flags) noexcept {
  return ::recv(descriptor, into, size, flags);
}
inline ssize_t recvmsg(int descriptor, msghdr* message, int flags) noexcept {
  return ::recvmsg(descriptor, message, flags);
}
inline ssize_t send(int descriptor, const void* from, std::size_t size, int flags) noexcept {
  return ::send(descriptor, from, size, flags);
}
inline ssize_t sendmsg(int descriptor, const msghdr* message, int flags) noexcept {
  return ::sendmsg(descriptor, message, flags);
}
inline int epoll_ctl(int epoll, int operation, int descriptor, epoll_event* event) noexcept {
  return ::epoll_ctl(epoll, operation, descriptor, event);
}

}  // namespace taskbench::rt::base::system

#endif  // !TASKBENCH_MODEL
