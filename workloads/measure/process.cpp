#include "workloads/measure/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace taskbench::workloads::measure {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxOutputBytes = 1 << 20;
constexpr std::size_t kMaxErrorBytes = 1 << 10;
constexpr int kPollInterval_ms = 50;  // how soon `stop` is seen
constexpr int kInheritedDescriptor = 100;

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  void close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_ = -1;
};

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;

  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read_end = Descriptor(ends[0]);
    write_end = Descriptor(ends[1]);
    return true;
  }
};

/// Pointers for exec, which must not be built after fork().
std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const std::vector<std::string>& additions) {
  const auto name = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  std::vector<std::string> result = additions;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const auto same = [&](const std::string& added) { return name(added) == name(*entry); };
    if (std::ranges::none_of(additions, same)) result.emplace_back(*entry);
  }
  return result;
}

/// Between fork() and exec(): only what is safe after a fork of a process with threads.
[[noreturn]] void become(const std::vector<char*>& arguments, const std::vector<char*>& environment,
                         int null, const Pipe& output, const Pipe& errors, const Pipe& failure,
                         pid_t parent, const ProcessRequest& request) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it died before the line above
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ}) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(null, STDIN_FILENO);
  ::dup2(output.write_end.number(), STDOUT_FILENO);
  ::dup2(errors.write_end.number(), STDERR_FILENO);
  // Left open by all that it starts, whatever they do with their standard error: see ask_to_end().
  if (request.grace_s > 0) ::fcntl(errors.write_end.number(), F_DUPFD, kInheritedDescriptor);
  if (request.folder.empty() || ::chdir(request.folder.c_str()) == 0) {
    ::execvpe(arguments[0], arguments.data(), environment.data());
  }
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(failure.write_end.number(), &error, sizeof(error));
  ::_exit(127);
}

/// Takes what is there, without waiting. False at the end of the file.
bool drain(int descriptor, std::string& into, std::size_t limit, bool keep_the_end) {
  std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count == 0) return false;
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    into.append(buffer.data(), static_cast<std::size_t>(count));
    if (into.size() <= limit) continue;
    if (keep_the_end) {
      into.erase(0, into.size() - limit);
    } else {
      into.resize(limit);
    }
  }
}

class Child {
 public:
  Child(pid_t pid, Pipe output, Pipe errors)
      : pid_(pid),
        exit_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))),
        output_(std::move(output.read_end)),
        errors_(std::move(errors.read_end)) {
    for (const Descriptor* each : {&output_, &errors_}) {
      ::fcntl(each->number(), F_SETFL, O_NONBLOCK);
    }
  }

  void wait(const ProcessRequest& request, const std::atomic<bool>& stop, ProcessOutcome& outcome) {
    const auto start = Clock::now();
    const auto deadline = start + std::chrono::duration<double>(request.timeout_s);
    outcome.end = ProcessOutcome::End::exited;
    std::array<pollfd, 3> watched{{{exit_.number(), POLLIN, 0},
                                   {output_.number(), POLLIN, 0},
                                   {errors_.number(), POLLIN, 0}}};
    while (!ended(watched[0])) {
      // relaxed: nothing is ordered by the flag; it only has to be seen soon.
      if (stop.load(std::memory_order_relaxed)) {
        outcome.end = ProcessOutcome::End::interrupted;
        break;
      }
      if (Clock::now() >= deadline) {
        outcome.end = ProcessOutcome::End::timed_out;
        break;
      }
      ::poll(watched.data(), watched.size(), kPollInterval_ms);
      read(outcome, watched);
      if (request.waiting) {
        request.waiting(std::chrono::duration<double>(Clock::now() - start).count());
      }
    }
    if (outcome.end != ProcessOutcome::End::exited) ask_to_end(request.grace_s, outcome, watched);
    // The leader before it is waited for: as long as it is not, nobody else can have its number.
    ::kill(-pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    read(outcome, watched);
    if (outcome.end != ProcessOutcome::End::exited) return;
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    if (!WIFEXITED(status)) outcome.end = ProcessOutcome::End::killed;
  }

 private:
  [[nodiscard]] bool ended(const pollfd& exit) const {
    if (exit.fd >= 0) return (exit.revents & POLLIN) != 0;
    siginfo_t info{};  // a kernel without pidfd_open
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid_;
  }

  /// All of the group have ended when the last one has closed the pipe of errors; the leader alone
  /// may be a shell that dies at once, before a build tool has ended its compilers.
  void ask_to_end(double grace_s, ProcessOutcome& outcome, std::array<pollfd, 3>& watched) {
    if (grace_s <= 0) return;
    const auto deadline = Clock::now() + std::chrono::duration<double>(grace_s);
    ::kill(-pid_, SIGTERM);
    watched[0].fd = -1;  // it would be ready all the time
    while ((!ended(watched[0]) || watched[2].fd >= 0) && Clock::now() < deadline) {
      ::poll(watched.data(), watched.size(), kPollInterval_ms);
      read(outcome, watched);
    }
  }

  void read(ProcessOutcome& outcome, std::array<pollfd, 3>& watched) {
    if (watched[1].fd >= 0 && !drain(watched[1].fd, outcome.output, kMaxOutputBytes, false)) {
      watched[1].fd = -1;  // poll() skips it
    }
    if (watched[2].fd >= 0 && !drain(watched[2].fd, outcome.errors, kMaxErrorBytes, true)) {
      watched[2].fd = -1;
    }
  }

  pid_t pid_;
  Descriptor exit_;
  Descriptor output_;
  Descriptor errors_;
};

ProcessOutcome not_started(int error) {
  ProcessOutcome outcome;
  outcome.code = error;
  return outcome;
}

std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  const auto newline = text.rfind('\n');
  return std::string(newline == std::string_view::npos ? text : text.substr(newline + 1));
}

}  // namespace

std::string ProcessOutcome::text() const {
  std::string how;
  switch (end) {
    case End::exited:
      how = fmt::format("exited with status {}", code);
      break;
    case End::killed:
      how = fmt::format("was killed by signal {} ({})", code, ::strsignal(code));
      break;
    case End::timed_out:
      how = "did not end in time and was killed";
      break;
    case End::interrupted:
      how = "was interrupted";
      break;
    case End::not_started:
      return fmt::format("cannot be started: {}", std::strerror(code));
  }
  const std::string line = last_line(errors);
  return line.empty() ? how : fmt::format("{}: {}", how, line);
}

ProcessOutcome run_process(const ProcessRequest& request, const std::atomic<bool>& stop) {
  Pipe output;
  Pipe errors;
  Pipe failure;
  const Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (null.number() < 0 || !output.open() || !errors.open() || !failure.open()) {
    return not_started(errno);
  }
  const std::vector<std::string> environment = environment_with(request.environment);
  const std::vector<char*> argument_pointers = pointers(request.command);
  const std::vector<char*> environment_pointers = pointers(environment);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return not_started(errno);
  if (pid == 0) {
    become(argument_pointers, environment_pointers, null.number(), output, errors, failure, parent,
           request);
  }
  ::setpgid(pid, pid);  // here too: whoever comes first
  output.write_end.close();
  errors.write_end.close();
  failure.write_end.close();
  int error = 0;
  ssize_t got = 0;
  while ((got = ::read(failure.read_end.number(), &error, sizeof(error))) < 0 && errno == EINTR) {
  }
  if (got == static_cast<ssize_t>(sizeof(error))) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return not_started(error);
  }
  ProcessOutcome outcome;
  Child child(pid, std::move(output), std::move(errors));
  child.wait(request, stop, outcome);
  return outcome;
}

}  // namespace taskbench::workloads::measure
