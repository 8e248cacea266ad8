#include "harness/os/supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <ctime>

#include <fmt/format.h>

#include "harness/os/descriptor.hpp"

namespace taskbench::harness {
namespace {

// Time limit for killing. Processes that cannot be killed, since they wait for a disk or belong to
// another user, are given up.
constexpr double kMostKilling_s = 5;
constexpr int kBetweenKills_ms = 10;
constexpr int kForever_ms = -1;

double now_s() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void report(int descriptor, const ProcessReport& message) {
  // If this fails, there is no reader left.
  [[maybe_unused]] const auto written = ::write(descriptor, &message, sizeof(message));
}

[[noreturn]] void become_program(const Supervised& request, pid_t supervisor) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(127);  // if it died before the line above
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ}) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(request.input, STDIN_FILENO);
  ::dup2(request.output, STDOUT_FILENO);
  ::dup2(request.errors, STDERR_FILENO);
  // If taskbench has no standard input, `input` may have its number; dup2() then leaves it to be
  // closed by exec.
  ::fcntl(STDIN_FILENO, F_SETFD, 0);
  if (*request.folder == '\0' || ::chdir(request.folder) == 0) {
    ::execvpe(request.arguments[0], request.arguments, request.environment);
  }
  report(request.report, {ProcessReport::Kind::not_started, errno});
  ::_exit(127);
}

void close_between(int first, int last) {
  if (first > last) return;
  if (::syscall(SYS_close_range, first, last, 0) == 0) return;
  constexpr int kMost = 4096;  // before Linux 5.9
  for (int each = first; each <= std::min(last, kMost); ++each) ::close(each);
}

/// Closes other descriptors: nobody who waits for the end of a pipe or for a lock must wait for the
/// supervisor.
void close_all_but(std::array<int, 3> kept) {
  std::sort(kept.begin(), kept.end());
  int next = 0;
  for (const int each : kept) {
    close_between(next, each - 1);
    next = each + 1;
  }
  close_between(next, static_cast<int>(~0U >> 1));
}

class Supervisor {
 public:
  Supervisor(const Supervised& request, pid_t program, int signals)
      : request_(request), program_(program), signals_(signals) {}

  void run() {
    bool asked = false;
    double end_s = 0;  // of the grace period
    for (;;) {
      const bool some_left = reap();
      if (!some_left || (has_ended_ && !asked)) break;
      int wait_ms = kForever_ms;
      if (asked) {
        const double left_s = end_s - now_s();
        if (left_s <= 0) break;
        wait_ms = static_cast<int>(left_s * 1e3) + 1;
      }
      std::array<pollfd, 2> watched{{{signals_, POLLIN, 0}, {request_.control, POLLIN, 0}}};
      ::poll(watched.data(), watched.size(), wait_ms);
      take_signals();
      if (watched[1].revents == 0) continue;
      char byte = 0;
      if (::read(request_.control, &byte, 1) != 1) break;
      asked = true;
      end_s = now_s() + request_.grace_s;
      if (!has_ended_) ::kill(-program_, SIGTERM);
    }
    kill_all();
    report(request_.report, ended_);
  }

 private:
  void take_signals() {
    signalfd_siginfo ignored{};
    while (::read(signals_, &ignored, sizeof(ignored)) > 0) {
    }
  }

  /// Reaps ended children, which include orphans of the program. False if there are no more.
  bool reap() {
    for (;;) {
      siginfo_t next{};
      if (::waitid(P_ALL, 0, &next, WEXITED | WNOHANG | WNOWAIT) != 0) return false;
      if (next.si_pid == 0) return true;
      // The kernel's scheduling counts of the first thread exist until it is waited for.
      if (next.si_pid == program_) read_schedule();
      rusage usage{};
      if (::wait4(next.si_pid, &ended_of(next.si_pid), 0, &usage) != program_) continue;
      ended_.cpu_ns = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
      has_ended_ = true;
    }
  }

  /// The destination for a child's status: only the program's is of interest.
  int& ended_of(pid_t pid) { return pid == program_ ? ended_.value : ignored_; }

  static std::int64_t nanoseconds(const timeval& time) {
    return 1'000'000'000LL * time.tv_sec + 1'000LL * time.tv_usec;
  }

  /// Reads the first two numbers of "/proc/PID/schedstat". Must not allocate; fmt does not for
  /// numbers.
  void read_schedule() {
    std::array<char, 64> path{};
    fmt::format_to_n(path.data(), path.size() - 1, "/proc/{}/schedstat", program_);
    const Descriptor file(::open(path.data(), O_RDONLY | O_CLOEXEC));
    std::array<char, 128> text{};
    const ssize_t size = file.is_open() ? ::read(file.get(), text.data(), text.size()) : 0;
    const char* const end = text.data() + std::max<ssize_t>(size, 0);
    std::int64_t ran_ns = 0;
    std::int64_t queued_ns = 0;
    const auto first = std::from_chars(text.data(), end, ran_ns);
    if (first.ec != std::errc{} || first.ptr == end) return;
    if (std::from_chars(first.ptr + 1, end, queued_ns).ec != std::errc{}) return;
    ended_.first_ran_ns = ran_ns;
    ended_.first_queued_ns = queued_ns;
  }

  /// Kills children repeatedly: processes started by a killed process become children in its place.
  void kill_all() {
    const double end_s = now_s() + kMostKilling_s;
    while (reap() && now_s() < end_s) {
      ::kill(-program_, SIGKILL);  // the only option if the kernel lists no children
      kill_children();
      std::array<pollfd, 1> watched{{{signals_, POLLIN, 0}}};
      ::poll(watched.data(), watched.size(), kBetweenKills_ms);
      take_signals();
    }
  }

  static void kill_children() {
    const Descriptor list(::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC));
    std::array<char, 1024> text{};
    pid_t pid = 0;
    ssize_t size = 0;
    while ((size = ::read(list.get(), text.data(), text.size())) > 0) {
      for (ssize_t i = 0; i < size; ++i) {
        const char each = text[static_cast<std::size_t>(i)];
        if (each >= '0' && each <= '9') {
          pid = 10 * pid + (each - '0');
          continue;
        }
        // No other process can have its number: it stays our zombie until it is waited for.
        if (pid > 0) ::kill(pid, SIGKILL);
        pid = 0;
      }
    }
  }

  const Supervised& request_;
  pid_t program_;
  int signals_;
  ProcessReport ended_;
  int ignored_ = 0;
  bool has_ended_ = false;
};

}  // namespace

void supervise(const Supervised& request) {
  // Leaves the process group that receives signals from a terminal or a CI runner.
  ::setpgid(0, 0);
  ::prctl(PR_SET_NAME, "taskbench-super");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::signal(SIGCHLD, SIG_DFL);  // ignoring it would discard the statuses of children
  sigset_t set;
  ::sigfillset(&set);
  ::sigprocmask(SIG_SETMASK, &set, nullptr);
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  const int signals = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  const pid_t self = ::getpid();
  const pid_t program = signals < 0 ? -1 : ::fork();
  if (program == 0) become_program(request, self);
  if (program < 0) {
    report(request.report, {ProcessReport::Kind::not_started, errno});
    ::_exit(127);
  }
  close_all_but({request.report, request.control, signals});
  ::setpgid(program, program);  // here too, to avoid a race
  Supervisor(request, program, signals).run();
  ::_exit(0);
}

}  // namespace taskbench::harness
