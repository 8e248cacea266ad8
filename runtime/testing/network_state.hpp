// The state of each socket and each connection in the network of a test.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "runtime/testing/network.hpp"

namespace taskbench::rt::testing {

struct Network::Segment {
  enum class Kind : std::uint8_t { syn, accepted, data, end, reset, window };

  Kind kind;
  std::uint64_t number = 0;  // among those that must stay in order: accepted, data, end
  std::string bytes{};
  std::size_t read_bytes = 0;  // of a window: how many more the peer has read
  unsigned losses = 0;
};

/// One end of a connection, as the system of its host knows it.
struct Network::End {
  HostNumber host;
  Address address;
  Socket* socket = nullptr;  // none before accept(), and after close()
  bool is_known = false;     // if not, it answers only with a reset
  bool is_established = false;
  bool is_closed = false;  // it will have no socket any more
  int error = 0;           // what the next operation reports
  // Sending.
  std::uint64_t sent = 0;  // segments that must stay in order
  std::size_t unread = 0;  // bytes that the peer has not read, as far as is known here
  bool has_ended = false;
  // Receiving.
  std::map<std::uint64_t, Segment> early{};  // segments that wait for one before them
  std::uint64_t taken = 0;                   // segments
  std::string received{};
  std::size_t read = 0;  // bytes of `received` that were read
  bool peer_has_ended = false;
  bool is_deaf = false;  // after shutdown(SHUT_RD)

  [[nodiscard]] std::size_t size() const noexcept { return received.size() - read; }
  [[nodiscard]] bool connects() const noexcept { return is_known && !is_established; }
};

struct Network::Connection {
  End ends[2];  // of the side that connects, and of the side that accepts
};

struct Network::Socket {
  int descriptor;
  HostNumber host;
  int family;
  int type;
  Address address{};
  Address peer{};
  std::optional<Place> place{};
  driver::Registration* registration = nullptr;
  std::map<std::pair<int, int>, std::string> options{};
  std::uint64_t waits[2] = {0, 0};  // the tasks that last had to wait, to read and to write
  // A listening socket.
  int backlog = 0;
  std::deque<ConnectionRef> pending{};
  // A stream.
  ConnectionRef connection{};
  unsigned side = 0;
  // Datagrams.
  std::deque<std::pair<Address, std::string>> datagrams{};
  int error = 0;

  [[nodiscard]] End* end() const noexcept {
    return connection == nullptr ? nullptr : &connection->ends[side];
  }
};

}  // namespace taskbench::rt::testing
