// A server under a wrk that exits before its last requests are answered.
#include "workloads/net/under_program.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "harness/bench/wrk.hpp"
#include "runtime/time/sleep.hpp"
#include "workloads/net/loopback.hpp"

namespace taskbench::harness {
namespace {

using namespace workloads;
using namespace workloads::net;

/// Opens two connections, and reports that 30 requests on them were answered.
constexpr const char* kWrk = R"(#!/bin/bash
port=${@: -1}; port=${port##*:}; port=${port%/}
exec 3<>/dev/tcp/127.0.0.1/$port 4<>/dev/tcp/127.0.0.1/$port
echo "    Latency   590.77us  130.72us   1.50m    78.79%"
echo "     50%  1us"; echo "     75%  1us"; echo "     90%  1us"; echo "     99%  1us"
echo "  30 requests in 1.10s, 13.36MB read"
echo "Requests/sec:  84502.40"
)";

/// A wrk that comes before all others in PATH.
class FakeWrk {
 public:
  FakeWrk() {
    const auto program = folder_ / "wrk";
    std::filesystem::create_directory(folder_);
    std::ofstream(program) << kWrk;
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    ::setenv("PATH", (folder_.string() + ':' + path_).c_str(), 1);
  }
  ~FakeWrk() {
    ::setenv("PATH", path_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }

 private:
  const std::filesystem::path folder_ =
      testing::TempDir() + "fake-wrk-" + std::to_string(::getpid());
  const std::string path_ = std::getenv("PATH");
};

/// Counts 15 answers for each connection of wrk, some time after it was closed.
class LateServer {
 public:
  explicit LateServer(rt::Runtime& runtime)
      : server_(runtime, [this](rt::net::TcpStream stream) { return serve(std::move(stream)); }) {}
  std::uint16_t port() const { return server_.port(); }
  std::uint64_t answered() const { return answered_; }

 private:
  rt::Task<> serve(rt::net::TcpStream stream) {
    const bool is_wrk = ++accepted_ % 3 != 0;  // the third is the harness's own
    char byte = 0;
    while (co_await stream.read(&byte, 1) > 0) {
    }
    if (!is_wrk) co_return;
    co_await rt::time::sleep(std::chrono::milliseconds(50));
    answered_ += 15;
  }

  std::atomic<std::uint64_t> answered_{0};
  std::atomic<int> accepted_{0};
  LoopbackServer server_;
};

TEST(UnderProgram, answers_that_come_after_wrk_are_counted_in_the_run_that_they_belong_to) {
  const FakeWrk wrk;
  for (const char* const scheduler : {"work_stealing", "current_thread"}) {
    auto runtime = rt::Runtime::Builder{}.scheduler(scheduler).workers(1).build();
    const LoadProgram program{.name = "wrk", .version = {}, .seconds = 1, .run = run_wrk};
    UnderProgram<LateServer> instance(runtime, program, 2, 1, {});
    for (int repetition = 0; repetition < 2; ++repetition) {
      instance.run_iteration();
      EXPECT_EQ(instance.verify(), std::nullopt) << scheduler << ", " << repetition;
      EXPECT_EQ(instance.take_figures().at("requests_per_s"), 84502.4);
    }
  }
}

}  // namespace
}  // namespace taskbench::harness
