// resolve(): the addresses of a host, looked up on a thread for blocking calls.
#pragma once

#include <string>
#include <system_error>
#include <vector>

#include "runtime/net/address.hpp"
#include "runtime/task/task.hpp"

namespace taskbench::rt::net {

/// The errors of getaddrinfo: EAI_NONAME and so on.
[[nodiscard]] const std::error_category& resolve_category() noexcept;

/// The TCP addresses of `service` (the name or number of a port) on `host` (a name or an address),
/// in the order in which to try them: at least one. An empty `host` stands for all of this
/// machine's addresses, to listen at.
///
/// Runs in rt::spawn_blocking. If it is given up, the look-up does not begin, or its result is
/// dropped; one that waits for a thread is in memory until its turn comes, or later calls end it.
/// Throws std::system_error, of resolve_category() or the system's.
[[nodiscard]] Task<std::vector<SocketAddress>> resolve(std::string host, std::string service);

}  // namespace taskbench::rt::net
