#include "workloads/net/grpc_session.hpp"

#include <algorithm>

namespace taskbench::workloads::net {
namespace {

/// Memory for a call itself: its stream and its task.
constexpr std::size_t kCall_bytes = 1'024;
constexpr GrpcFault kServerIsFull{GrpcStatus::resource_exhausted, "the server has no room for it"};

/// The fault that a caller gets for a stream that the peer resets (RFC 9113, 7).
GrpcFault fault_of_reset(std::uint32_t error) {
  switch (error) {
    case 0x7:
      return {GrpcStatus::unavailable, "the server took no more calls"};
    case 0x8:
      return {GrpcStatus::cancelled, "the server gave the call up"};
    case 0xb:
      return {GrpcStatus::resource_exhausted, "the server asks for calm"};
    case 0xc:
      return {GrpcStatus::permission_denied, "the server asks for a safer connection"};
    default:
      return {GrpcStatus::internal, "the server ended the call without a status"};
  }
}

}  // namespace

/// A call as the server sees it.
struct GrpcServerSession::Incoming final : Stream {
  enum class Stage : std::uint8_t { headers, message, called, answered };

  GrpcRequest request;
  GrpcMessage message;
  GrpcReply reply;  // its trailers are to be sent
  Stage stage = Stage::headers;
  bool is_post = false;
  bool is_grpc = false;
  bool has_bad_timeout = false;
  std::size_t held_bytes = 0;
  std::size_t taken_bytes = 0;  // of the server's budget
};

GrpcServerSession::GrpcServerSession(const GrpcLimits& limits, Budget* budget)
    : Http2Session(Role::server, limits.http2), limits_(limits), share_(budget) {}

std::unique_ptr<Http2Session::Stream> GrpcServerSession::make_stream() {
  return std::make_unique<Incoming>();
}

void GrpcServerSession::on_header(Stream& stream, const Header& header) {
  auto& call = static_cast<Incoming&>(stream);
  const auto& [name, value] = header;
  if (call.stage != Incoming::Stage::headers) return;  // trailers of a request are ignored
  if (name == ":path") {
    call.request.path = value;
  } else if (name == ":method") {
    call.is_post = value == "POST";
  } else if (name == "content-type") {
    const std::string_view rest = value.substr(std::min(value.size(), kGrpcContentType.size()));
    call.is_grpc = value.starts_with(kGrpcContentType) &&
                   (rest.empty() || rest.starts_with('+') || rest.starts_with(';'));
  } else if (name == "grpc-timeout") {
    const auto timeout = parse_grpc_timeout(value);
    call.has_bad_timeout = !timeout;
    const auto now = GrpcClock::now();
    if (timeout) {
      call.request.deadline = *timeout < GrpcClock::time_point::max() - now
                                  ? now + *timeout
                                  : GrpcClock::time_point::max();
    }
  } else if (!is_reserved_in_grpc(name)) {
    call.request.metadata.emplace_back(name, value);
  }
}

void GrpcServerSession::on_headers_end(Stream& stream) {
  auto& call = static_cast<Incoming&>(stream);
  if (call.stage != Incoming::Stage::headers) return;
  call.stage = Incoming::Stage::message;
  if (call.header_is_too_large) {
    refuse(call, {GrpcStatus::resource_exhausted, "the headers are too large"});
  } else if (!call.is_post) {
    refuse_http(call, "405");
  } else if (!call.is_grpc) {
    refuse_http(call, "415");
  } else if (call.has_bad_timeout) {
    refuse(call, {GrpcStatus::internal, "grpc-timeout is malformed"});
  } else if (!try_take(call, kCall_bytes + call.header_bytes)) {
    refuse(call, kServerIsFull);
  }
}

void GrpcServerSession::on_data(Stream& stream, std::string_view data) {
  auto& call = static_cast<Incoming&>(stream);
  if (call.stage != Incoming::Stage::message) return;
  const bool was_begun = call.message.is_begun();
  if (const GrpcFault fault = call.message.append(data, limits_.message_bytes)) {
    return refuse(call, fault);
  }
  // Memory is taken as data arrive: merely announcing a large message takes nothing from others.
  if (!try_take(call, data.size())) return refuse(call, kServerIsFull);
  if (was_begun || !call.message.is_begun()) return;
  if (call.message.size() > limits_.held_bytes - held_bytes_) {
    return refuse(call, {GrpcStatus::resource_exhausted, "too much is under way"});
  }
  call.held_bytes = call.message.size();
  held_bytes_ += call.held_bytes;
}

void GrpcServerSession::on_end(Stream& stream) {
  auto& call = static_cast<Incoming&>(stream);
  if (call.stage != Incoming::Stage::message) return;
  if (const GrpcFault fault = call.message.end()) return refuse(call, fault);
  call.stage = Incoming::Stage::called;
  set_awaits_peer(call, false);
  call.request.message = call.message.take();
  calls_.push_back({call.id, std::move(call.request)});
}

bool GrpcServerSession::try_take(Incoming& call, std::size_t bytes) {
  if (!share_.try_take(bytes)) return false;
  call.taken_bytes += bytes;
  return true;
}

void GrpcServerSession::forget(Incoming& call) {
  call.request = GrpcRequest();
  call.message = GrpcMessage();
  share_.give_back(std::exchange(call.taken_bytes, 0));
}

void GrpcServerSession::refuse(Incoming& call, const GrpcFault& fault) {
  forget(call);
  GrpcReply reply;
  reply.status = fault.status;
  reply.text = fault.text;
  respond(call, reply);
}

void GrpcServerSession::refuse_http(Incoming& call, std::string_view status) {
  forget(call);
  call.stage = Incoming::Stage::answered;
  std::vector<Header> headers{{":status", status}};
  if (status == "405") headers.push_back({"allow", "POST"});
  submit_response(call, headers, false);
}

void GrpcServerSession::answer(StreamId id, const GrpcReply& reply) {
  auto* const call = static_cast<Incoming*>(find(id));
  if (call == nullptr || call->stage != Incoming::Stage::called) return;
  if (reply.message.size() > limits_.held_bytes - held_bytes_) {
    return refuse(*call, {GrpcStatus::resource_exhausted, "too much is under way"});
  }
  if (!try_take(*call, reply.message.size())) return refuse(*call, kServerIsFull);
  call->held_bytes += reply.message.size();
  held_bytes_ += reply.message.size();
  respond(*call, reply);
}

void GrpcServerSession::respond(Incoming& call, const GrpcReply& reply) {
  call.stage = Incoming::Stage::answered;
  set_awaits_peer(call, true);
  const std::string status = std::to_string(static_cast<unsigned>(reply.status));
  std::vector<Header> headers{{":status", "200"}, {"content-type", kGrpcContentType}};
  for (const auto& [name, value] : reply.headers) headers.push_back({name, value});
  if (reply.status == GrpcStatus::ok) {
    call.body = grpc_framed(reply.message);
    call.reply.trailers = reply.trailers;
    return submit_response(call, headers, true);
  }
  const std::string text = percent_encoded(reply.text);
  headers.push_back({"grpc-status", status});
  if (!text.empty()) headers.push_back({"grpc-message", text});
  if (reply.status == GrpcStatus::unimplemented) {
    headers.push_back({"grpc-accept-encoding", "identity"});
  }
  for (const auto& [name, value] : reply.trailers) headers.push_back({name, value});
  submit_response(call, headers, false);
}

bool GrpcServerSession::on_body_sent(Stream& stream) {
  std::vector<Header> trailers{{"grpc-status", "0"}};
  for (const auto& [name, value] : static_cast<Incoming&>(stream).reply.trailers) {
    trailers.push_back({name, value});
  }
  submit_trailers(stream, trailers);
  return true;
}

void GrpcServerSession::on_close(Stream& stream, std::uint32_t) {
  const auto& call = static_cast<Incoming&>(stream);
  held_bytes_ -= call.held_bytes;
  share_.give_back(call.taken_bytes);
  if (call.stage != Incoming::Stage::called) return;
  // Calls that are given up before they are taken need not be reported.
  const bool is_known =
      std::erase_if(calls_, [&](const Call& each) { return each.stream == call.id; }) == 0;
  if (is_known) given_up_.push_back(call.id);
}

/// A call as the client sees it.
struct GrpcClientSession::Outgoing final : Stream {
  Tag tag = 0;
  GrpcMessage message;
  GrpcReply reply;
  std::string http_status;
  int blocks = 0;  // of headers, the last of which are trailers; not counting informational ones
  bool has_status = false;
  bool is_silent = false;  // replied to, or cancelled
};

GrpcClientSession::GrpcClientSession(std::string authority, const GrpcLimits& limits)
    : Http2Session(Role::client, limits.http2),
      authority_(std::move(authority)),
      message_bytes_(limits.message_bytes) {}

std::unique_ptr<Http2Session::Stream> GrpcClientSession::make_stream() {
  return std::make_unique<Outgoing>();
}

std::optional<StreamId> GrpcClientSession::call(const GrpcRequest& request, Tag tag) {
  std::string timeout;
  std::vector<Header> headers{
      {":method", "POST"},
      {":scheme", "http"},
      {":path", request.path},
      {":authority", authority_},
      {"te", "trailers"},
      {"content-type", kGrpcContentType},
      {"user-agent", "grpc-taskbench"},
  };
  if (request.deadline) {
    timeout = grpc_timeout_text(*request.deadline - GrpcClock::now());
    headers.push_back({"grpc-timeout", timeout});
  }
  for (const auto& [name, value] : request.metadata) headers.push_back({name, value});
  auto call = std::make_unique<Outgoing>();
  call->tag = tag;
  call->body = grpc_framed(request.message);
  const Stream* const stream = submit_request(std::move(call), headers);
  return stream == nullptr ? std::nullopt : std::optional(stream->id);
}

void GrpcClientSession::cancel(StreamId id) {
  auto* const call = static_cast<Outgoing*>(find(id));
  if (call == nullptr || std::exchange(call->is_silent, true)) return;
  submit_cancel(id);
}

void GrpcClientSession::on_header(Stream& stream, const Header& header) {
  auto& call = static_cast<Outgoing&>(stream);
  const auto& [name, value] = header;
  if (name == ":status") {
    call.http_status = value;
  } else if (name == "grpc-status") {
    call.has_status = true;
    call.reply.status = parse_grpc_status(value);
  } else if (name == "grpc-message") {
    call.reply.text = percent_decoded(value);
  } else if (!is_reserved_in_grpc(name)) {
    (call.blocks > 0 ? call.reply.trailers : call.reply.headers).emplace_back(name, value);
  }
}

void GrpcClientSession::on_headers_end(Stream& stream) {
  auto& call = static_cast<Outgoing&>(stream);
  if (!call.http_status.starts_with('1')) ++call.blocks;
  if (call.header_is_too_large) {
    give_up(call, {GrpcStatus::resource_exhausted, "the headers are too large"});
  }
}

void GrpcClientSession::on_data(Stream& stream, std::string_view data) {
  auto& call = static_cast<Outgoing&>(stream);
  if (call.is_silent || call.http_status != "200") return;
  if (const GrpcFault fault = call.message.append(data, message_bytes_)) give_up(call, fault);
}

void GrpcClientSession::on_end(Stream& stream) {
  auto& call = static_cast<Outgoing&>(stream);
  if (std::exchange(call.is_silent, true)) return;
  GrpcReply& reply = call.reply;
  if (call.blocks == 1) std::swap(reply.headers, reply.trailers);  // the only block is trailers
  if (!call.has_status) {
    reply.status = grpc_status_of_http(call.http_status);
    reply.text = "no status of gRPC, but HTTP's " + call.http_status;
  } else if (reply.status == GrpcStatus::ok) {
    const GrpcFault fault = call.message.end();
    reply.status = fault.status;
    if (fault) {
      reply.text = fault.text;
    } else {
      reply.message = call.message.take();
    }
  }
  replies_.push_back({call.tag, std::move(reply)});
}

bool GrpcClientSession::on_body_sent(Stream&) { return false; }

void GrpcClientSession::on_close(Stream& stream, std::uint32_t error) {
  auto& call = static_cast<Outgoing&>(stream);
  if (call.is_silent) return;
  const GrpcFault fault = fault_of_reset(error);
  replies_.push_back({call.tag, {fault.status, std::string(fault.text), {}, {}, {}}});
}

void GrpcClientSession::give_up(Outgoing& call, const GrpcFault& fault) {
  if (std::exchange(call.is_silent, true)) return;
  replies_.push_back({call.tag, {fault.status, std::string(fault.text), {}, {}, {}}});
  submit_cancel(call.id);
}

}  // namespace taskbench::workloads::net
