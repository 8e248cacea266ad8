#include "workloads/net/greeter.hpp"

#include "workloads/net/greeter.pb.h"

namespace taskbench::workloads::net {
namespace {

rt::Task<GrpcReply> say_hello(GrpcRequest request) {
  GrpcReply reply;
  helloworld::HelloRequest asked;
  if (asked.ParseFromString(request.message)) {
    reply.message = hello_reply(asked.name());
  } else {
    reply.status = GrpcStatus::invalid_argument;
    reply.text = "this is no helloworld.HelloRequest";
  }
  co_return reply;
}

}  // namespace

GrpcMethods greeter_methods() { return {{std::string(kSayHello), say_hello}}; }

std::string hello_request(std::string_view name) {
  helloworld::HelloRequest request;
  request.set_name(name.data(), name.size());
  return request.SerializeAsString();
}

std::string hello_reply(std::string_view name) {
  helloworld::HelloReply reply;
  reply.set_message(std::string("Hello ").append(name));
  return reply.SerializeAsString();
}

}  // namespace taskbench::workloads::net
