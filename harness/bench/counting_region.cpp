#include "harness/bench/counting_region.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>

namespace taskbench::harness {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kAnswerTimeout = std::chrono::seconds(10);
constexpr std::string_view kAnswer = "ack\n";

int open_pipe(const std::string& path, int how) {
  // Opens without waiting: perf opened both before it started this process, or never will.
  const int descriptor = ::open(path.c_str(), how | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) {
    throw std::runtime_error(fmt::format("{}: '{}' cannot be opened: {}", kPerfControlVariable,
                                         path, std::strerror(errno)));
  }
  return descriptor;
}

}  // namespace

CountingRegion::CountingRegion(const std::string& pipes) {
  const auto comma = pipes.find(',');
  if (comma == std::string::npos) {
    throw std::runtime_error(
        fmt::format("{} must be COMMANDS,ANSWERS, not '{}'", kPerfControlVariable, pipes));
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGPIPE, SIG_IGN);
  try {
    answers_ = open_pipe(pipes.substr(comma + 1), O_RDONLY);
    commands_ = open_pipe(pipes.substr(0, comma), O_WRONLY);
  } catch (...) {
    close();
    throw;
  }
}

CountingRegion::~CountingRegion() { close(); }

void CountingRegion::close() {
  for (const int descriptor : {commands_, answers_}) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

void CountingRegion::tell(const char* command) const {
  const std::size_t length = std::strlen(command);
  if (::write(commands_, command, length) != static_cast<ssize_t>(length)) {
    throw std::runtime_error(fmt::format("{}listen to '{}': {}", kPerfDidNot,
                                         std::string_view(command, length - 1),
                                         std::strerror(errno)));
  }
  // The answer is "ack\n", followed in all versions so far by a NUL, which may come only with the
  // next answer.
  const auto deadline = Clock::now() + kAnswerTimeout;
  std::string answer;
  while (answer.find(kAnswer) == std::string::npos) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{answers_, POLLIN, 0};
    const int ready = left > 0 ? ::poll(&waiting, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    std::array<char, 64> buffer{};
    const ssize_t count = ready > 0 ? ::read(answers_, buffer.data(), buffer.size()) : -1;
    if (count > 0) {
      answer.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || left <= 0 || (errno != EAGAIN && errno != EINTR)) {
      throw std::runtime_error(
          fmt::format("{}answer '{}'", kPerfDidNot, std::string_view(command, length - 1)));
    }
  }
}

std::optional<std::string> perf_control_pipes() {
  const char* pipes = std::getenv(kPerfControlVariable);
  return pipes != nullptr && *pipes != '\0' ? std::optional<std::string>(pipes) : std::nullopt;
}

}  // namespace taskbench::harness
