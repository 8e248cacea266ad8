// The servers of the workloads, on Asio and Beast. See scripts/compare-peers.
#include <utility>  // Asio needs it and does not include it

#include <array>
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <iostream>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

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

}  // namespace

// asio http|echo THREADS
int main(int, char** arguments) {
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
  std::cin.get();  // until the standard input ends
  context.stop();
}
