// Tasks send numbers into one bounded channel, from which as many other tasks take them: the cost
// of a message when many threads send and many receive.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/runtime.hpp"
#include "runtime/sync/mpmc.hpp"
#include "workloads/base/countdown.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

namespace mpmc = rt::sync::mpmc;

struct Received {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
};

/// Returns the number of refused messages.
rt::Task<std::uint64_t> send_numbers(mpmc::Sender<std::uint64_t> sender, std::uint64_t begin,
                                     std::uint64_t end) {
  std::uint64_t refused = 0;
  for (std::uint64_t number = begin; number < end; ++number) {
    const bool sent = co_await sender.send(number);
    if (!sent) ++refused;
  }
  co_return refused;
}

rt::Task<Received> receive_all(mpmc::Receiver<std::uint64_t> receiver) {
  Received received;
  for (;;) {
    const std::optional<std::uint64_t> number = co_await receiver.recv();
    if (!number) break;
    ++received.count;
    received.sum += *number;
  }
  co_return received;
}

class Channel final : public Instance {
 public:
  Channel(rt::Runtime& runtime, const ParameterValues& values)
      : runtime_(runtime),
        numbers_(values.at("numbers")),
        senders_(values.at("senders")),
        receivers_(values.at("receivers")),
        capacity_(values.at("capacity")) {}

  void run_iteration() override {
    runtime_.block_on(drive());
    ++iterations_;
  }

  std::optional<std::string> verify() override {
    const std::uint64_t iterations = std::exchange(iterations_, 0);
    const Received received = std::exchange(received_, {});
    if (auto wrong = compare_counts("numbers that were refused", 0, std::exchange(refused_, 0))) {
      return wrong;
    }
    if (auto wrong = compare_counts("numbers", iterations * numbers_, received.count)) return wrong;
    return compare_counts("as their sum", iterations * (numbers_ * (numbers_ - 1) / 2),
                          received.sum);
  }

 private:
  rt::Task<> drive() {
    std::vector<rt::JoinHandle<Received>> receivers;
    std::vector<rt::JoinHandle<std::uint64_t>> senders;
    {
      const auto ends = mpmc::channel<std::uint64_t>(capacity_);
      for (std::uint64_t i = 0; i < receivers_; ++i) {
        receivers.push_back(rt::spawn(receive_all(ends.second)));
      }
      for (std::uint64_t i = 0; i < senders_; ++i) {
        senders.push_back(rt::spawn(
            send_numbers(ends.first, numbers_ * i / senders_, numbers_ * (i + 1) / senders_)));
      }
    }
    for (auto& each : senders) refused_ += co_await each;
    for (auto& each : receivers) {
      const Received received = co_await each;
      received_.count += received.count;
      received_.sum += received.sum;
    }
  }

  rt::Runtime& runtime_;
  const std::uint64_t numbers_;
  const std::uint64_t senders_;
  const std::uint64_t receivers_;
  const std::uint64_t capacity_;
  std::uint64_t iterations_ = 0;
  std::uint64_t refused_ = 0;
  Received received_;
};

}  // namespace

const Workload& channel() {
  static constexpr std::array kParameters{
      Parameter{"numbers", 100'000, 1, 1'000'000'000, "numbers that are sent, each once"},
      Parameter{"senders", 4, 1, 10'000, "tasks that send them"},
      Parameter{"receivers", 4, 1, 10'000, "tasks that receive them"},
      Parameter{"capacity", 1'024, 1, 1'000'000, "numbers that wait in the channel, at most"},
  };
  static const Workload kWorkload{
      .name = "channel",
      .summary = "tasks send numbers through one bounded channel to other tasks",
      .operation = "message",
      .parameters = kParameters,
      .operations = [](const ParameterValues& values) { return values.at("numbers"); },
      .make = make<Channel>,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
