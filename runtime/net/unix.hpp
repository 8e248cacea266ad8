// Unix stream sockets: connections within the machine.
#pragma once

#include <utility>

#include "runtime/net/listener.hpp"
#include "runtime/net/stream.hpp"

namespace taskbench::rt::net {

class UnixStream : public Stream {
 public:
  /// Connects to `peer`. Throws std::system_error. Cancellation-safe: gives the connection up.
  [[nodiscard]] static Task<UnixStream> connect(SocketAddress peer);
  /// Two streams that are connected to each other. Throws std::system_error.
  [[nodiscard]] static std::pair<UnixStream, UnixStream> pair() {
    int ends[2];
    detail::connect_pair(ends);
    detail::Descriptor first(ends[0]);
    detail::Descriptor second(ends[1]);
    return {UnixStream(AsyncFd::own(std::move(first)), {}),
            UnixStream(AsyncFd::own(std::move(second)), {})};
  }
  /// Takes a socket that is connected already.
  UnixStream(AsyncFd connected, const SocketAddress& peer) noexcept
      : Stream(std::move(connected), peer) {}
};

using UnixListener = Listener<UnixStream>;

}  // namespace taskbench::rt::net
