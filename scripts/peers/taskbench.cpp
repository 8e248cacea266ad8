// The workloads and their servers in a separate process, two that fork with tasks instead, and the
// load for all servers, including those of peers. See scripts/compare-peers.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/runtime.hpp"
#include "scripts/peers/common.hpp"
#include "workloads/base/countdown.hpp"
#include "workloads/net/closed_loop.hpp"
#include "workloads/net/echo_server.hpp"
#include "workloads/net/http_server.hpp"
#include "workloads/net/under_load.hpp"

namespace {

using namespace taskbench;
using namespace taskbench::workloads;
using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

constexpr std::uint64_t kMessage_bytes = 64;

void wait_for_end_of_input() { std::cin.ignore(std::numeric_limits<std::streamsize>::max()); }

rt::Runtime runtime_of(const Words& words) {
  return rt::Runtime::Builder{}
      .scheduler(words.back())
      .workers(static_cast<unsigned>(std::stoul(words.at(1))))
      .build();
}

void print_figures(const Figures& figures) {
  std::string text;
  for (const auto& [name, value] : figures) {
    text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", name, value);
  }
  fmt::print("{{{}}}\n", text);
}

template <class Server, class... More>
void serve(const Words& words, const More&... more) {
  auto runtime = runtime_of(words);
  net::make_room_for_descriptors(10'000);
  Server server(runtime, more...);
  fmt::print("{}\n", server.port());
  std::fflush(stdout);
  wait_for_end_of_input();
}

/// Arguments: PORT CONNECTIONS BUSY SECONDS. If none is busy, the connections only exist until the
/// input ends.
void load(const Words& words) {
  const auto number = [&](std::size_t at) { return std::stoull(words.at(at)); };
  const std::uint64_t connections = number(2);
  const std::uint64_t busy = number(3);
  const std::string message(kMessage_bytes, 'x');
  net::make_room_for_descriptors(connections);
  auto runtime = rt::Runtime::Builder{}.scheduler("current_thread").build();
  net::ClosedLoop clients({.request = message, .response = message}, connections, busy);
  const auto check = [&] {
    if (const auto failure = clients.take_failure()) throw std::runtime_error(*failure);
  };
  net::hear(runtime, [&](SignalSender done) {
    clients.connect(static_cast<std::uint16_t>(number(1)), std::move(done));
  });
  check();
  if (busy == 0) {
    fmt::print("ready\n");
    std::fflush(stdout);
    return wait_for_end_of_input();
  }
  const auto exchange_for = [&](std::chrono::duration<double> time) {
    Figures figures;
    (void)clients.take_answers();
    const Clock::time_point begin = Clock::now();
    while (Clock::now() - begin < time) {
      net::hear(runtime,
                [&](SignalSender done) { clients.exchange(1'000 * busy, std::move(done)); });
      check();
    }
    figures["requests"] = static_cast<double>(clients.take_answers());
    clients.take_figures("requests_per_s", figures);
    return figures;
  };
  print_figures(exchange_for(std::chrono::duration<double>(number(4))));
}

/// As workloads/fib.cpp, with a task and its join handle where that has a fork.
rt::Task<std::uint64_t> spawned_fib(std::uint64_t n) {
  if (n < 2) co_return n;
  rt::JoinHandle<std::uint64_t> one = rt::spawn(spawned_fib(n - 1));
  const std::uint64_t two = co_await spawned_fib(n - 2);
  co_return co_await one + two;
}

/// As workloads/skynet.cpp, likewise.
rt::Task<std::uint64_t> spawned_skynet(std::uint64_t first, std::uint64_t count) {
  constexpr std::uint64_t kForks = 10;
  if (count < 2) co_return count* first;
  std::vector<rt::JoinHandle<std::uint64_t>> tasks;
  tasks.reserve(kForks - 1);
  std::uint64_t begin = 0;
  for (std::uint64_t i = 1; i < kForks; ++i) {
    const std::uint64_t end = count * i / kForks;
    tasks.push_back(rt::spawn(spawned_skynet(first + begin, end - begin)));
    begin = end;
  }
  std::uint64_t sum = co_await spawned_skynet(first + begin, count - begin);
  for (rt::JoinHandle<std::uint64_t>& task : tasks) sum += co_await task;
  co_return sum;
}

/// Its first task runs on a worker, as all others: block_on would run it on this thread.
class SpawnedForks final : public Instance {
 public:
  SpawnedForks(rt::Runtime& runtime, bool is_fib, std::uint64_t size)
      : runtime_(runtime), is_fib_(is_fib), size_(size) {}

  void run_iteration() override {
    result_ =
        runtime_.block_on(runtime_.spawn(is_fib_ ? spawned_fib(size_) : spawned_skynet(0, size_)));
  }

  std::optional<std::string> verify() override {
    return compare_counts("sum", is_fib_ ? peers::fibonacci(size_) : size_ * (size_ - 1) / 2,
                          result_);
  }

 private:
  rt::Runtime& runtime_;
  const bool is_fib_;
  const std::uint64_t size_;
  std::uint64_t result_ = 0;
};

std::unique_ptr<Instance> instance_of(rt::Runtime& runtime, const Words& words) {
  const bool is_fib = words[0] == "spawned_fib";
  if (is_fib || words[0] == "spawned_skynet") {
    return std::make_unique<SpawnedForks>(runtime, is_fib, std::stoull(words.at(3)));
  }
  const Workload& workload = *find(words[0]);
  ParameterValues values;
  for (std::size_t i = 0; i < workload.parameters.size(); ++i) {
    values.emplace(workload.parameters[i].name, std::stoul(words.at(3 + i)));
  }
  return workload.make(runtime, values);
}

/// Arguments: WORKLOAD THREADS SECONDS, and the workload's parameters.
void measure(const Words& words) {
  auto runtime = runtime_of(words);
  const auto instance = instance_of(runtime, words);
  instance->run_iteration();
  (void)instance->take_figures();
  const peers::Times times =
      peers::times_of(std::stod(words.at(2)), [&] { instance->run_iteration(); });
  Figures figures = instance->take_figures();
  figures["real_ns"] = times.real_ns;
  figures["cpu_ns"] = times.cpu_ns;
  if (const auto wrong = instance->verify()) throw std::runtime_error(*wrong);
  print_figures(figures);
}

}  // namespace

// taskbench http|echo THREADS SCHEDULER
// taskbench WORKLOAD THREADS SECONDS PARAMETER... SCHEDULER
// taskbench spawned_fib|spawned_skynet THREADS SECONDS N SCHEDULER
// taskbench load PORT CONNECTIONS BUSY SECONDS
int main(int count, char** arguments) {
  try {
    const Words words(arguments + 1, arguments + count);
    if (words.at(0) == "http") {
      serve<net::HttpServer>(words);
    } else if (words.at(0) == "echo") {
      serve<net::EchoServer>(words, kMessage_bytes);
    } else if (words[0] == "load") {
      load(words);
    } else {
      measure(words);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
