#include "workloads/net/grpc.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace taskbench::workloads::net {
namespace {

using std::chrono::nanoseconds;

struct TimeoutUnit {
  char letter;
  std::int64_t ns;
};
constexpr std::array kTimeoutUnits{
    TimeoutUnit{'n', 1},
    TimeoutUnit{'u', 1'000},
    TimeoutUnit{'m', 1'000'000},
    TimeoutUnit{'S', 1'000'000'000},
    TimeoutUnit{'M', 60'000'000'000},
    TimeoutUnit{'H', 3'600'000'000'000},
};
constexpr std::size_t kTimeoutDigits = 8;
constexpr std::int64_t kLongestTimeout = 99'999'999;

template <class Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string grpc_framed(std::string_view message) {
  const auto size = static_cast<std::uint32_t>(message.size());
  std::string framed{'\0'};
  framed.reserve(5 + message.size());
  for (const int shift : {24, 16, 8, 0}) framed += static_cast<char>(size >> shift & 0xff);
  return framed.append(message);
}

GrpcFault GrpcMessage::append(std::string_view piece, std::size_t most_bytes) {
  if (!is_begun()) {
    const std::string_view more = piece.substr(0, kPrefix_bytes - prefix_.size());
    prefix_ += more;
    piece.remove_prefix(more.size());
    if (!is_begun()) return {};
    if (prefix_[0] == 1) return {GrpcStatus::unimplemented, "messages may not be compressed"};
    if (prefix_[0] != 0) return {GrpcStatus::internal, "a message has an unknown flag"};
    for (const char byte : prefix_.substr(1)) {
      size_ = size_ << 8 | static_cast<unsigned char>(byte);
    }
    if (size_ > most_bytes) return {GrpcStatus::resource_exhausted, "the message is too large"};
  }
  if (piece.size() > size_ - bytes_.size()) {
    return {GrpcStatus::unimplemented, "a unary call has one message"};
  }
  bytes_ += piece;
  return {};
}

GrpcFault GrpcMessage::end() const {
  if (prefix_.empty()) return {GrpcStatus::unimplemented, "a unary call has one message"};
  if (!is_begun() || bytes_.size() < size_) return {GrpcStatus::internal, "a message was cut"};
  return {};
}

std::optional<nanoseconds> parse_grpc_timeout(std::string_view text) {
  if (text.size() < 2 || text.size() > kTimeoutDigits + 1 || text[0] == '-') return std::nullopt;
  const auto unit = std::ranges::find(kTimeoutUnits, text.back(), &TimeoutUnit::letter);
  const auto count = number_in<std::int64_t>(text.substr(0, text.size() - 1));
  if (!count || unit == kTimeoutUnits.end()) return std::nullopt;
  const std::int64_t most = nanoseconds::max().count() / unit->ns;
  return nanoseconds(std::min(*count, most) * unit->ns);
}

std::string grpc_timeout_text(nanoseconds timeout) {
  const std::int64_t ns = std::max<std::int64_t>(timeout.count(), 0);
  const auto rounded_up = [ns](const TimeoutUnit& unit) {
    return ns / unit.ns + (ns % unit.ns == 0 ? 0 : 1);
  };
  const auto unit = std::ranges::find_if(
      kTimeoutUnits, [&](const TimeoutUnit& each) { return rounded_up(each) <= kLongestTimeout; });
  return std::to_string(rounded_up(*unit)) + unit->letter;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (byte >= 0x20 && byte <= 0x7e && each != '%') {
      encoded += each;
    } else {
      encoded.append({'%', kDigits[byte >> 4], kDigits[byte & 15]});
    }
  }
  return encoded;
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view digits = text.substr(i).substr(0, 3).substr(1);
    const auto byte =
        text[i] == '%' && digits.size() == 2 ? number_in<unsigned char>(digits, 16) : std::nullopt;
    decoded += byte ? static_cast<char>(*byte) : text[i];
    if (byte) i += 2;
  }
  return decoded;
}

GrpcStatus parse_grpc_status(std::string_view text) {
  const auto code = number_in<std::uint8_t>(text);
  return code && *code <= 16 ? GrpcStatus{*code} : GrpcStatus::unknown;
}

GrpcStatus grpc_status_of_http(std::string_view status) {
  if (status == "400") return GrpcStatus::internal;
  if (status == "401") return GrpcStatus::unauthenticated;
  if (status == "403") return GrpcStatus::permission_denied;
  if (status == "404") return GrpcStatus::unimplemented;
  if (status == "429" || status == "502" || status == "503" || status == "504") {
    return GrpcStatus::unavailable;
  }
  return GrpcStatus::unknown;
}

bool is_reserved_in_grpc(std::string_view header) {
  return header.starts_with(':') || header.starts_with("grpc-") || header == "content-type" ||
         header == "te" || header == "user-agent" || header == "accept-encoding";
}

}  // namespace taskbench::workloads::net
