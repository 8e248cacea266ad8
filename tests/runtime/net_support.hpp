// What the tests of runtime/net share: connections over the loopback interface, and a count of
// descriptors.
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

/// Base of tests of behaviour that does not depend on which scheduler runs the tasks.
class OnTwoWorkers : public ::testing::Test {
 protected:
  /// Runs `body` as a task; block_on alone would poll it as the root.
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

/// The std::system_error that a task throws.
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

/// Text that does not soon repeat itself.
inline std::string long_text(std::size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) text += std::to_string(i) + ' ';
  text.resize(size);
  return text;
}

/// The number of open descriptors of this process.
inline auto open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

#if !defined(TASKBENCH_ASAN)
/// Limits descriptor numbers for a scope: those from `next` on are unavailable. Not with UBSan: it
/// opens a pipe to check whether memory is readable, and if it cannot, it reports objects of
/// classes that it has not seen before as invalid.
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
