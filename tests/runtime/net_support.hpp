// What the tests of runtime/net share: connections over the loopback, and descriptors counted.
#pragma once

#include <sys/resource.h>

#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/net/tcp.hpp"
#include "runtime/net/unix.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt::tests {

/// Base of tests of what does not depend on who runs the tasks.
class OnTwoWorkers : public ::testing::Test {
 protected:
  /// Runs `body` as a task, where block_on would poll it as the root.
  template <class Body>
  auto run(Body body) {
    return run_as_task(runtime_, body);
  }
  Runtime runtime_ = build(kTwoWorkers);
};

template <class Stream>
struct Ends {
  Stream client;
  Stream server;
};

inline Task<Ends<net::TcpStream>> connected() {
  auto listener = net::TcpListener::bind(net::SocketAddress::loopback());
  auto client = co_await net::TcpStream::connect(listener.local_address());
  auto server = co_await listener.accept();
  co_return Ends<net::TcpStream>{std::move(client), std::move(server)};
}

/// Reads to the end of the stream, up to `most` bytes at a time.
template <class Stream>
Task<std::string> read_all(Stream& stream, std::size_t most = 4096) {
  std::string all;
  std::string buffer(most, '\0');
  for (;;) {
    const std::size_t size = co_await stream.read(buffer);
    if (size == 0) co_return all;
    all.append(buffer, 0, size);
  }
}

template <class Stream>
Task<std::string> read_bytes(Stream& stream, std::size_t size) {
  std::string bytes(size, '\0');
  co_await stream.read_exact(bytes);
  co_return bytes;
}

/// What `task` throws: a std::system_error.
struct Failure {
  std::error_code code;
  std::string text;
};
template <class T>
Task<Failure> failure_of(Task<T> task) {
  try {
    co_await std::move(task);
  } catch (const std::system_error& error) {
    co_return Failure{error.code(), error.what()};
  }
  co_return Failure{{}, "nothing was thrown"};
}

/// Text that does not repeat itself soon.
inline std::string long_text(std::size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) text += std::to_string(i) + ' ';
  text.resize(size);
  return text;
}

/// How many descriptors this process has open.
inline auto open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

#if !defined(TASKBENCH_ASAN)
/// Limits the numbers of descriptors for a scope: those from `next` on cannot be had. Not with
/// UBSan: where it cannot open a pipe, by which it tries whether memory can be read, it takes an
/// object of a class that it has not met for a broken one.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(int next) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit limit{static_cast<rlim_t>(next), before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~DescriptorLimit() { lift(); }
  void lift() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};
#endif

}  // namespace taskbench::rt::tests
