// The workloads that spawn, for libraries whose tasks are callbacks. A callback cannot wait in the
// middle: what a task does after a message or a yield is a callback of its own. See
// scripts/compare-peers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <semaphore>
#include <string>
#include <string_view>
#include <vector>

#include "scripts/peers/common.hpp"

namespace peers {

/// `Pool` is constructed with a number of threads. Its functions take a callback:
///   enter  is called by the thread that measures, which is none of the pool's
///   spawn  is called by a callback
///   yield  likewise, as the last thing that it does; others that are queued come first
template <class Pool>
class Spawning {
 public:
  using Begin = void (Spawning::*)();

  Spawning(Begin begin, unsigned threads, std::uint64_t tasks, std::uint64_t yields)
      : begin_(begin), tasks_(tasks), yields_(yields), pool_(threads) {}

  /// nullptr if none has this name.
  static Begin find(std::string_view workload) {
    if (workload == "chained_spawn") return &Spawning::chained_spawn;
    if (workload == "ping_pong") return &Spawning::ping_pong;
    if (workload == "spawn_many") return &Spawning::spawn_many;
    if (workload == "spawn_local") return &Spawning::spawn_local;
    if (workload == "yield_many") return &Spawning::yield_many;
    return nullptr;
  }

  void iterate() {
    // relaxed: the pool hands it to its threads with the first callback.
    left_.store(tasks_, std::memory_order_relaxed);
    (this->*begin_)();
    done_.acquire();
  }

 private:
  static constexpr std::size_t kFalseSharingBytes = 128;

  /// Of a message's sender and receiver, the second to come goes on with what the receiver has to
  /// do.
  struct Exchange {
    std::atomic_flag question;
    std::atomic_flag answer;
  };
  static bool is_second(std::atomic_flag& message) {
    // acq_rel: the second to come sees what the first has done before.
    return message.test_and_set(std::memory_order_acq_rel);
  }

  void count() {
    // acq_rel: the last one to count has seen what the others did, and passes it on.
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) done_.release();
  }

  void chained_spawn() {
    pool_.enter([this] { link(tasks_); });
  }
  void link(std::uint64_t left) {
    if (left == 1) return done_.release();
    pool_.spawn([this, left] { link(left - 1); });
  }

  void ping_pong() {
    pool_.enter([this] {
      for (std::uint64_t i = 0; i < tasks_; ++i) pool_.spawn([this] { ping(); });
    });
  }
  void ping() {
    auto* const exchange = new Exchange;
    pool_.spawn([this, exchange] {
      if (is_second(exchange->question)) pong(exchange);  // it is there already
    });
    if (is_second(exchange->question)) pool_.spawn([this, exchange] { pong(exchange); });
    if (is_second(exchange->answer)) end_ping(exchange);  // it is there already
  }
  void pong(Exchange* exchange) {
    if (is_second(exchange->answer)) pool_.spawn([this, exchange] { end_ping(exchange); });
  }
  void end_ping(Exchange* exchange) {
    delete exchange;  // its answer was the last that anybody used of it
    count();
  }

  void spawn_many() {
    for (std::uint64_t i = 0; i < tasks_; ++i) pool_.enter([this] { count(); });
  }

  void spawn_local() {
    pool_.enter([this] {
      for (std::uint64_t i = 0; i < tasks_; ++i) pool_.spawn([this] { count(); });
    });
  }

  void yield_many() {
    for (std::uint64_t i = 0; i < tasks_; ++i) pool_.enter([this] { yield(yields_); });
  }
  void yield(std::uint64_t left) {
    if (left == 0) return count();
    pool_.yield([this, left] { yield(left - 1); });
  }

  const Begin begin_;
  const std::uint64_t tasks_;
  const std::uint64_t yields_;
  std::binary_semaphore done_{0};
  alignas(kFalseSharingBytes) std::atomic<std::uint64_t> left_{0};
  alignas(kFalseSharingBytes) Pool pool_;
};

/// `words` are WORKLOAD THREADS SECONDS TASKS [YIELDS]. Returns false if the workload is none of
/// these.
template <class Pool>
bool measure_spawning(const std::vector<std::string>& words) {
  const auto begin = Spawning<Pool>::find(words.at(0));
  if (begin == nullptr) return false;
  Spawning<Pool> workload(begin, static_cast<unsigned>(std::stoul(words.at(1))),
                          std::stoull(words.at(3)), words.size() > 4 ? std::stoull(words[4]) : 0);
  measure(std::stod(words.at(2)), [&] { workload.iterate(); });
  return true;
}

}  // namespace peers
