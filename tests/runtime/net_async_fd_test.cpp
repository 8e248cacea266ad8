#include "runtime/net/async_fd.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>

#include "runtime/net/udp.hpp"
#include "runtime/time/sleep.hpp"
#include "tests/runtime/net_support.hpp"

namespace taskbench::rt {
namespace {

using tests::failure_of;

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0); }
  int ends[2];
};

class AsyncFds : public tests::OnOneRuntime {};

TEST_P(AsyncFds, a_pipe_is_read_and_written) {
  run([]() -> Task<> {
    const Pipe pipe;
    auto out = AsyncFd::own(pipe.ends[0]);
    auto in = AsyncFd::own(pipe.ends[1]);
    auto reader = spawn(
        [](AsyncFd& from) -> Task<std::string> { co_return co_await tests::read_all(from); }(out));
    const std::string text = tests::long_text(200'000);
    for (std::size_t at = 0; at < text.size();) {
      at += co_await in.write({text.data() + at, text.size() - at});
    }
    { const AsyncFd closed = std::move(in); }
    EXPECT_EQ(co_await std::move(reader), text);
  });
}

TEST_P(AsyncFds, what_others_read_is_waited_for_again) {
  run([]() -> Task<> {
    const int events = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    auto fd = AsyncFd::own(events);
    for (std::uint64_t i = 1; i <= 3; ++i) {
      auto sender = spawn([](int to, std::uint64_t number) -> Task<> {
        EXPECT_EQ(::write(to, &number, sizeof(number)), 8);
        co_return;
      }(events, i));
      co_await fd.readable();
      co_await fd.readable();
      std::uint64_t got = 0;
      EXPECT_EQ(::read(events, &got, sizeof(got)), 8);
      EXPECT_EQ(got, i);
      co_await std::move(sender);
    }
  });
}

/// A terminal in raw mode, which a program uses like a serial line.
struct RawTerminal {
  RawTerminal() : master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    EXPECT_EQ(::grantpt(master), 0);
    EXPECT_EQ(::unlockpt(master), 0);
    line = ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    termios mode{};
    EXPECT_EQ(::tcgetattr(line, &mode), 0) << "no terminal";
    ::cfmakeraw(&mode);
    EXPECT_EQ(::tcsetattr(line, TCSANOW, &mode), 0);
  }
  int master;
  int line = -1;
};

TEST_P(AsyncFds, a_serial_line_is_read_and_written) {
  run([]() -> Task<> {
    const RawTerminal terminal;
    auto device = AsyncFd::own(terminal.master);
    auto line = AsyncFd::own(terminal.line);
    auto reader = spawn([](AsyncFd& from) -> Task<std::string> {
      std::string got;
      std::array<char, 16> buffer;
      while (got.size() < 6) {
        const std::size_t size = co_await from.read(buffer);
        got.append(buffer.data(), size);
      }
      co_return got;
    }(line));
    for (const char* part : {"a\nb", "\rcd"}) {
      EXPECT_EQ(co_await device.write({part, 3}), 3U);
      co_await tests::yield_times(3);
    }
    EXPECT_EQ(co_await std::move(reader), "a\nb\rcd");
  });
}

TEST_P(AsyncFds, a_folder_that_is_watched_says_what_was_made_in_it) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("taskbench-watched-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  run([&]() -> Task<> {
    auto changes = AsyncFd::own(::inotify_init1(IN_CLOEXEC));
    EXPECT_GE(::inotify_add_watch(changes.descriptor(), folder.c_str(), IN_CREATE), 0);
    auto reader = spawn([](AsyncFd& from) -> Task<std::string> {
      alignas(inotify_event) std::array<char, 1024> buffer;
      const std::size_t size = co_await from.read(buffer);
      EXPECT_GT(size, sizeof(inotify_event));
      co_return buffer.data() + sizeof(inotify_event);
    }(changes));
    co_await tests::yield_times(3);
    std::ofstream(folder / "new").close();
    EXPECT_EQ(co_await std::move(reader), "new");
  });
  std::filesystem::remove_all(folder);
}

TEST_P(AsyncFds, the_end_of_a_process_is_waited_for) {
  run([]() -> Task<> {
    const Pipe until;
    const pid_t child = ::fork();
    if (child == 0) {
      char nothing = 0;
      ::close(until.ends[1]);
      ::_exit(::read(until.ends[0], &nothing, 1) == 0 ? 7 : 1);
    }
    ::close(until.ends[0]);
    auto process = AsyncFd::own(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    auto waiter = spawn([](AsyncFd& ended) -> Task<> { co_await ended.readable(); }(process));
    co_await tests::yield_times(3);
    EXPECT_FALSE(waiter.is_finished());
    ::close(until.ends[1]);
    co_await std::move(waiter);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, WNOHANG), child);
    EXPECT_EQ(WEXITSTATUS(status), 7);
  });
}

TASKBENCH_ON_EVERY_SCHEDULER(AsyncFds);

class AsyncFdOfTwoWorkers : public tests::OnTwoWorkers {};

bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) != -1; }

TEST(AsyncFdDeathTest, refuses_the_number_of_a_borrowed_descriptor_that_was_closed_too_early) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto reuse_a_number = [] {
    tests::build(tests::kCurrentThread).block_on([]() -> Task<> {
      const int number = ::eventfd(0, EFD_NONBLOCK);
      const auto first = AsyncFd::borrow(number);
      ::close(number);
      EXPECT_EQ(::eventfd(0, EFD_NONBLOCK), number);
      const auto second = AsyncFd::borrow(number);
      co_return;
    }());
  };
  EXPECT_DEATH(reuse_a_number(), "closed before its AsyncFd was gone");
}

TEST_F(AsyncFdOfTwoWorkers, what_is_owned_is_closed_and_what_is_borrowed_or_released_is_not) {
  run([]() -> Task<> {
    const Pipe pipe;
    { const auto borrowed = AsyncFd::borrow(pipe.ends[0]); }
    EXPECT_TRUE(is_open(pipe.ends[0]));
    EXPECT_EQ(AsyncFd::own(pipe.ends[0]).release(), pipe.ends[0]);
    EXPECT_TRUE(is_open(pipe.ends[0]));
    { const auto owned = AsyncFd::own(pipe.ends[0]); }
    EXPECT_FALSE(is_open(pipe.ends[0]));
    co_return;
  });
}

TEST_F(AsyncFdOfTwoWorkers,
       one_that_another_is_moved_over_is_closed_and_one_moved_to_itself_stays) {
  run([]() -> Task<> {
    const Pipe pipe;
    auto fd = AsyncFd::own(pipe.ends[0]);
    fd = AsyncFd::own(pipe.ends[1]);
    EXPECT_FALSE(is_open(pipe.ends[0]));
    EXPECT_EQ(fd.descriptor(), pipe.ends[1]);
    AsyncFd& same = fd;
    fd = std::move(same);
    EXPECT_EQ(fd.descriptor(), pipe.ends[1]);
    EXPECT_TRUE(is_open(pipe.ends[1]));
    co_return;
  });
}

TEST_F(AsyncFdOfTwoWorkers, what_cannot_be_watched_is_refused_and_closed) {
  run([]() -> Task<> {
    const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    std::string text;
    try {
      const auto fd = AsyncFd::own(file);
    } catch (const std::system_error& error) {
      text = error.what();
    }
    EXPECT_EQ(text, "watch descriptor " + std::to_string(file) +
                        ", which is of a kind that is always ready: Operation not permitted");
    EXPECT_FALSE(is_open(file));
    co_return;
  });
}

TEST_F(AsyncFdOfTwoWorkers, what_cannot_be_made_non_blocking_is_refused) {
  run([]() -> Task<> {
    // A descriptor opened as a mere path takes no flags; one that is not open has none.
    for (const int descriptor : {::open("/", O_PATH | O_CLOEXEC), -1}) {
      std::string text;
      try {
        const auto fd = AsyncFd::own(descriptor);
      } catch (const std::system_error& error) {
        text = error.what();
      }
      EXPECT_EQ(text, "make non-blocking descriptor " + std::to_string(descriptor) +
                          ": Bad file descriptor");
    }
    co_return;
  });
}

/// Frees descriptor 0 for a while: the next one opened gets this number.
class NumberZero {
 public:
  NumberZero() : kept_(::fcntl(0, F_DUPFD_CLOEXEC, 3)) { ::close(0); }
  NumberZero(const NumberZero&) = delete;
  NumberZero& operator=(const NumberZero&) = delete;
  ~NumberZero() {
    ::dup2(kept_, 0);
    ::close(kept_);
  }

 private:
  int kept_;
};

TEST_F(AsyncFdOfTwoWorkers, zero_is_a_number_as_any_other) {
  run([]() -> Task<> {
    const NumberZero free;
    {
      const auto socket = net::UdpSocket::bind(net::SocketAddress::loopback());
      EXPECT_EQ(socket.descriptor(), 0);
    }
    EXPECT_FALSE(is_open(0));
    EXPECT_EQ(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC), 0);
    EXPECT_THROW(static_cast<void>(AsyncFd::own(0)), std::system_error);
    EXPECT_FALSE(is_open(0));
    co_return;
  });
}

TEST_F(AsyncFdOfTwoWorkers, what_is_watched_already_is_refused_and_still_watched) {
  run([]() -> Task<> {
    const Pipe pipe;
    auto out = AsyncFd::own(pipe.ends[0]);
    auto reader = spawn(
        [](AsyncFd& from) -> Task<std::string> { co_return co_await tests::read_all(from); }(out));
    co_await time::sleep(std::chrono::milliseconds(2));
    for (const int descriptor : {pipe.ends[0], -1}) {
      EXPECT_THROW(static_cast<void>(AsyncFd::borrow(descriptor)), std::system_error);
    }
    EXPECT_FALSE(reader.is_finished());
    EXPECT_EQ(::write(pipe.ends[1], "abc", 3), 3);
    ::close(pipe.ends[1]);
    EXPECT_EQ(co_await std::move(reader), "abc");
  });
}

TEST_F(AsyncFdOfTwoWorkers, G2_the_next_of_a_number_begins_anew) {
  run([]() -> Task<> {
    std::set<int> numbers;
    for (int i = 0; i < 3; ++i) {
      const Pipe pipe;
      auto out = AsyncFd::own(pipe.ends[0]);
      numbers.insert(out.descriptor());
      auto reader = spawn([](AsyncFd& from) -> Task<std::string> {
        co_return co_await tests::read_all(from);
      }(out));
      co_await time::sleep(std::chrono::milliseconds(2));
      EXPECT_FALSE(reader.is_finished());  // although the previous reader has read the end
      EXPECT_EQ(::write(pipe.ends[1], "abc", 3), 3);
      ::close(pipe.ends[1]);
      EXPECT_EQ(co_await std::move(reader), "abc");
    }
    EXPECT_EQ(numbers.size(), 1U);
  });
}

TEST_F(AsyncFdOfTwoWorkers, a_fifo_may_be_opened_again_after_its_end) {
  const std::string path = ::testing::TempDir() + "taskbench-fifo-" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  run([&]() -> Task<> {
    auto out = AsyncFd::own(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    for (const char* text : {"one", "two"}) {
      const int in = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      // There is nothing to read and no hang-up, so it waits.
      auto reader = spawn([](AsyncFd& from) -> Task<std::string> {
        co_return co_await tests::read_all(from);
      }(out));
      co_await time::sleep(std::chrono::milliseconds(2));
      EXPECT_FALSE(reader.is_finished());
      EXPECT_EQ(::write(in, text, 3), 3);
      ::close(in);
      EXPECT_EQ(co_await std::move(reader), text);
    }
  });
  ::unlink(path.c_str());
}

TEST_F(AsyncFdOfTwoWorkers, errors_and_exceptions_of_a_users_call_come_out) {
  run([]() -> Task<> {
    const Pipe pipe;
    auto out = AsyncFd::own(pipe.ends[0]);
    auto in = AsyncFd::own(pipe.ends[1]);
    const auto failure =
        co_await failure_of([](AsyncFd& wrong) -> Task<> { co_await wrong.write("x"); }(out));
    EXPECT_EQ(failure.text, "write to a descriptor: Bad file descriptor");
    std::string text;
    try {
      co_await in.write_with([](int) -> int { throw std::runtime_error("mine"); });
    } catch (const std::runtime_error& error) {
      text = error.what();
    }
    EXPECT_EQ(text, "mine");
    EXPECT_EQ(co_await in.write_with([](int) { return 7; }), 7);
  });
}

TEST_F(AsyncFdOfTwoWorkers, a_users_call_that_has_thrown_may_be_awaited_again) {
  run([]() -> Task<> {
    const Pipe pipe;
    const auto out = AsyncFd::own(pipe.ends[0]);
    auto in = AsyncFd::own(pipe.ends[1]);
    int calls = 0;
    auto writing = in.write_with([&calls](int) -> int {
      if (++calls == 1) throw std::runtime_error("the first");
      return calls;
    });
    bool has_thrown = false;
    try {
      co_await writing;
    } catch (const std::runtime_error&) {
      has_thrown = true;
    }
    EXPECT_TRUE(has_thrown);
    EXPECT_EQ(co_await writing, 2);
  });
}

}  // namespace
}  // namespace taskbench::rt
