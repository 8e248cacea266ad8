// A connection, TCP or Unix: bytes in order, both ways, until each side ends its own direction.
//
// Threads: as in io.hpp: one task may read while another writes. The stream must not be moved while
// an operation is under way, and must outlive it; split() makes two halves that two tasks can own.
//
// Every operation is awaited, and throws std::system_error with the operation and the peer's
// address in its text. Writing to a peer that is gone throws too (EPIPE); there is no SIGPIPE.
//
// An operation that is kept may be awaited again, and then does the same once more; read_exact()
// and write_all() have nothing left to do.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/base/shared.hpp"
#include "runtime/net/address.hpp"
#include "runtime/net/buffers.hpp"
#include "runtime/net/socket.hpp"

namespace taskbench::rt::net {

class Stream;
class ReadHalf;
class WriteHalf;

namespace detail {

/// One call of recv or send.
template <Direction direction, bool peeks = false>
struct Transfer : Call<Stream, direction> {
  /// The most that one call asks for; the system moves less than 2 GiB at a time.
  static constexpr std::size_t kMost = std::size_t{1} << 30;

  Transfer(void* data_, std::size_t size_) noexcept
      : data(data_), size(static_cast<std::uint32_t>(std::min(size_, kMost))) {}
  Attempt attempt(Stream& stream, bool lasting) noexcept;
  [[nodiscard]] std::size_t take(const Stream& stream) const;

  void* data;
  // Half a word each, as each waiting connection has them in its frame.
  const std::uint32_t size;
  std::int32_t returned = 0;  // bytes, or minus errno
};

/// One call of recvmsg or sendmsg, for several buffers.
template <Direction direction>
struct VectoredTransfer : Call<Stream, direction> {
  explicit VectoredTransfer(Buffers buffers_) noexcept : buffers(buffers_) {}
  Attempt attempt(Stream& stream, bool lasting) noexcept;
  [[nodiscard]] std::size_t take(const Stream& stream) const;

  Buffers buffers;
  Returned returned{};
};

/// As many calls as it takes to transfer everything.
template <Direction direction>
struct TransferAll : Call<Stream, direction> {
  TransferAll(void* data_, std::size_t size) noexcept
      : data(data_), left(static_cast<ssize_t>(size)) {}
  Attempt attempt(Stream& stream, bool lasting) noexcept;
  void take(const Stream& stream) const;

  void* data;    // where what is left begins
  ssize_t left;  // bytes, or minus errno
};
struct ReceiveAll : TransferAll<Direction::read> {
  using TransferAll::TransferAll;
  void take(const Stream& stream) const;

  const ssize_t asked = left;
};
struct VectoredSendAll : Call<Stream, Direction::write> {
  explicit VectoredSendAll(Buffers buffers_) noexcept : buffers(buffers_) {}
  Attempt attempt(Stream& stream, bool lasting) noexcept;
  void take(const Stream& stream) const;

  Buffers buffers;
  int error = 0;
};

}  // namespace detail

class Stream : public Socket {
 public:
  /// co_await reads the available bytes, at least one and at most as many as fit, and returns how
  /// many; 0 at the end of the stream. Cancellation-safe.
  [[nodiscard]] auto read(void* into, std::size_t size) {
    return operation(detail::Transfer<Direction::read>(into, size));
  }
  [[nodiscard]] auto read(MutableBytes into) { return read(into.data, into.size); }
  /// Reads into several buffers, one after the other.
  [[nodiscard]] auto read(Buffers into) {
    return operation(detail::VectoredTransfer<Direction::read>(into));
  }
  /// Reads without consuming: the next read() gets the same bytes.
  [[nodiscard]] auto peek(MutableBytes into) {
    return operation(detail::Transfer<Direction::read, true>(into.data, into.size));
  }
  /// Fills all of `into`; throws EndOfStream when the peer sends less. Not cancellation-safe: bytes
  /// read before it is given up are lost.
  [[nodiscard]] auto read_exact(MutableBytes into) {
    return operation(detail::ReceiveAll(into.data, into.size));
  }

  /// co_await writes as many bytes as there is room for, at least one, and returns how many.
  /// Cancellation-safe.
  [[nodiscard]] auto write(ConstBytes from) {
    return operation(detail::Transfer<Direction::write>(unwritten(from.data), from.size));
  }
  /// Writes from several buffers, one after the other.
  [[nodiscard]] auto write(Buffers from) {
    return operation(detail::VectoredTransfer<Direction::write>(from));
  }
  /// Writes all of it. Not cancellation-safe: some of it may have been written.
  [[nodiscard]] auto write_all(const void* from, std::size_t size) {
    return operation(detail::TransferAll<Direction::write>(unwritten(from), size));
  }
  [[nodiscard]] auto write_all(ConstBytes from) { return write_all(from.data, from.size); }
  /// Writes all of several buffers; the entries of `from` are moved on as they are written.
  [[nodiscard]] auto write_all(Buffers from) { return operation(detail::VectoredSendAll(from)); }

  /// Lets the peer read the end of the stream after the bytes written so far.
  void shutdown_write() { shut_down(SHUT_WR); }
  /// Ends both directions.
  void shutdown() { shut_down(SHUT_RDWR); }

  [[nodiscard]] const SocketAddress& peer_address() const noexcept { return peer_; }

  /// A half for the task that reads, and one for the task that writes.
  [[nodiscard]] std::pair<ReadHalf, WriteHalf> split() &&;

 protected:
  Stream(AsyncFd fd, const SocketAddress& peer) noexcept : Socket(std::move(fd)), peer_(peer) {}

 private:
  template <class Call>
  [[nodiscard]] detail::Operation<Call> operation(Call call) {
    return detail::Operation<Call>(*this, std::move(call));
  }
  /// Lets one type serve both directions.
  static void* unwritten(const void* from) noexcept { return const_cast<void*>(from); }
  void shut_down(int how);

  SocketAddress peer_;
};

namespace detail {

/// A stream that its two halves own.
class SplitStream final : public base::Shared, public Stream {
 public:
  explicit SplitStream(Stream stream) noexcept : Stream(std::move(stream)) {}
};

}  // namespace detail

/// The half of split() for the task that reads.
class ReadHalf {
 public:
  [[nodiscard]] auto read(MutableBytes into) { return stream_->read(into); }
  [[nodiscard]] auto read(Buffers into) { return stream_->read(into); }
  [[nodiscard]] auto peek(MutableBytes into) { return stream_->peek(into); }
  [[nodiscard]] auto read_exact(MutableBytes into) { return stream_->read_exact(into); }
  [[nodiscard]] const SocketAddress& peer_address() const noexcept {
    return stream_->peer_address();
  }

 private:
  friend class Stream;
  explicit ReadHalf(base::Ref<detail::SplitStream> stream) noexcept : stream_(std::move(stream)) {}

  base::Ref<detail::SplitStream> stream_;
};

/// The half of split() for the task that writes. Its destruction ends the stream for the peer.
class WriteHalf {
 public:
  WriteHalf(WriteHalf&&) noexcept = default;
  WriteHalf& operator=(WriteHalf&& other) noexcept {
    if (this != &other) {
      end();
      stream_ = std::move(other.stream_);
    }
    return *this;
  }
  ~WriteHalf() { end(); }

  [[nodiscard]] auto write(ConstBytes from) { return stream_->write(from); }
  [[nodiscard]] auto write(Buffers from) { return stream_->write(from); }
  [[nodiscard]] auto write_all(ConstBytes from) { return stream_->write_all(from); }
  [[nodiscard]] auto write_all(Buffers from) { return stream_->write_all(from); }
  void shutdown_write() { stream_->shutdown_write(); }
  [[nodiscard]] const SocketAddress& peer_address() const noexcept {
    return stream_->peer_address();
  }

 private:
  friend class Stream;
  explicit WriteHalf(base::Ref<detail::SplitStream> stream) noexcept : stream_(std::move(stream)) {}
  void end() noexcept;

  base::Ref<detail::SplitStream> stream_;
};

inline std::pair<ReadHalf, WriteHalf> Stream::split() && {
  const base::Ref<detail::SplitStream> shared(new detail::SplitStream(std::move(*this)));
  return {ReadHalf(shared), WriteHalf(shared)};
}

}  // namespace taskbench::rt::net
