// helloworld.Greeter, the service that the introductions to gRPC have.
#pragma once

#include <string>
#include <string_view>

#include "workloads/net/grpc_server.hpp"

namespace taskbench::workloads::net {

inline constexpr std::string_view kSayHello = "/helloworld.Greeter/SayHello";

/// Greets whoever it is told the name of. A message that is none is an invalid argument.
[[nodiscard]] GrpcMethods greeter_methods();

/// The message to send to it, and the one that comes back.
[[nodiscard]] std::string hello_request(std::string_view name);
[[nodiscard]] std::string hello_reply(std::string_view name);
/// What a reply says. Throws std::runtime_error for what is none.
[[nodiscard]] std::string greeting_in(const std::string& reply);

}  // namespace taskbench::workloads::net
