// A client that pays into an account on a server, and tries again until it has an answer. A try
// whose answer was lost may have been booked, so each payment has a number, and the server keeps
// the numbers of those that it has booked.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <taskbench/runtime/net/tcp.hpp>
#include <taskbench/runtime/runtime.hpp>
#include <taskbench/runtime/time/timeout.hpp>

namespace payments {

namespace rt = taskbench::rt;
namespace net = rt::net;
using namespace std::chrono_literals;

struct Payment {
  std::uint64_t number;
  std::int64_t amount;
};

/// What the server has on its disk.
struct Account {
  std::int64_t balance = 0;
  std::set<std::uint64_t> booked;

  void book(const Payment& payment) {
    const bool is_new = booked.insert(payment.number).second;
#if defined(PLANTED_BUG)
    static_cast<void>(is_new);  // each try is booked
    balance += payment.amount;
#else
    if (is_new) balance += payment.amount;
#endif
  }
};
using AccountRef = std::shared_ptr<Account>;

inline rt::Task<> serve_client(net::TcpStream stream, AccountRef account) {
  try {
    Payment payment{};
    co_await stream.read_exact({&payment, sizeof(payment)});
    account->book(payment);
    co_await stream.write_all(&account->balance, sizeof(account->balance));
  } catch (const std::system_error&) {
    // The client is gone, and will try again.
  }
}

inline rt::Task<> serve(net::SocketAddress address, AccountRef account) {
  auto listener = net::TcpListener::bind(address);
  for (;;) {
    net::TcpStream stream = co_await listener.accept();
    rt::spawn(serve_client(std::move(stream), account)).detach();
  }
}

inline rt::Task<std::int64_t> try_to_pay(net::SocketAddress server, Payment payment) {
  net::TcpStream stream = co_await net::TcpStream::connect(server);
  co_await stream.write_all(&payment, sizeof(payment));
  std::int64_t balance = 0;
  co_await stream.read_exact({&balance, sizeof(balance)});
  co_return balance;
}

/// Pays, however long it takes; returns the balance.
inline rt::Task<std::int64_t> pay(net::SocketAddress server, Payment payment) {
  for (std::chrono::milliseconds pause = 50ms;; pause *= 2) {
    std::optional<std::int64_t> balance;
    try {
      balance = co_await rt::time::timeout(1s, try_to_pay(server, payment));
    } catch (const std::system_error&) {
      // Refused or reset: tried again, as if there were no answer.
    }
    if (balance) co_return *balance;
    co_await rt::time::sleep(pause);
  }
}

}  // namespace payments
