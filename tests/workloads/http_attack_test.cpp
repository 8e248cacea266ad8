// The HTTP server under attack: clients that send garbage, too much, too slowly or not to the end,
// and leave at any moment. Whatever they do, the server continues, answers the well-behaved ones,
// and keeps nothing of the others.
//
// TASKBENCH_ATTACKS  the number of attacking clients; 2000 by default
// TASKBENCH_SEED     where the random choices start
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "tests/workloads/descriptors.hpp"
#include "tests/workloads/http_clients.hpp"
#include "workloads/net/http_server.hpp"

namespace taskbench::workloads::net {
namespace {

/// The number of attackers that stay connected at the same time.
constexpr std::size_t kAtOnce = 40;

int attacks() {
  const char* const given = std::getenv("TASKBENCH_ATTACKS");
  return given == nullptr ? 2'000 : std::atoi(given);
}

std::string many_times(std::string_view text, std::size_t bytes) {
  std::string all;
  while (all.size() < bytes) all += text;
  return all;
}

/// Whether the text is empty, or begins like a response.
bool is_answer(const std::string& text) { return text.empty() || text.starts_with("HTTP/1.1 "); }

class Attack {
 public:
  Attack(std::uint16_t port, BadRequests& requests) : port_(port), requests_(requests) {}

  void next() {
    auto client = std::make_unique<Client>(port_);
    switch (requests_.below(10)) {
      case 0:
        client->send("GET / HTTP/1.1\r\n" + many_times("X-Name: a value\r\n", 50'000));
        EXPECT_TRUE(client->receive_all().starts_with("HTTP/1.1 431 "));
        break;
      case 1:
        client->send("GET / HTTP/1.1\r\nHost: " + std::string(50'000, 'a'));
        EXPECT_TRUE(client->receive_all().starts_with("HTTP/1.1 431 "));
        break;
      case 2:
        client->send(many_times(kGreetMe, 4'000) + "garbage\r\n\r\n" + many_times(kGreetMe, 4'000));
        EXPECT_NE(client->receive_all().find("HTTP/1.1 400 "), std::string::npos);
        break;
      case 3:
        client->send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" +
                     many_times("5\r\nabcde\r\n", 2'000) + "not a size\r\n");
        EXPECT_TRUE(client->receive_all().starts_with("HTTP/1.1 400 "));
        break;
      default:
        send_in_pieces(*client, requests_.next());
        break;
    }
    leave(std::move(client));
  }

  /// Disconnects the clients that are still there.
  void end() { staying_.clear(); }

 private:
  void send_in_pieces(const Client& client, std::string_view input) {
    while (!input.empty()) {
      const std::size_t piece = std::min(input.size(), 1 + requests_.below(60));
      if (!client.send(input.substr(0, piece))) return;
      input.remove_prefix(piece);
    }
  }

  void leave(std::unique_ptr<Client> client) {
    switch (requests_.below(4)) {
      case 0:
        client->reset_on_close();
        break;
      case 1:
        client->end_writing();
        EXPECT_PRED1(is_answer, client->receive_all());
        break;
      case 2:  // sends nothing more, and stays
        staying_.push_back(std::move(client));
        if (staying_.size() > kAtOnce) staying_.pop_front();
        break;
      default:
        break;
    }
  }

  const std::uint16_t port_;
  BadRequests& requests_;
  std::deque<std::unique_ptr<Client>> staying_;
};

bool is_greeted(std::uint16_t port) {
  const Client client(port);
  client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  return client.receive_all().ends_with("Hello, world!");
}

/// Waits until the server has noticed that its clients are gone. UBSan briefly opens a pipe, in any
/// thread, so one look is not enough.
bool descriptors_fall_to(std::ptrdiff_t expected) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (open_descriptors() > expected) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

#if defined(TASKBENCH_ASAN) || defined(TASKBENCH_TSAN)
constexpr bool kFreedIsKept = true;
#else
constexpr bool kFreedIsKept = false;
#endif

class HttpAttack : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(pools, HttpAttack, testing::Values("work_stealing", "global_queue", "go"));

TEST_P(HttpAttack, leaves_nothing_behind_and_good_clients_are_served) {
  rt::Runtime runtime = rt::Runtime::Builder{}.scheduler(GetParam()).workers(2).build();
  HttpServer server(runtime, {.server = {.patience = std::chrono::milliseconds(50)}});
  BadRequests requests;
  SCOPED_TRACE(requests.seed());
  Attack attack(server.port(), requests);
  const auto idle = open_descriptors();
  std::size_t warm_bytes = 0;
  for (int i = 0; i < attacks() / 3; ++i) {
    attack.next();
    if (i % 50 != 0) continue;
    ASSERT_TRUE(is_greeted(server.port())) << i;
    if (i == 200) warm_bytes = resident_bytes();
  }
  {
    const Client slow(server.port());
    slow.send("GET /");
    EXPECT_EQ(slow.receive_all(), "") << "it is cut off";
  }
  EXPECT_GT(server.cut_off(), 0U);
  attack.end();
  EXPECT_TRUE(descriptors_fall_to(idle));
  EXPECT_TRUE(is_greeted(server.port()));
  if (!kFreedIsKept && warm_bytes != 0) {
    EXPECT_LT(resident_bytes(), warm_bytes + 8'000'000);
  }
}

}  // namespace
}  // namespace taskbench::workloads::net
