// The exceptions that sockets and descriptors throw.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

namespace taskbench::rt::net {

/// The peer ended its stream before read_exact had read all that it was asked for.
class EndOfStream : public std::system_error {
 public:
  explicit EndOfStream(const std::string& what)
      : std::system_error(std::make_error_code(std::errc::no_message_available), what) {}
};

/// Throws std::system_error: "<operation> <address>: <what the system says>", for example "read
/// from 127.0.0.1:80: Connection reset by peer".
[[noreturn]] void throw_error(int error, std::string_view operation, std::string_view address);

}  // namespace taskbench::rt::net
