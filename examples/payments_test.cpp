// Tests payments.hpp, as it is, with 10,000 seeds: payments_test [SEEDS]. Segments are lost,
// connections reset and half-open, and the server crashes once, when the seed says so. Built with
// PLANTED_BUG the server books each try, and the test finds it.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <vector>

#include <taskbench/runtime/testing/seeds.hpp>

#include "payments.hpp"

namespace testing = taskbench::rt::testing;
using namespace payments;

namespace {

constexpr int kClients = 3;
constexpr int kPayments = 3;
constexpr int kAmount = 10;

rt::Task<> pay_some(net::SocketAddress server, int client) {
  for (int i = 0; i < kPayments; ++i) {
    const auto number = static_cast<std::uint64_t>(client * kPayments + i);
    co_await pay(server, {.number = number, .amount = kAmount});
  }
}

rt::Task<> crash_and_come_back(testing::Runtime& test, AccountRef account) {
  const testing::Host server = test.host("server");
  co_await rt::time::sleep(std::chrono::milliseconds(test.random(2'000)));
  server.crash();
  co_await rt::time::sleep(2s);
  server.restart();
  server.spawn(serve(server.address(80), account)).detach();
}

rt::Task<> everything_is_booked_once(testing::Runtime& test) {
  test.set_link({.loss = 0.05, .resets = 0.02, .half_opens = 0.02});
  const auto account = std::make_shared<Account>();
  const testing::Host server = test.host("server");
  server.spawn(serve(server.address(80), account)).detach();
  if (test.chance(0.5)) rt::spawn(crash_and_come_back(test, account)).detach();
  std::vector<rt::JoinHandle<void>> clients;
  for (int i = 0; i < kClients; ++i) {
    const testing::Host host = test.host("client " + std::to_string(i));
    clients.push_back(host.spawn(pay_some(server.address(80), i)));
  }
  for (auto& client : clients) co_await client;
  testing::require(
      account->balance == kClients * kPayments * kAmount,
      "each payment is booked once: the balance is " + std::to_string(account->balance));
}

}  // namespace

int main(int argc, char** argv) try {
  const int seeds = argc > 1 ? std::atoi(argv[1]) : 10'000;
  if (seeds <= 0) {
    std::fprintf(stderr, "payments_test: SEEDS is a whole number, 1 or more\n");
    return 1;
  }
  testing::for_each_seed(static_cast<std::uint64_t>(seeds), everything_is_booked_once);
  std::printf("%d seeds passed\n", seeds);
} catch (const testing::SeedFailed&) {
  return 1;  // it is printed already
} catch (const std::exception& error) {
  std::fprintf(stderr, "payments_test: %s\n", error.what());
  return 1;
}
