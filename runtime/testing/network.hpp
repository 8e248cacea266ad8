// The network of a test: hosts, the links between them, and the sockets on them, all in memory.
//
// A stream is carried in segments, each with a latency of its own, drawn from the seed; a segment
// waits at its destination for those before it. A lost segment is sent again after 200 ms, 400 ms
// ... 120 s, as TCP does; after 16 attempts in vain (15 minutes) the connection fails with
// ETIMEDOUT, and a connect after 127 s. So loss never leaves a hole in a stream, but makes it late;
// a lost datagram is gone. A reset is not sent again: a lost one leaves the other end half-open
// until it writes, or lets it ask again if it connects.
//
// A segment for an end that its host no longer knows is answered with a reset, as by the system:
// the host has crashed and is back, the end was closed with bytes unread, the socket was closed.
//
// Threads: only the test's.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/driver/registration.hpp"
#include "runtime/driver/simulation.hpp"
#include "runtime/net/address.hpp"
#include "runtime/testing/options.hpp"
#include "runtime/testing/world.hpp"

namespace taskbench::rt::testing {

class Network final : public driver::Simulation {
 public:
  Network(World& world, const Options& options);
  ~Network();

  // Hosts.

  /// The host of that name, created if it is new.
  [[nodiscard]] HostNumber host(std::string_view name);
  [[nodiscard]] const std::string& name(HostNumber host) const { return hosts_[host].name; }
  [[nodiscard]] net::SocketAddress address(HostNumber host, std::uint16_t port) const;
  /// Destroys all of a host's sockets; their peers learn nothing. The host does not answer until it
  /// is restarted.
  void crash(HostNumber host);
  void restart(HostNumber host) { hosts_[host].is_down = false; }

  // Links.

  void set_link(const Link& link) { link_ = link; }
  void set_link(HostNumber one, HostNumber other, const Link& link);
  /// Blocks all traffic from one to the other, or lets it through again.
  void block(HostNumber from, HostNumber to, bool on);
  void isolate(HostNumber host, bool on) { hosts_[host].is_isolated = on; }
  /// Resets all connections between the two: both ends learn of it, or only the one at `told`.
  void reset(HostNumber one, HostNumber other, std::optional<HostNumber> told);

  /// Which tasks wait for a socket, by their numbers, and for what.
  [[nodiscard]] std::map<std::uint64_t, std::string> waiting() const;

  // Simulation.

  [[nodiscard]] World::Time now() const noexcept override { return world_.now(); }
  int socket(int family, int type) override;
  int bind(int descriptor, const sockaddr* address, socklen_t size) override;
  int listen(int descriptor, int backlog) override;
  int accept(int descriptor, sockaddr* peer, socklen_t* size) override;
  int connect(int descriptor, const sockaddr* peer, socklen_t size) override;
  int socketpair(int family, int type, int* ends) override;
  ssize_t recvfrom(int descriptor, void* into, std::size_t size, int flags, sockaddr* from,
                   socklen_t* from_size) override;
  ssize_t sendto(int descriptor, const void* data, std::size_t size, const sockaddr* to,
                 socklen_t to_size) override;
  int shutdown(int descriptor, int how) override;
  int close(int descriptor) override;
  int getsockname(int descriptor, sockaddr* address, socklen_t* size) override;
  int setsockopt(int descriptor, int level, int name, const void* value, socklen_t size) override;
  int getsockopt(int descriptor, int level, int name, void* value, socklen_t* size) override;
  int poll(pollfd* asked) override;
  void watch(int descriptor, driver::Registration* registration) override;
  [[nodiscard]] std::string resolve(const std::string& host) const override;

 private:
  using Address = net::SocketAddress;

  /// Sockets that ask for any port get one from here to the last.
  static constexpr std::uint16_t kFirstAnyPort = 49'152;

  struct Host {
    std::string name;
    bool is_down = false;
    bool is_isolated = false;
    std::uint16_t next_port = kFirstAnyPort;
  };
  struct Socket;
  struct Segment;
  struct End;
  struct Connection;
  using ConnectionRef = std::shared_ptr<Connection>;
  /// Where a socket is bound: the host, and the kind and port, or the path.
  using Place = std::pair<HostNumber, std::string>;

  [[nodiscard]] Socket* find(int descriptor) const;
  Socket& open(HostNumber host, int family, int type);
  [[nodiscard]] static Place place_of(HostNumber host, int type, const Address& address);
  [[nodiscard]] Socket* socket_at(const Place& place) const;
  [[nodiscard]] std::optional<HostNumber> host_at(HostNumber from, const Address& address) const;
  [[nodiscard]] int bind(Socket& socket, Address address);
  [[nodiscard]] int bind_to_any_port(Socket& socket, const Address& peer);

  [[nodiscard]] const Link& link(HostNumber one, HostNumber other) const;
  [[nodiscard]] bool is_blocked(HostNumber from, HostNumber to) const;
  [[nodiscard]] std::chrono::nanoseconds latency(const Link& link);

  ConnectionRef connect(HostNumber from, const Address& own, HostNumber to, const Address& peer);
  void transmit(const ConnectionRef& connection, unsigned from, Segment segment);
  void lose(const ConnectionRef& connection, unsigned from, Segment segment);
  void arrive(const ConnectionRef& connection, unsigned from, Segment segment);
  void arrive_at_listener(const ConnectionRef& connection, Segment segment);
  void take(const ConnectionRef& connection, unsigned to, const Segment& segment);
  /// Notes that the peer has read more. `is_lost`: after all attempts to say so; TCP's writers ask
  /// when they wait, and fail if nobody answers, while a reader does not notice.
  void take_window(End& writer, const Segment& segment, bool is_lost);
  void fail(End& end, int error);
  /// Forgets the end, and resets the connection at the other.
  void refuse(const ConnectionRef& connection, unsigned side);
  void end_sending(const ConnectionRef& connection, unsigned side);
  void close(Socket& socket);

  ssize_t receive(Socket& socket, void* into, std::size_t size, bool peeks);
  ssize_t send(Socket& socket, const void* data, std::size_t size);
  ssize_t receive_datagram(Socket& socket, void* into, std::size_t size, int flags, sockaddr* from,
                           socklen_t* from_size);
  ssize_t send_datagram(Socket& socket, const void* data, std::size_t size, Address to);
  void arrive(int sender, const Address& from, HostNumber from_host, HostNumber to_host,
              const Address& to, const std::string& data);

  /// Notes that the task being polled has to wait. Returns -EAGAIN.
  int wait(Socket& socket, bool to_read);
  static void report(Socket* socket, std::uint32_t epoll_events);
  void note(const Connection& connection, unsigned from, const std::string& what);

  World& world_;
  const std::size_t window_bytes_;
  Link link_;
  std::map<std::pair<HostNumber, HostNumber>, Link> links_;  // the lower number first
  std::set<std::pair<HostNumber, HostNumber>> blocked_;      // from, to
  std::vector<Host> hosts_;
  std::map<int, std::unique_ptr<Socket>> sockets_;
  std::map<Place, int> bound_;
  std::vector<std::weak_ptr<Connection>> connections_;
};

}  // namespace taskbench::rt::testing
