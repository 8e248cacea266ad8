// The servers of the workloads, on Asio and Beast, tcp_ping_pong, and the workloads that spawn. See
// scripts/compare-peers.
#include <utility>  // Asio needs it and does not include it

#include <array>
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cstdint>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "scripts/peers/common.hpp"
#include "scripts/peers/spawning.hpp"

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  explicit HttpSession(tcp::socket socket) : stream_(std::move(socket)) {}

  void start() {
    request_ = {};
    http::async_read(stream_, buffer_, request_,
                     [self = shared_from_this()](error_code error, std::size_t) {
                       if (!error) self->answer();
                     });
  }

 private:
  void answer() {
    response_ = {http::status::ok, request_.version()};
    response_.set(http::field::content_type, "text/plain");
    response_.keep_alive(request_.keep_alive());
    response_.body() = "Hello, world!";
    response_.prepare_payload();
    http::async_write(stream_, response_,
                      [self = shared_from_this()](error_code error, std::size_t) {
                        if (!error && self->response_.keep_alive()) self->start();
                      });
  }

  tcp::socket stream_;
  beast::flat_buffer buffer_;
  http::request<http::empty_body> request_;
  http::response<http::string_body> response_;
};

class EchoSession : public std::enable_shared_from_this<EchoSession> {
 public:
  explicit EchoSession(tcp::socket socket) : stream_(std::move(socket)) {}

  void start() {
    stream_.async_read_some(asio::buffer(buffer_),
                            [self = shared_from_this()](error_code error, std::size_t size) {
                              if (!error) self->answer(size);
                            });
  }

 private:
  void answer(std::size_t size) {
    asio::async_write(stream_, asio::buffer(buffer_, size),
                      [self = shared_from_this()](error_code error, std::size_t) {
                        if (!error) self->start();
                      });
  }

  tcp::socket stream_;
  std::array<char, 4'096> buffer_;
};

template <class Session>
void accept(tcp::acceptor& acceptor) {
  acceptor.async_accept([&](error_code error, tcp::socket socket) {
    if (!error) {
      socket.set_option(tcp::no_delay(true));
      std::make_shared<Session>(std::move(socket))->start();
    }
    accept<Session>(acceptor);
  });
}

/// As workloads/tcp_ping_pong.cpp.
class Pinger {
 public:
  Pinger(asio::io_context& context, const tcp::endpoint& server) : stream_(context) {
    stream_.connect(server);
    stream_.set_option(tcp::no_delay(true));
  }

  /// Sends the messages from `next` to `end`, one after the other.
  void ping(std::uint64_t next, std::uint64_t end) {
    if (next == end) return;
    message_ = {};
    message_.front() = next;
    message_.back() = ~next;
    asio::async_write(stream_, asio::buffer(message_), [=, this](error_code error, std::size_t) {
      if (error) throw std::runtime_error(error.message());
      message_ = {};
      asio::async_read(stream_, asio::buffer(message_), [=, this](error_code failed, std::size_t) {
        if (failed || message_.front() != next || message_.back() != ~next) {
          throw std::runtime_error("a wrong answer");
        }
        ping(next + 1, end);
      });
    });
  }

 private:
  tcp::socket stream_;
  std::array<std::uint64_t, 8> message_{};
};

class Pool {
 public:
  explicit Pool(unsigned threads) : pool_(threads) {}

  template <class Callback>
  void enter(Callback callback) {
    asio::post(pool_, std::move(callback));
  }
  template <class Callback>
  void spawn(Callback callback) {
    asio::post(pool_, std::move(callback));
  }
  /// What is deferred waits for the end of its caller, and then needs no lock of its own.
  template <class Callback>
  void yield(Callback callback) {
    asio::defer(pool_, std::move(callback));
  }

 private:
  asio::thread_pool pool_;
};

/// Uses one thread for the clients, and one for the server.
void tcp_ping_pong(double seconds, std::uint64_t connections, std::uint64_t round_trips) {
  asio::io_context serving(1);
  tcp::acceptor acceptor(serving, {asio::ip::address_v4::loopback(), 0});
  accept<EchoSession>(acceptor);
  const std::jthread server([&] { serving.run(); });

  asio::io_context asking(1);
  std::vector<std::unique_ptr<Pinger>> clients;
  for (std::uint64_t i = 0; i < connections; ++i) {
    clients.push_back(std::make_unique<Pinger>(asking, acceptor.local_endpoint()));
  }
  peers::measure(seconds, [&] {
    for (std::uint64_t i = 0; i < connections; ++i) {
      clients[i]->ping(round_trips * i / connections, round_trips * (i + 1) / connections);
    }
    asking.restart();
    asking.run();
  });
  serving.stop();
}

}  // namespace

// asio http|echo THREADS
// asio tcp_ping_pong 1 SECONDS CONNECTIONS ROUND_TRIPS
// asio chained_spawn|ping_pong|spawn_many|spawn_local|yield_many THREADS SECONDS TASKS [YIELDS]
int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (peers::measure_spawning<Pool>(words)) return 0;
  if (arguments[1] == std::string_view("tcp_ping_pong")) {
    tcp_ping_pong(std::stod(arguments[3]), std::stoull(arguments[4]), std::stoull(arguments[5]));
    return 0;
  }
  const int threads = std::stoi(arguments[2]);
  asio::io_context context(threads);
  tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
  std::cout << acceptor.local_endpoint().port() << std::endl;
  if (arguments[1] == std::string_view("http")) {
    accept<HttpSession>(acceptor);
  } else {
    accept<EchoSession>(acceptor);
  }
  std::vector<std::jthread> pool;
  for (int i = 0; i < threads; ++i) pool.emplace_back([&] { context.run(); });
  std::cin.get();  // until end of input
  context.stop();
}
