#include "runtime/net/stream.hpp"

#include <algorithm>
#include <string>

namespace taskbench::rt::net {
namespace {

using detail::Attempt;

/// A connection of TCP that gave or took less than it was asked for has no more until the next
/// edge. A Unix one also stops where another sender's bytes begin, or descriptors come with them.
bool is_exhausted_by(const SocketAddress& peer, ssize_t moved, std::size_t asked) {
  return moved > 0 && static_cast<std::size_t>(moved) < asked && peer.family() != AF_UNIX;
}

[[noreturn]] void throw_transfer(Direction direction, int error, const SocketAddress& peer) {
  throw_error(error, direction == Direction::read ? "read from" : "write to", peer.text());
}

/// No call takes more (IOV_MAX).
Buffers for_one_call(Buffers buffers) {
  return buffers.first(std::min<std::size_t>(buffers.size(), 1024));
}

std::size_t total(Buffers buffers) {
  std::size_t sum = 0;
  for (const iovec& buffer : buffers) sum += buffer.iov_len;
  return sum;
}

/// Without the first `count` bytes.
Buffers without(Buffers buffers, std::size_t count) {
  while (!buffers.empty() && count >= buffers.front().iov_len) {
    count -= buffers.front().iov_len;
    buffers = buffers.subspan(1);
  }
  if (!buffers.empty()) {
    iovec& first = buffers.front();
    first = {static_cast<std::byte*>(first.iov_base) + count, first.iov_len - count};
  }
  return buffers;
}

}  // namespace

namespace detail {

Attempt Transfer::attempt(int descriptor, bool) noexcept {
  returned = call_system([&] {
    return direction == Direction::read ? ::recv(descriptor, data, size, flags)
                                        : ::send(descriptor, data, size, MSG_NOSIGNAL);
  });
  if (returned.would_wait()) return Attempt::again;
  const bool stays = (flags & MSG_PEEK) != 0;
  return !stays && is_exhausted_by(*peer, returned.value, size) ? Attempt::exhausted
                                                                : Attempt::done;
}

std::size_t Transfer::take() const {
  if (returned.error != 0) throw_transfer(direction, returned.error, *peer);
  return static_cast<std::size_t>(returned.value);
}

Attempt VectoredTransfer::attempt(int descriptor, bool) noexcept {
  const Buffers now = for_one_call(buffers);
  msghdr message{};
  message.msg_iov = now.data();
  message.msg_iovlen = now.size();
  returned = call_system([&] {
    return direction == Direction::read ? ::recvmsg(descriptor, &message, 0)
                                        : ::sendmsg(descriptor, &message, MSG_NOSIGNAL);
  });
  if (returned.would_wait()) return Attempt::again;
  return is_exhausted_by(*peer, returned.value, total(now)) ? Attempt::exhausted : Attempt::done;
}

std::size_t VectoredTransfer::take() const {
  if (returned.error != 0) throw_transfer(direction, returned.error, *peer);
  return static_cast<std::size_t>(returned.value);
}

Attempt TransferAll::attempt(int descriptor, bool lasting) noexcept {
  while (rest.size != 0) {
    const Attempt attempt = rest.attempt(descriptor, lasting);
    if (attempt == Attempt::again || rest.returned.value <= 0) return attempt;
    const auto moved = static_cast<std::size_t>(rest.returned.value);
    rest.data = static_cast<std::byte*>(rest.data) + moved;
    rest.size -= moved;
    if (attempt == Attempt::exhausted && !lasting) return Attempt::again;
  }
  return Attempt::done;
}

void TransferAll::take() const {
  (void)rest.take();
  if (rest.size == 0) return;
  throw EndOfStream("read from " + rest.peer->text() + ": the stream ended after " +
                    std::to_string(size - rest.size) + " of " + std::to_string(size) + " bytes");
}

Attempt VectoredTransferAll::attempt(int descriptor, bool lasting) noexcept {
  while (!rest.buffers.empty()) {
    const Attempt attempt = rest.attempt(descriptor, lasting);
    if (attempt == Attempt::again || rest.returned.value < 0) return attempt;
    rest.buffers = without(rest.buffers, static_cast<std::size_t>(rest.returned.value));
    if (attempt == Attempt::exhausted && !lasting) return Attempt::again;
  }
  return Attempt::done;
}

void VectoredTransferAll::take() const { (void)rest.take(); }

}  // namespace detail

void Stream::shut_down(int how) {
  // A peer that is gone already has been told.
  if (::shutdown(descriptor(), how) == 0 || errno == ENOTCONN) return;
  throw_error(errno, "shut down the connection to", peer_.text());
}

void WriteHalf::end() noexcept {
  if (stream_ != nullptr) ::shutdown(stream_->descriptor(), SHUT_WR);
}

}  // namespace taskbench::rt::net
