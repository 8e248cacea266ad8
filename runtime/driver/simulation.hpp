// What a runtime for tests (runtime/testing/) puts in the place of the system: a clock and sockets.
//
// This is the only point where timers and sockets learn that they are being tested: they ask for
// the time here, and a call on a socket whose number is kFirstSimulated or more comes here instead
// of going to the system. The system's numbers are never that high.
//
// Threads: a simulation belongs to one thread; other threads do not notice it.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>
#include <string>

#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt::driver {

class Registration;

/// Numbers of simulated sockets begin here. A process that had as many descriptors would need 8 GiB
/// for their table alone.
inline constexpr int kFirstSimulated = 1 << 30;

class Simulation {
 public:
  [[nodiscard]] virtual base::Clock::time_point now() const noexcept = 0;

  // The system's calls of these names; a failure is minus errno.
  virtual int socket(int family, int type) = 0;
  virtual int bind(int descriptor, const sockaddr* address, socklen_t size) = 0;
  virtual int listen(int descriptor, int backlog) = 0;
  virtual int accept(int descriptor, sockaddr* peer, socklen_t* size) = 0;
  virtual int connect(int descriptor, const sockaddr* peer, socklen_t size) = 0;
  virtual int socketpair(int family, int type, int* ends) = 0;
  virtual ssize_t recvfrom(int descriptor, void* into, std::size_t size, int flags, sockaddr* from,
                           socklen_t* from_size) = 0;
  virtual ssize_t sendto(int descriptor, const void* data, std::size_t size, const sockaddr* to,
                         socklen_t to_size) = 0;
  virtual int shutdown(int descriptor, int how) = 0;
  virtual int close(int descriptor) = 0;
  virtual int getsockname(int descriptor, sockaddr* address, socklen_t* size) = 0;
  virtual int setsockopt(int descriptor, int level, int name, const void* value,
                         socklen_t size) = 0;
  virtual int getsockopt(int descriptor, int level, int name, void* value, socklen_t* size) = 0;
  virtual int poll(pollfd* asked) = 0;

  /// From now on events of the socket go to `registration`; nullptr: nowhere.
  virtual void watch(int descriptor, Registration* registration) = 0;

  /// The address of a host of that name, as text; empty: there is none.
  [[nodiscard]] virtual std::string resolve(const std::string& host) const = 0;

 protected:
  ~Simulation() = default;
};

/// The simulation that the calling thread is in; nullptr: none, as everywhere outside of tests.
[[nodiscard]] Simulation* simulation() noexcept;
void enter_simulation(Simulation* simulation) noexcept;

/// The time that timers use: the system's steady clock, or that of the simulation.
[[nodiscard]] base::Clock::time_point now() noexcept;

}  // namespace taskbench::rt::driver
