#include "runtime/testing/network.hpp"

#include <arpa/inet.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "runtime/testing/addresses.hpp"
#include "runtime/testing/network_state.hpp"

namespace taskbench::rt::testing {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

/// The network of all hosts: the first is 10.0.0.1.
constexpr std::uint32_t kNetwork = 10U << 24;

}  // namespace

Network::Network(World& world, const Options& options)
    : world_(world), window_bytes_(options.window_bytes), link_(options.link) {
  static_cast<void>(host("localhost"));
}

Network::~Network() = default;

// Hosts.

HostNumber Network::host(std::string_view name) {
  const auto found = std::ranges::find(hosts_, name, &Host::name);
  if (found == hosts_.end()) {
    hosts_.push_back({.name = std::string(name)});
    return static_cast<HostNumber>(hosts_.size() - 1);
  }
  return static_cast<HostNumber>(found - hosts_.begin());
}

net::SocketAddress Network::address(HostNumber host, std::uint16_t port) const {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  v4.sin_addr.s_addr = htonl(kNetwork + 1 + host);
  return {reinterpret_cast<const sockaddr*>(&v4), sizeof(v4)};
}

void Network::crash(HostNumber host) {
  hosts_[host].is_down = true;
  for (auto each = sockets_.begin(); each != sockets_.end();) {
    Socket& socket = *each->second;
    if (socket.host != host) {
      ++each;
      continue;
    }
    for (const ConnectionRef& connection : socket.pending) connection->ends[1].is_known = false;
    if (End* const end = socket.end()) {
      end->is_known = false;
      end->socket = nullptr;
    }
    if (socket.place) bound_.erase(*socket.place);
    each = sockets_.erase(each);
  }
  // Ends whose sockets were closed while they still had something to send.
  for (const auto& each : connections_) {
    const ConnectionRef connection = each.lock();
    if (connection == nullptr) continue;
    for (End& end : connection->ends) {
      if (end.host == host) end.is_known = false;
    }
  }
}

std::string Network::resolve(const std::string& host) const {
  const auto found = std::ranges::find(hosts_, host, &Host::name);
  if (found == hosts_.end()) return {};
  if (found == hosts_.begin()) return "127.0.0.1";
  const std::string text = address(static_cast<HostNumber>(found - hosts_.begin()), 0).text();
  return text.substr(0, text.find(':'));
}

std::optional<HostNumber> Network::host_at(HostNumber from, const Address& address) const {
  if (is_loopback(address)) return from;
  if (address.family() != AF_INET || is_wildcard(address)) return std::nullopt;
  const std::uint32_t number = v4_of(address) - kNetwork - 1;
  if (number >= hosts_.size()) return std::nullopt;
  return number;
}

// Links.

void Network::set_link(HostNumber one, HostNumber other, const Link& link) {
  links_[std::minmax(one, other)] = link;
}

const Link& Network::link(HostNumber one, HostNumber other) const {
  const auto found = links_.find(std::minmax(one, other));
  return found == links_.end() ? link_ : found->second;
}

void Network::block(HostNumber from, HostNumber to, bool on) {
  if (on) {
    blocked_.emplace(from, to);
  } else {
    blocked_.erase({from, to});
  }
}

bool Network::is_blocked(HostNumber from, HostNumber to) const {
  if (hosts_[from].is_down || hosts_[to].is_down) return true;
  if (from != to && (hosts_[from].is_isolated || hosts_[to].is_isolated)) return true;
  return blocked_.contains({from, to});
}

nanoseconds Network::latency(const Link& link) {
  return world_.between(link.least_latency, link.most_latency);
}

void Network::reset(HostNumber one, HostNumber other, std::optional<HostNumber> told) {
  for (const auto& each : connections_) {
    const ConnectionRef connection = each.lock();
    if (connection == nullptr) continue;
    End(&ends)[2] = connection->ends;
    if (std::minmax(ends[0].host, ends[1].host) != std::minmax(one, other)) continue;
    for (End& end : ends) {
      if (end.is_known && (!told || end.host == *told)) fail(end, ECONNRESET);
    }
  }
}

// Segments.

Network::ConnectionRef Network::connect(HostNumber from, const Address& own, HostNumber to,
                                        const Address& peer) {
  std::erase_if(connections_, [](const auto& each) { return each.expired(); });
  const auto made = std::make_shared<Connection>(
      Connection{{End{.host = from, .address = own}, End{.host = to, .address = peer}}});
  connections_.push_back(made);
  made->ends[0].is_known = true;
  return made;
}

void Network::note(const Connection& connection, unsigned from, const std::string& what) {
  world_.note(connection.ends[from].address.text() + " > " +
              connection.ends[1 - from].address.text() + ' ' + what);
}

void Network::transmit(const ConnectionRef& connection, unsigned from, Segment segment) {
  using Kind = Segment::Kind;
  static constexpr const char* kNames[] = {"connects", "accepts", "data", "end", "reset", "window"};
  End(&ends)[2] = connection->ends;
  const Link& way = link(ends[from].host, ends[1 - from].host);
  const auto kind = static_cast<std::size_t>(segment.kind);
  world_.mark(kind + 8 * segment.bytes.size());
  if (world_.traces()) {
    const std::string size = std::to_string(segment.bytes.size());
    note(*connection, from, segment.bytes.empty() ? kNames[kind] : size + " bytes");
  }
  if (is_blocked(ends[from].host, ends[1 - from].host) || world_.chance(way.loss)) {
    lose(connection, from, std::move(segment));
    return;
  }
  const bool may_fail = segment.kind == Kind::data || segment.kind == Kind::end;
  const bool resets = may_fail && world_.chance(way.resets);
  if (resets || (may_fail && world_.chance(way.half_opens))) {
    if (world_.traces()) note(*connection, from, resets ? "is reset" : "is forgotten on the way");
    fail(ends[from], ECONNRESET);
    if (resets) fail(ends[1 - from], ECONNRESET);
    return;
  }
  const nanoseconds delay = latency(way);
  world_.mark(static_cast<std::uint64_t>(delay.count()));
  world_.later(delay, [this, connection, from, segment = std::move(segment)] {
    arrive(connection, from, segment);
  });
}

void Network::lose(const ConnectionRef& connection, unsigned from, Segment segment) {
  using Kind = Segment::Kind;
  if (world_.traces()) note(*connection, from, "is lost");
  const bool answers = segment.kind == Kind::accepted || segment.kind == Kind::reset;
  if (answers && connection->ends[1 - from].connects()) {
    if (!connection->ends[from].is_established) {
      // It was refused, and is tried again.
      segment.kind = Kind::syn;
      from = 1 - from;
    } else if (segment.losses == 0) {
      world_.later(
          127s, [this, connection, from] { fail(connection->ends[1 - from], ETIMEDOUT); },
          [connection, from] { return connection->ends[1 - from].connects(); });
    }
  }
  const bool connects = segment.kind == Kind::syn;
  const unsigned losses = segment.losses++;
  constexpr nanoseconds kFirst = 200ms;
  constexpr nanoseconds kLongest = 120s;
  const nanoseconds first = connects ? nanoseconds(1s) : kFirst;
  const nanoseconds pause = std::min(first * (std::int64_t{1} << losses), kLongest);
  const bool gives_up = losses == (connects ? 6 : 15);
  auto try_again = [this, connection, from, gives_up, segment = std::move(segment)] {
    if (!gives_up) {
      transmit(connection, from, segment);
    } else if (segment.kind == Kind::window) {
      take_window(connection->ends[1 - from], segment, true);
    } else {
      fail(connection->ends[from], ETIMEDOUT);
    }
  };
  // Not for example from an end that has sent a reset, which is lost for good.
  world_.later(pause, std::move(try_again),
               [connection, from] { return connection->ends[from].is_known; });
}

void Network::arrive(const ConnectionRef& connection, unsigned from, Segment segment) {
  using Kind = Segment::Kind;
  const unsigned to = 1 - from;
  End& end = connection->ends[to];
  if (is_blocked(connection->ends[from].host, end.host)) {
    lose(connection, from, std::move(segment));
    return;
  }
  if (segment.kind == Kind::syn) {
    arrive_at_listener(connection, std::move(segment));
    return;
  }
  if (!end.is_known) {
    if (segment.kind != Kind::reset) transmit(connection, to, {.kind = Kind::reset});
    return;
  }
  switch (segment.kind) {
    case Kind::reset:
      fail(end, end.is_established ? ECONNRESET : ECONNREFUSED);
      return;
    case Kind::window:
      take_window(end, segment, false);
      return;
    default:
      break;
  }
  const std::uint64_t number = segment.number;
  end.early.emplace(number, std::move(segment));
  while (end.is_known) {
    const auto next = end.early.extract(end.taken);
    if (next.empty()) return;
    ++end.taken;
    take(connection, to, next.mapped());
  }
}

void Network::arrive_at_listener(const ConnectionRef& connection, Segment segment) {
  End& end = connection->ends[1];
  Socket* const listener = socket_at(place_of(end.host, SOCK_STREAM, end.address));
  if (listener == nullptr || listener->backlog == 0 || !hears(listener->address, end.address)) {
    transmit(connection, 1, {.kind = Segment::Kind::reset, .losses = segment.losses});
    return;
  }
  if (listener->pending.size() >= static_cast<std::size_t>(listener->backlog)) {
    lose(connection, 0, std::move(segment));
    return;
  }
  end.is_known = end.is_established = true;
  listener->pending.push_back(connection);
  report(listener, EPOLLIN);
  transmit(connection, 1, {.kind = Segment::Kind::accepted, .number = end.sent++});
}

void Network::take(const ConnectionRef& connection, unsigned to, const Segment& segment) {
  End& end = connection->ends[to];
  switch (segment.kind) {
    case Segment::Kind::accepted:
      end.is_established = true;
      report(end.socket, EPOLLOUT);
      break;
    case Segment::Kind::end:
      end.peer_has_ended = true;
      report(end.socket,
             EPOLLIN | EPOLLRDHUP | (end.has_ended ? static_cast<unsigned>(EPOLLHUP) : 0U));
      break;
    default:
      if (end.is_closed) {
        refuse(connection, to);
      } else if (end.is_deaf) {
        transmit(connection, to,
                 {.kind = Segment::Kind::window, .read_bytes = segment.bytes.size()});
      } else {
        end.received += segment.bytes;
        report(end.socket, EPOLLIN);
      }
      break;
  }
}

void Network::take_window(End& writer, const Segment& segment, bool is_lost) {
  if (is_lost && writer.unread >= window_bytes_) {
    fail(writer, ETIMEDOUT);
    return;
  }
  writer.unread -= segment.read_bytes;
  report(writer.socket, EPOLLOUT);
}

void Network::fail(End& end, int error) {
  if (!end.is_known) return;
  end.is_known = false;
  // As on Linux: after the peer's end, a reset is EPIPE to whoever still writes.
  end.error = error == ECONNRESET && end.peer_has_ended ? EPIPE : error;
  report(end.socket, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLHUP | EPOLLERR);
}

void Network::refuse(const ConnectionRef& connection, unsigned side) {
  connection->ends[side].is_known = false;
  transmit(connection, side, {.kind = Segment::Kind::reset});
}

void Network::end_sending(const ConnectionRef& connection, unsigned side) {
  End& end = connection->ends[side];
  if (std::exchange(end.has_ended, true)) return;
  transmit(connection, side, {.kind = Segment::Kind::end, .number = end.sent++});
}

}  // namespace taskbench::rt::testing
