// The servers of the workloads in a separate process, and the load for them and for their peers in
// other languages. See scripts/compare-peers.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/runtime.hpp"
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

double cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

/// Arguments: WORKLOAD THREADS SECONDS, and the workload's parameters.
void measure(const Words& words) {
  const Workload& workload = *find(words[0]);
  ParameterValues values;
  for (std::size_t i = 0; i < workload.parameters.size(); ++i) {
    values.emplace(workload.parameters[i].name, std::stoul(words.at(3 + i)));
  }
  auto runtime = runtime_of(words);
  const auto instance = workload.make(runtime, values);
  instance->run_iteration();
  (void)instance->take_figures();
  const double cpu = cpu_ns();
  const Clock::time_point begin = Clock::now();
  double count = 0;
  for (; Clock::now() - begin < std::chrono::seconds(std::stoul(words.at(2))); ++count) {
    instance->run_iteration();
  }
  const std::chrono::duration<double, std::nano> real = Clock::now() - begin;
  Figures figures = instance->take_figures();
  figures["real_ns"] = real.count() / count;
  figures["cpu_ns"] = (cpu_ns() - cpu) / count;
  if (const auto wrong = instance->verify()) throw std::runtime_error(*wrong);
  print_figures(figures);
}

}  // namespace

// taskbench http|echo THREADS SCHEDULER
// taskbench WORKLOAD THREADS SECONDS PARAMETER... SCHEDULER
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
