// Every workload on every scheduler, with several worker counts, runs and verifies itself. What
// must make verification fail is in countdown_test.cpp and measure_test.cpp.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "runtime/runtime.hpp"
#include "workloads/base/workload.hpp"

namespace taskbench::workloads {
namespace {

struct Pool {
  std::string_view scheduler;
  unsigned workers;
  const char* name;
};

// One pool of each scheduler, and the default one with many workers, too. A release build, which is
// fast enough, adds other worker counts, and repeats everything twice as often.
constexpr Pool kPools[] = {
    {"work_stealing", 2, "work_stealing_2"},
    {"current_thread", 1, "current_thread"},
    {"in_turn", 3, "in_turn_3"},
    {"global_queue", 2, "global_queue_2"},
    {"sharded", 4, "sharded_4"},
    {"channel", 1, "channel"},
    {"tokio01", 2, "tokio01_2"},
    {"go", 2, "go_2"},
    {"work_stealing", 8, "work_stealing_8"},
#if defined(NDEBUG)
    {"work_stealing", 1, "work_stealing_1"},
    {"global_queue", 8, "global_queue_8"},
    {"tokio01", 4, "tokio01_4"},
    {"go", 8, "go_8"},
#endif
};

class EveryWorkload : public testing::TestWithParam<std::tuple<std::string, Pool>> {
 protected:
  const Workload& workload() const { return *find(std::get<0>(GetParam())); }

  static rt::Runtime build_runtime() {
    const Pool& pool = std::get<1>(GetParam());
    return rt::Runtime::Builder{}.scheduler(pool.scheduler).workers(pool.workers).build();
  }

  /// `wanted`, or a twentieth of it if tasks wait for the clock, or for the system to let others
  /// run, or do much at each step; a hundredth if each wake waits for the system. Under a
  /// sanitizer, a fifth of that.
  int iterations(int wanted) const {
#if !defined(NDEBUG)
    wanted = (wanted + 1) / 2;
#endif
#if defined(TASKBENCH_ASAN)
    wanted = 1 + wanted / 5;
#endif
    if (workload().name == "wake_under_load") return 1 + wanted / 100;
    constexpr std::string_view kLong[] = {
        "blocking_calls", "fairness",      "timer",      "timeouts", "echo",
        "accept_storm",   "http_hello",    "grpc_unary", "fib",      "skynet",
        "nqueens",        "matmul",        "sort",       "channel",  "uts_geometric",
        "uts_binomial",   "tcp_ping_pong", "yield_many", "imbalance"};
    const bool is_long = std::ranges::find(kLong, workload().name) != std::end(kLong);
    return is_long ? 1 + wanted / 20 : wanted;
  }

  void run_and_verify(const ParameterValues& values, int wanted) {
    rt::Runtime runtime = build_runtime();
    const auto instance = workload().make(runtime, values);
    for (int i = 0; i < iterations(wanted); ++i) instance->run_iteration();
    EXPECT_EQ(instance->verify(), std::nullopt);
  }

  /// Sets all parameters to `value`, or to the largest value that ends soon; times are the
  /// shortest.
  ParameterValues all_at(std::uint64_t value) const {
    ParameterValues values = defaults(workload());
    for (auto& [name, current] : values) {
      const bool is_time = name.ends_with("_us") || name.ends_with("_ms");
      current = is_time ? 1 : value;
    }
    if (workload().name == "wake_under_load") values["wakes"] = std::min<std::uint64_t>(value, 20);
    if (workload().name == "timeouts") values["timers"] = std::min<std::uint64_t>(value, 20);
    if (workload().name == "fib") values["n"] = std::min<std::uint64_t>(value, 20);
    if (workload().name == "uts_geometric") values["depth"] = std::min<std::uint64_t>(value, 4);
    if (workload().name == "uts_binomial") values["roots"] = std::min<std::uint64_t>(value, 5);
    if (workload().name == "nqueens") values["n"] = std::min<std::uint64_t>(value, 8);
    return values;
  }
};

TEST_P(EveryWorkload, runs_and_verifies_at_the_default_parameters) {
  run_and_verify(defaults(workload()), 3);
}

TEST_P(EveryWorkload, runs_and_verifies_at_the_smallest_parameters) {
  run_and_verify(all_at(1), 500);
}

TEST_P(EveryWorkload, runs_and_verifies_at_small_parameters) { run_and_verify(all_at(7), 200); }

// 257 is one more than the local queue holds.
TEST_P(EveryWorkload, runs_and_verifies_where_queues_overflow) { run_and_verify(all_at(257), 10); }

TEST_P(EveryWorkload, verifies_again_and_again) {
  rt::Runtime runtime = build_runtime();
  const auto instance = workload().make(runtime, all_at(5));
  for (int repetition = 0; repetition < iterations(20); ++repetition) {
    for (int i = 0; i < repetition; ++i) instance->run_iteration();
    EXPECT_EQ(instance->verify(), std::nullopt) << "repetition " << repetition;
  }
}

TEST_P(EveryWorkload, instances_on_one_runtime_do_not_mix) {
  rt::Runtime runtime = build_runtime();
  const auto first = workload().make(runtime, all_at(3));
  const auto second = workload().make(runtime, all_at(4));
  for (int i = 0; i < iterations(10); ++i) {
    first->run_iteration();
    second->run_iteration();
  }
  EXPECT_EQ(first->verify(), std::nullopt);
  EXPECT_EQ(second->verify(), std::nullopt);
}

TEST_P(EveryWorkload, may_be_destroyed_as_soon_as_an_iteration_ends) {
  rt::Runtime runtime = build_runtime();
  for (int i = 0; i < iterations(200); ++i) {
    const auto instance = workload().make(runtime, all_at(3));
    instance->run_iteration();
  }
}

/// Ends one of the TCP connections of this process.
bool try_to_break_a_connection() {
  for (int descriptor = 3; descriptor < 1'000; ++descriptor) {
    sockaddr_storage peer{};
    socklen_t size = sizeof(peer);
    if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
        peer.ss_family == AF_INET) {
      return ::shutdown(descriptor, SHUT_RDWR) == 0;
    }
  }
  return false;
}

TEST(TcpPingPong, clients_end_with_the_first_that_fails) {
  rt::Runtime runtime = rt::Runtime::Builder{}.workers(2).build();
  const Workload& workload = *find("tcp_ping_pong");
  const auto instance = workload.make(runtime, defaults(workload));
  ASSERT_TRUE(try_to_break_a_connection());
  instance->run_iteration();
  EXPECT_NE(instance->verify(), std::nullopt);
}

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const Workload& workload : all()) names.emplace_back(workload.name);
  return names;
}

std::string test_name(const testing::TestParamInfo<EveryWorkload::ParamType>& info) {
  return std::get<0>(info.param) + "_on_" + std::get<1>(info.param).name;
}

INSTANTIATE_TEST_SUITE_P(schedulers, EveryWorkload,
                         testing::Combine(testing::ValuesIn(workload_names()),
                                          testing::ValuesIn(kPools)),
                         test_name);

}  // namespace
}  // namespace taskbench::workloads
