#include "runtime/net/stream.hpp"

#include <algorithm>
#include <string>

#include "runtime/net/system.hpp"
#include "runtime/net/tcp.hpp"
#include "runtime/net/unix.hpp"

namespace taskbench::rt::net {
namespace {

using detail::Attempt;

[[noreturn]] void throw_transfer(Direction direction, int error, const Stream& stream) {
  throw_error(error, direction == Direction::read ? "read from" : "write to",
              stream.peer_address().text());
}

std::size_t size_of(const detail::Returned& returned, Direction direction, const Stream& stream) {
  if (returned.value < 0) throw_transfer(direction, returned.error(), stream);
  return static_cast<std::size_t>(returned.value);
}

/// As many buffers as one call takes (IOV_MAX).
Buffers for_one_call(Buffers buffers) {
  return buffers.first(std::min<std::size_t>(buffers.size(), 1024));
}

std::size_t total(Buffers buffers) {
  std::size_t sum = 0;
  for (const iovec& buffer : buffers) sum += buffer.iov_len;
  return sum;
}

/// The buffers without their first `count` bytes.
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

/// The result of a call that moved some of `asked` bytes. A TCP connection that gave or took less
/// than asked has no more until the next edge. A Unix one also stops where another sender's bytes
/// begin, or descriptors come with them.
Attempt attempt_of(const detail::Returned& returned, std::size_t asked, const Stream& stream) {
  if (returned.would_wait()) return Attempt::again;
  const bool is_short = returned.value > 0 && static_cast<std::size_t>(returned.value) < asked;
  return is_short && stream.peer_address().family() != AF_UNIX ? Attempt::exhausted : Attempt::done;
}

detail::Returned transfer(Direction direction, const Stream& stream, void* data, std::size_t size,
                          int receive_flags) {
  const int descriptor = stream.descriptor();
  return detail::call_system([&] {
    return direction == Direction::read ? system::recv(descriptor, data, size, receive_flags)
                                        : system::send(descriptor, data, size);
  });
}

detail::Returned transfer(Direction direction, const Stream& stream, Buffers buffers) {
  msghdr message{};
  message.msg_iov = buffers.data();
  message.msg_iovlen = buffers.size();
  const int descriptor = stream.descriptor();
  return detail::call_system([&] {
    return direction == Direction::read ? system::recvmsg(descriptor, &message, buffers)
                                        : system::sendmsg(descriptor, &message, buffers);
  });
}

}  // namespace

namespace detail {

template <Direction direction, bool peeks>
Attempt Transfer<direction, peeks>::attempt(Stream& stream, bool) noexcept {
  const Returned now = transfer(direction, stream, data, size, peeks ? MSG_PEEK : 0);
  const Attempt attempt = attempt_of(now, size, stream);
  if (attempt == Attempt::again) return attempt;
  returned = static_cast<std::int32_t>(now.value);
  return peeks ? Attempt::done : attempt;
}

template <Direction direction, bool peeks>
std::size_t Transfer<direction, peeks>::take(const Stream& stream) const {
  return size_of(Returned{returned}, direction, stream);
}

template <Direction direction>
Attempt VectoredTransfer<direction>::attempt(Stream& stream, bool) noexcept {
  const Buffers now = for_one_call(buffers);
  returned = transfer(direction, stream, now);
  return attempt_of(returned, total(now), stream);
}

template <Direction direction>
std::size_t VectoredTransfer<direction>::take(const Stream& stream) const {
  return size_of(returned, direction, stream);
}

template <Direction direction>
Attempt TransferAll<direction>::attempt(Stream& stream, bool lasting) noexcept {
  while (left > 0) {
    const auto size = static_cast<std::size_t>(left);
    const Returned returned = transfer(direction, stream, data, size, 0);
    const Attempt attempt = attempt_of(returned, size, stream);
    if (attempt == Attempt::again || returned.value == 0) return attempt;
    if (returned.value < 0) {
      left = returned.value;
      return attempt;
    }
    data = static_cast<std::byte*>(data) + returned.value;
    left -= returned.value;
    if (attempt == Attempt::exhausted && !lasting) return Attempt::again;
  }
  return Attempt::done;
}

template <Direction direction>
void TransferAll<direction>::take(const Stream& stream) const {
  if (left < 0) throw_transfer(direction, Returned{left}.error(), stream);
}

void ReceiveAll::take(const Stream& stream) const {
  TransferAll::take(stream);
  if (left == 0) return;
  throw EndOfStream("read from " + stream.peer_address().text() + ": the stream ended after " +
                    std::to_string(asked - left) + " of " + std::to_string(asked) + " bytes");
}

Attempt VectoredSendAll::attempt(Stream& stream, bool lasting) noexcept {
  while (!buffers.empty()) {
    const Buffers now = for_one_call(buffers);
    const Returned returned = transfer(kDirection, stream, now);
    error = returned.error();
    const Attempt attempt = attempt_of(returned, total(now), stream);
    if (returned.value < 0) return attempt;
    buffers = without(buffers, static_cast<std::size_t>(returned.value));
    if (attempt == Attempt::exhausted && !lasting) return Attempt::again;
  }
  return Attempt::done;
}

void VectoredSendAll::take(const Stream& stream) const {
  if (error != 0) throw_transfer(kDirection, error, stream);
}

template struct Transfer<Direction::read>;
template struct Transfer<Direction::read, true>;
template struct Transfer<Direction::write>;
template struct VectoredTransfer<Direction::read>;
template struct VectoredTransfer<Direction::write>;
template struct TransferAll<Direction::read>;
template struct TransferAll<Direction::write>;

}  // namespace detail

void Stream::shut_down(int how) {
  // A peer that is gone needs no notice.
  if (system::shutdown(descriptor(), how) == 0 || errno == ENOTCONN) return;
  throw_error(errno, "shut down the connection to", peer_.text());
}

void WriteHalf::end() noexcept {
  if (stream_ != nullptr) system::shutdown(stream_->descriptor(), SHUT_WR);
}

// Here and not in the headers: g++ 12 names the temporaries of a coroutine differently in each
// unit, and the linker warns of that.
Task<TcpStream> TcpStream::connect(SocketAddress peer) {
  co_return TcpStream(co_await detail::connect_socket(peer), peer);
}

Task<UnixStream> UnixStream::connect(SocketAddress peer) {
  co_return UnixStream(co_await detail::connect_socket(peer), peer);
}

}  // namespace taskbench::rt::net
