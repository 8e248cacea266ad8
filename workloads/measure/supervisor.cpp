#include "workloads/measure/supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

namespace taskbench::workloads::measure {
namespace {

// What cannot be killed, because it waits for a disk or belongs to somebody else, is given up.
constexpr double kMostKilling_s = 5;
constexpr int kBetweenKills_ms = 10;
constexpr int kForever_ms = -1;

double now_s() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void report(int descriptor, ProcessReport::Kind kind, int value) {
  const ProcessReport message{kind, value};
  // Nobody is left to read it when this fails.
  [[maybe_unused]] const auto written = ::write(descriptor, &message, sizeof(message));
}

[[noreturn]] void become_program(const Supervised& request, pid_t supervisor) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(127);  // it died before the line above
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ}) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(request.input, STDIN_FILENO);
  ::dup2(request.output, STDOUT_FILENO);
  ::dup2(request.errors, STDERR_FILENO);
  if (*request.folder == '\0' || ::chdir(request.folder) == 0) {
    ::execvpe(request.arguments[0], request.arguments, request.environment);
  }
  report(request.report, ProcessReport::Kind::not_started, errno);
  ::_exit(127);
}

void close_between(int first, int last) {
  if (first > last) return;
  if (::syscall(SYS_close_range, first, last, 0) == 0) return;
  constexpr int kMost = 4096;  // before Linux 5.9
  for (int each = first; each <= std::min(last, kMost); ++each) ::close(each);
}

/// Whoever waits for the end of a pipe or for a lock must not wait for the supervisor.
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
    double end_s = 0;  // of the grace
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
    report(request_.report, ProcessReport::Kind::ended, status_);
  }

 private:
  void take_signals() {
    signalfd_siginfo ignored{};
    while (::read(signals_, &ignored, sizeof(ignored)) > 0) {
    }
  }

  /// False when there is no child any more. Orphans of the program are children, too.
  bool reap() {
    for (;;) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG);
      if (pid <= 0) return pid == 0;
      if (pid != program_) continue;
      status_ = status;
      has_ended_ = true;
    }
  }

  /// From the top: what a killed one has started becomes a child in its place.
  void kill_all() {
    const double end_s = now_s() + kMostKilling_s;
    while (reap() && now_s() < end_s) {
      ::kill(-program_, SIGKILL);  // all there is to do for a kernel that lists no children
      kill_children();
      std::array<pollfd, 1> watched{{{signals_, POLLIN, 0}}};
      ::poll(watched.data(), watched.size(), kBetweenKills_ms);
      take_signals();
    }
  }

  static void kill_children() {
    const int list = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (list < 0) return;
    std::array<char, 1024> text{};
    pid_t pid = 0;
    ssize_t size = 0;
    while ((size = ::read(list, text.data(), text.size())) > 0) {
      for (ssize_t i = 0; i < size; ++i) {
        const char each = text[static_cast<std::size_t>(i)];
        if (each >= '0' && each <= '9') {
          pid = 10 * pid + (each - '0');
          continue;
        }
        // Nobody else can have its number: it is not waited for before it is a zombie of ours.
        if (pid > 0) ::kill(pid, SIGKILL);
        pid = 0;
      }
    }
    ::close(list);
  }

  const Supervised& request_;
  pid_t program_;
  int signals_;
  int status_ = 0;
  bool has_ended_ = false;
};

}  // namespace

void supervise(const Supervised& request) {
  // Out of the group that a terminal or a CI's runner sends its signals to.
  ::setpgid(0, 0);
  ::prctl(PR_SET_NAME, "taskbench-super");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::signal(SIGCHLD, SIG_DFL);  // ignored, it would take the statuses of the children with it
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
    report(request.report, ProcessReport::Kind::not_started, errno);
    ::_exit(127);
  }
  close_all_but({request.report, request.control, signals});
  ::setpgid(program, program);  // here too: whoever comes first
  Supervisor(request, program, signals).run();
  ::_exit(0);
}

}  // namespace taskbench::workloads::measure
