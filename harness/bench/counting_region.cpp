#include "harness/bench/counting_region.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "harness/os/system_file.hpp"

namespace taskbench::harness {
namespace {

constexpr auto kAnswerTimeout = std::chrono::seconds(10);
constexpr std::string_view kAnswer = "ack\n";

Descriptor open_pipe(const std::string& path, int how) {
  // Opens without waiting: perf opened both before it started this process, or never will.
  Descriptor descriptor(::open(path.c_str(), how | O_NONBLOCK | O_CLOEXEC));
  if (!descriptor.is_open()) {
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
  answers_ = open_pipe(pipes.substr(comma + 1), O_RDONLY);
  commands_ = open_pipe(pipes.substr(0, comma), O_WRONLY);
}

void CountingRegion::tell(std::string_view command) const {
  if (const int error = write_all(commands_.get(), fmt::format("{}\n", command))) {
    throw std::runtime_error(
        fmt::format("{}listen to '{}': {}", kPerfDidNot, command, std::strerror(error)));
  }
  // The answer is "ack\n", followed in all versions so far by a NUL, which may come only with the
  // next answer.
  const auto deadline = Clock::now() + kAnswerTimeout;
  std::string answer;
  while (answer.find(kAnswer) == std::string::npos) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{answers_.get(), POLLIN, 0};
    const int ready = left > 0 ? ::poll(&waiting, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    std::array<char, 64> buffer{};
    const ssize_t count = ready > 0 ? ::read(answers_.get(), buffer.data(), buffer.size()) : -1;
    if (count > 0) {
      answer.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || left <= 0 || (errno != EAGAIN && errno != EINTR)) {
      throw std::runtime_error(fmt::format("{}answer '{}'", kPerfDidNot, command));
    }
  }
}

std::optional<std::string> perf_control_pipes() {
  std::string pipes = environment_value(kPerfControlVariable);
  return pipes.empty() ? std::nullopt : std::optional(std::move(pipes));
}

}  // namespace taskbench::harness
