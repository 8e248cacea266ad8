// helloworld.Greeter, the service in the tutorials of gRPC.
#pragma once

#include <string>
#include <string_view>

#include "workloads/net/grpc_server.hpp"

namespace taskbench::workloads::net {

inline constexpr std::string_view kSayHello = "/helloworld.Greeter/SayHello";

/// Greets by name. Anything but a message of the service is an invalid argument.
[[nodiscard]] GrpcMethods greeter_methods();

/// The message to send to the greeter, and the expected reply.
[[nodiscard]] std::string hello_request(std::string_view name);
[[nodiscard]] std::string hello_reply(std::string_view name);

}  // namespace taskbench::workloads::net
