// Our gRPC server and client, for peers written by others: grpc_peers_test.py.
//
//   grpc_peer serve
//   grpc_peer call ADDRESS PATH MESSAGE [TIMEOUT_MS [TIMES]]
//
// serve prints where it listens, and ends on SIGTERM once the calls under way have ended. call
// makes TIMES calls at once; a message "@N" is N bytes.
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/runtime.hpp"
#include "runtime/signal/signal.hpp"
#include "runtime/time/sleep.hpp"
#include "workloads/net/greeter.hpp"
#include "workloads/net/grpc_client.hpp"
#include "workloads/net/grpc_server.hpp"

namespace rt = taskbench::rt;
namespace net = taskbench::workloads::net;

namespace {

/// Replies with the message, and with the caller's own headers as headers and trailers.
rt::Task<net::GrpcReply> echo(net::GrpcRequest request) {
  net::GrpcReply reply;
  reply.message = std::move(request.message);
  reply.headers = request.metadata;
  reply.trailers = std::move(request.metadata);
  co_return reply;
}

/// Takes the number of milliseconds in the message.
rt::Task<net::GrpcReply> take_time(net::GrpcRequest request) {
  co_await rt::time::sleep(std::chrono::milliseconds(std::atoi(request.message.c_str())));
  net::GrpcReply reply;
  reply.message = "done";
  co_return reply;
}

rt::Task<net::GrpcReply> fail(net::GrpcRequest request) {
  net::GrpcReply reply;
  reply.status = net::GrpcStatus::permission_denied;
  reply.text = std::move(request.message);
  co_return reply;
}

rt::Task<> wait_for_sigterm(std::uint16_t port) {
  rt::signal::Signal stop(SIGTERM);
  std::printf("listening at 127.0.0.1:%u\n", static_cast<unsigned>(port));
  std::fflush(stdout);
  co_await stop.next();
}

void serve() {
  auto runtime = rt::Runtime::Builder{}.build();
  net::GrpcMethods methods = net::greeter_methods();
  methods.emplace("/test.Peer/Echo", echo);
  methods.emplace("/test.Peer/TakeTime", take_time);
  methods.emplace("/test.Peer/Fail", fail);
  net::GrpcServer server(runtime, std::move(methods));
  runtime.block_on(wait_for_sigterm(server.port()));
}

net::GrpcRequest request_of(std::string_view path, std::string_view message, int timeout_ms) {
  net::GrpcRequest request;
  request.path = path;
  request.message = message;
  if (message.starts_with('@')) {
    request.message = std::string(std::stoul(std::string(message.substr(1))), 'x');
  }
  request.metadata = {{"x-from", "taskbench"}};
  if (timeout_ms > 0) {
    request.deadline = net::GrpcClock::now() + std::chrono::milliseconds(timeout_ms);
  }
  return request;
}

std::string metadata_text(const net::GrpcMetadata& metadata) {
  std::string text;
  for (const auto& [name, value] : metadata) text += " " + name + "=" + value;
  return text;
}

/// Prints how often each outcome occurred.
rt::Task<> call(rt::net::SocketAddress address, net::GrpcRequest request, int times) {
  auto client = co_await net::GrpcClient::connect(address);
  std::vector<rt::JoinHandle<net::GrpcReply>> calls;
  for (int i = 0; i < times; ++i) calls.push_back(rt::spawn(client.call(request)));
  std::map<std::string, int> outcomes;
  for (auto& each : calls) {
    const net::GrpcReply reply = co_await each;
    const bool is_long = reply.message.size() > 100;
    ++outcomes["status " + std::to_string(static_cast<int>(reply.status)) + ", text '" +
               reply.text + "', message " +
               (is_long ? std::to_string(reply.message.size()) + " bytes"
                        : "'" + reply.message + "'") +
               ", headers" + metadata_text(reply.headers) + ", trailers" +
               metadata_text(reply.trailers)];
  }
  co_await client.close();
  for (const auto& [outcome, count] : outcomes) std::printf("%d: %s\n", count, outcome.c_str());
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 1 && arguments[0] == "serve") {
    serve();
  } else if (arguments.size() >= 4 && arguments[0] == "call") {
    const int timeout_ms = arguments.size() > 4 ? std::stoi(arguments[4]) : 0;
    const int times = arguments.size() > 5 ? std::stoi(arguments[5]) : 1;
    auto runtime = rt::Runtime::Builder{}.build();
    runtime.block_on(call(rt::net::SocketAddress::parse(arguments[1]),
                          request_of(arguments[2], arguments[3], timeout_ms), times));
  } else {
    throw std::invalid_argument("usage: grpc_peer serve | call ADDRESS PATH MESSAGE [MS [TIMES]]");
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "grpc_peer: %s\n", error.what());
  return 1;
}
