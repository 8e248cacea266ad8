#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/testing/addresses.hpp"
#include "runtime/testing/network.hpp"
#include "runtime/testing/network_state.hpp"

namespace taskbench::rt::testing {
namespace {

constexpr std::size_t kMostOfASegment = 16'384;
constexpr std::size_t kMostOfADatagram = 65'507;
constexpr std::size_t kMostDatagrams = 256;

/// Each socket of the process has a number of its own, so that the number of one that has outlived
/// its test means nothing in another.
base::Atomic<std::uint32_t> sockets_made{0};

int next_descriptor() noexcept {
  // relaxed: only the number matters
  const std::uint32_t number = sockets_made.fetch_add(1, base::relaxed);
  return driver::kFirstSimulated +
         static_cast<int>(number % static_cast<std::uint32_t>(driver::kFirstSimulated));
}

/// Stores an address as the system does: cut if there is too little room.
void store(const net::SocketAddress& address, sockaddr* into, socklen_t* size) {
  if (into == nullptr || size == nullptr) return;
  std::memcpy(into, address.data(), std::min(*size, address.size()));
  *size = address.size();
}

}  // namespace

Network::Socket* Network::find(int descriptor) const {
  const auto found = sockets_.find(descriptor);
  return found == sockets_.end() ? nullptr : found->second.get();
}

Network::Socket& Network::open(HostNumber host, int family, int type) {
  const int descriptor = next_descriptor();
  auto& made = sockets_[descriptor];
  made = std::make_unique<Socket>(
      Socket{.descriptor = descriptor, .host = host, .family = family, .type = type});
  if (family != AF_UNIX) {
    made->address = Address::ip(family == AF_INET ? "0.0.0.0" : "::", 0);
  }
  return *made;
}

int Network::socket(int family, int type) { return open(world_.host, family, type).descriptor; }

Network::Place Network::place_of(HostNumber host, int type, const Address& address) {
  if (address.family() == AF_UNIX) return {host, address.text()};
  return {host, (type == SOCK_STREAM ? "tcp " : "udp ") + std::to_string(address.port())};
}

Network::Socket* Network::socket_at(const Place& place) const {
  const auto found = bound_.find(place);
  return found == bound_.end() ? nullptr : find(found->second);
}

int Network::bind(Socket& socket, Address address) {
  if (socket.place) return -EINVAL;
  if (address.family() != AF_UNIX) {
    if (!is_wildcard(address) && host_at(socket.host, address) != socket.host) {
      return -EADDRNOTAVAIL;
    }
    std::uint16_t& next = hosts_[socket.host].next_port;
    for (int left = UINT16_MAX + 1 - kFirstAnyPort; address.port() == 0; --left) {
      if (left == 0) return -EADDRINUSE;
      Address chosen = with_port(address, next);
      next = next == UINT16_MAX ? kFirstAnyPort : static_cast<std::uint16_t>(next + 1);
      if (!bound_.contains(place_of(socket.host, socket.type, chosen))) address = chosen;
    }
  }
  Place place = place_of(socket.host, socket.type, address);
  if (!bound_.emplace(place, socket.descriptor).second) return -EADDRINUSE;
  socket.place = std::move(place);
  socket.address = address;
  return 0;
}

int Network::bind_to_any_port(Socket& socket, const Address& peer) {
  if (socket.place || peer.family() == AF_UNIX) return 0;
  const Address any = is_loopback(peer) ? with_port(peer, 0) : address(socket.host, 0);
  return bind(socket, any) == 0 ? 0 : -EADDRNOTAVAIL;  // no port is left
}

int Network::bind(int descriptor, const sockaddr* address, socklen_t size) {
  Socket* const socket = find(descriptor);
  return socket == nullptr ? -EBADF : bind(*socket, Address(address, size));
}

int Network::listen(int descriptor, int backlog) {
  Socket* const socket = find(descriptor);
  if (socket == nullptr) return -EBADF;
  if (!socket->place) return -EINVAL;
  socket->backlog = std::max(backlog, 1);
  return 0;
}

int Network::accept(int descriptor, sockaddr* peer, socklen_t* size) {
  Socket* const listener = find(descriptor);
  if (listener == nullptr) return -EBADF;
  if (listener->backlog == 0) return -EINVAL;
  if (listener->pending.empty()) return wait(*listener, true);
  const ConnectionRef connection = std::move(listener->pending.front());
  listener->pending.pop_front();
  Socket& made = open(listener->host, listener->family, SOCK_STREAM);
  made.connection = connection;
  made.side = 1;
  made.address = connection->ends[1].address;
  made.peer = connection->ends[0].address;
  connection->ends[1].socket = &made;
  store(made.peer, peer, size);
  return made.descriptor;
}

int Network::connect(int descriptor, const sockaddr* address, socklen_t size) {
  Socket* const socket = find(descriptor);
  if (socket == nullptr) return -EBADF;
  const Address peer(address, size);
  const auto to = host_at(socket->host, peer);
  if (!to) return -ENETUNREACH;
  if (socket->type == SOCK_STREAM && socket->end() != nullptr) return -EISCONN;
  if (const int failure = bind_to_any_port(*socket, peer); failure != 0) return failure;
  socket->peer = peer;
  if (socket->type != SOCK_STREAM) return 0;
  socket->connection = connect(socket->host, socket->address, *to, peer);
  socket->end()->socket = socket;
  transmit(socket->connection, 0, {.kind = Segment::Kind::syn});
  return -EINPROGRESS;
}

int Network::socketpair(int family, int type, int* ends) {
  const ConnectionRef connection = connect(world_.host, {}, world_.host, {});
  for (unsigned side = 0; side < 2; ++side) {
    Socket& made = open(world_.host, family, type);
    made.connection = connection;
    made.side = side;
    connection->ends[side].is_known = connection->ends[side].is_established = true;
    connection->ends[side].socket = &made;
    ends[side] = made.descriptor;
  }
  return 0;
}

ssize_t Network::recvfrom(int descriptor, void* into, std::size_t size, int flags, sockaddr* from,
                          socklen_t* from_size) {
  Socket* const socket = find(descriptor);
  if (socket == nullptr) return -EBADF;
  return socket->type == SOCK_STREAM
             ? receive(*socket, into, size, (flags & MSG_PEEK) != 0)
             : receive_datagram(*socket, into, size, flags, from, from_size);
}

ssize_t Network::receive(Socket& socket, void* into, std::size_t size, bool peeks) {
  End* const end = socket.end();
  if (end == nullptr) return -ENOTCONN;
  if (size == 0) return 0;
  if (end->size() == 0) {
    // As on Linux, an error after the peer's end is only for writers.
    if (end->peer_has_ended) return 0;
    if (end->error != 0) return -std::exchange(end->error, 0);
    if (end->is_deaf || !end->is_known) return 0;
    return wait(socket, true);
  }
  size = std::min(size, end->size());
  std::memcpy(into, end->received.data() + end->read, size);
  if (peeks) return static_cast<ssize_t>(size);
  end->read += size;
  if (end->size() == 0) {
    end->received.clear();
    end->read = 0;
  }
  if (end->is_known && !end->peer_has_ended) {
    transmit(socket.connection, socket.side, {.kind = Segment::Kind::window, .read_bytes = size});
  }
  return static_cast<ssize_t>(size);
}

ssize_t Network::sendto(int descriptor, const void* data, std::size_t size, const sockaddr* to,
                        socklen_t to_size) {
  Socket* const socket = find(descriptor);
  if (socket == nullptr) return -EBADF;
  if (socket->type == SOCK_STREAM) return send(*socket, data, size);
  return send_datagram(*socket, data, size, to == nullptr ? socket->peer : Address(to, to_size));
}

ssize_t Network::send(Socket& socket, const void* data, std::size_t size) {
  End* const end = socket.end();
  if (end == nullptr) return -ENOTCONN;
  if (end->error != 0) return -std::exchange(end->error, 0);
  if (!end->is_known || end->has_ended) return -EPIPE;
  if (!end->is_established || end->unread >= window_bytes_) return wait(socket, false);
  const std::size_t total = std::min(size, window_bytes_ - end->unread);
  const auto* from = static_cast<const char*>(data);
  const Link& way = link(end->host, socket.connection->ends[1 - socket.side].host);
  for (std::size_t left = total; left > 0 && end->is_known;) {
    std::size_t part = std::min(left, kMostOfASegment);
    if (part > 1 && world_.chance(way.cuts)) {
      part = 1 + world_.below(static_cast<std::uint32_t>(part - 1));
    }
    end->unread += part;
    transmit(
        socket.connection, socket.side,
        {.kind = Segment::Kind::data, .number = end->sent++, .bytes = std::string(from, part)});
    from += part;
    left -= part;
  }
  return static_cast<ssize_t>(total);
}

int Network::shutdown(int descriptor, int how) {
  Socket* const socket = find(descriptor);
  if (socket == nullptr) return -EBADF;
  End* const end = socket->end();
  if (end == nullptr || !end->is_known || !end->is_established) return -ENOTCONN;
  std::uint32_t events = 0;
  if (how != SHUT_RD) {
    end_sending(socket->connection, socket->side);
    events |= EPOLLOUT;
  }
  if (how != SHUT_WR) {
    end->is_deaf = true;
    events |= EPOLLIN | EPOLLRDHUP;
  }
  report(socket, events);
  return 0;
}

int Network::close(int descriptor) {
  const auto found = sockets_.find(descriptor);
  if (found == sockets_.end()) return -EBADF;
  const std::unique_ptr<Socket> socket = std::move(found->second);
  sockets_.erase(found);
  close(*socket);
  return 0;
}

void Network::close(Socket& socket) {
  if (socket.place) bound_.erase(*socket.place);
  for (const ConnectionRef& connection : socket.pending) refuse(connection, 1);
  End* const end = socket.end();
  if (end == nullptr) return;
  end->socket = nullptr;
  end->is_closed = true;
  if (!end->is_known) return;
  const auto option = socket.options.find({SOL_SOCKET, SO_LINGER});
  linger lingers{};
  if (option != socket.options.end()) {
    std::memcpy(&lingers, option->second.data(), std::min(sizeof(lingers), option->second.size()));
  }
  if (!end->is_established) {
    end->is_known = false;
  } else if (end->size() != 0 || (lingers.l_onoff != 0 && lingers.l_linger == 0)) {
    refuse(socket.connection, socket.side);
  } else {
    end_sending(socket.connection, socket.side);
  }
}

// Datagrams.

ssize_t Network::send_datagram(Socket& socket, const void* data, std::size_t size, Address to) {
  if (socket.error != 0) return -std::exchange(socket.error, 0);
  if (to.family() == AF_UNIX) return -EDESTADDRREQ;
  if (size > kMostOfADatagram) return -EMSGSIZE;
  const auto host = host_at(socket.host, to);
  if (!host) return -ENETUNREACH;
  if (const int failure = bind_to_any_port(socket, to); failure != 0) return failure;
  // A socket that is bound to all addresses sends from one that the peer can answer to.
  Address from = socket.address;
  if (is_wildcard(from)) {
    from = with_port(is_loopback(to) ? to : address(socket.host, 0), from.port());
  }
  const Link& way = link(socket.host, *host);
  const std::string text(static_cast<const char*>(data), size);
  world_.mark(size);
  const int copies = world_.chance(way.loss) ? 0 : world_.chance(way.duplicates) ? 2 : 1;
  if (world_.traces()) {
    constexpr const char* kFates[] = {", lost", "", ", twice"};
    world_.note(from.text() + " > " + to.text() + " datagram of " + std::to_string(size) +
                " bytes" + kFates[copies]);
  }
  for (int copy = 0; copy < copies; ++copy) {
    world_.later(latency(way),
                 [this, sender = socket.descriptor, from, from_host = socket.host, to_host = *host,
                  to, text] { arrive(sender, from, from_host, to_host, to, text); });
  }
  return static_cast<ssize_t>(size);
}

void Network::arrive(int sender, const Address& from, HostNumber from_host, HostNumber to_host,
                     const Address& to, const std::string& data) {
  if (is_blocked(from_host, to_host)) return;
  Socket* const socket = socket_at(place_of(to_host, SOCK_DGRAM, to));
  if (socket == nullptr || !hears(socket->address, to)) {
    // As ICMP would tell the sender, which notices only if it is connected.
    Socket* const back = find(sender);
    if (back == nullptr || back->peer != to || is_blocked(to_host, from_host)) return;
    back->error = ECONNREFUSED;
    report(back, EPOLLIN | EPOLLOUT | EPOLLERR);
    return;
  }
  const bool is_connected = socket->peer.family() != AF_UNIX;
  if (is_connected && socket->peer != from) return;
  if (socket->datagrams.size() == kMostDatagrams) return;
  socket->datagrams.emplace_back(from, data);
  report(socket, EPOLLIN);
}

ssize_t Network::receive_datagram(Socket& socket, void* into, std::size_t size, int flags,
                                  sockaddr* from, socklen_t* from_size) {
  if (socket.error != 0) return -std::exchange(socket.error, 0);
  if (socket.datagrams.empty()) return wait(socket, true);
  const auto& [sender, data] = socket.datagrams.front();
  const std::size_t stored = std::min(size, data.size());
  std::memcpy(into, data.data(), stored);
  store(sender, from, from_size);
  const std::size_t returned = (flags & MSG_TRUNC) != 0 ? data.size() : stored;
  if ((flags & MSG_PEEK) == 0) socket.datagrams.pop_front();
  return static_cast<ssize_t>(returned);
}

// Other calls.

int Network::getsockname(int descriptor, sockaddr* address, socklen_t* size) {
  const Socket* const socket = find(descriptor);
  if (socket == nullptr) return -EBADF;
  store(socket->address, address, size);
  return 0;
}

int Network::setsockopt(int descriptor, int level, int name, const void* value, socklen_t size) {
  Socket* const socket = find(descriptor);
  if (socket == nullptr) return -EBADF;
  socket->options[{level, name}] = std::string(static_cast<const char*>(value), size);
  return 0;
}

int Network::getsockopt(int descriptor, int level, int name, void* value, socklen_t* size) {
  Socket* const socket = find(descriptor);
  if (socket == nullptr) return -EBADF;
  std::string answer(*size, '\0');
  if (level == SOL_SOCKET && name == SO_ERROR) {
    End* const end = socket->end();
    const int error = std::exchange(end == nullptr ? socket->error : end->error, 0);
    std::memcpy(answer.data(), &error, std::min(sizeof(error), answer.size()));
  } else if (const auto set = socket->options.find({level, name}); set != socket->options.end()) {
    answer = set->second;
  }
  *size = static_cast<socklen_t>(std::min<std::size_t>(*size, answer.size()));
  std::memcpy(value, answer.data(), *size);
  return 0;
}

int Network::poll(pollfd* asked) {
  Socket* const socket = find(asked->fd);
  const bool to_read = (asked->events & POLLIN) != 0;
  bool is_ready = true;
  if (socket == nullptr) {
    asked->revents = POLLNVAL;
    return 1;
  }
  int error = socket->error;
  if (socket->backlog != 0) {
    is_ready = !socket->pending.empty();
  } else if (const End* const end = socket->end()) {
    error = end->error;
    const bool can_write = end->has_ended || (end->is_established && end->unread < window_bytes_);
    is_ready = error != 0 || !end->is_known ||
               (to_read ? end->size() != 0 || end->peer_has_ended || end->is_deaf : can_write);
  } else if (socket->type == SOCK_DGRAM && to_read) {
    is_ready = error != 0 || !socket->datagrams.empty();
  }
  asked->revents = static_cast<short>((is_ready ? asked->events : 0) | (error != 0 ? POLLERR : 0));
  if (!is_ready && asked->events != 0) static_cast<void>(wait(*socket, to_read));
  return is_ready ? 1 : 0;
}

void Network::watch(int descriptor, driver::Registration* registration) {
  Socket* const socket = find(descriptor);
  if (socket == nullptr) return;
  socket->registration = registration;
  // As epoll does: an end that came before accept() is reported now, for none comes later.
  const End* const end = socket->end();
  if (end != nullptr && (end->peer_has_ended || !end->is_known)) {
    report(socket, EPOLLIN | EPOLLRDHUP);
  }
}

int Network::wait(Socket& socket, bool to_read) {
  socket.waits[to_read ? 0 : 1] = world_.task;
  return -EAGAIN;
}

void Network::report(Socket* socket, std::uint32_t epoll_events) {
  if (socket == nullptr || socket->registration == nullptr) return;
  socket->registration->on_events(epoll_events);
}

std::map<std::uint64_t, std::string> Network::waiting() const {
  std::map<std::uint64_t, std::string> waits;
  for (const auto& [descriptor, socket] : sockets_) {
    driver::Registration* const registration = socket->registration;
    if (registration == nullptr) continue;
    const std::string own = socket->address.text();
    const std::string peer = socket->peer.text();
    const auto add = [&waits](std::uint64_t task, const std::string& what) {
      std::string& text = waits[task];
      text += (text.empty() ? "" : ", and ") + what;
    };
    if (registration->reading().is_awaited()) {
      const bool is_stream = socket->end() != nullptr;
      add(socket->waits[0], socket->backlog != 0 ? "for a connection at " + own
                            : is_stream          ? "to read from " + peer
                                                 : "for a datagram at " + own);
    }
    if (registration->writing().is_awaited()) {
      const End* const end = socket->end();
      const bool connects = end != nullptr && !end->is_established;
      add(socket->waits[1], (connects ? "to be connected to " : "to write to ") + peer);
    }
  }
  return waits;
}

}  // namespace taskbench::rt::testing
