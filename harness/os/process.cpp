#include "harness/os/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stop_token>
#include <utility>

#include "harness/os/descriptor.hpp"
#include "harness/os/supervisor.hpp"

namespace taskbench::harness {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxErrorBytes = 1 << 10;
constexpr int kPollInterval_ms = 50;  // how soon `stop` is seen

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

/// Pointers for exec, which must be made before fork().
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

/// Reads what is there, without waiting. False at the end of the file.
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

/// The pipes to a program and to its supervisor.
class Child {
 public:
  Child(pid_t supervisor, Pipe output, Pipe errors, Pipe reports, Pipe control)
      : supervisor_(supervisor),
        output_(std::move(output.read_end)),
        errors_(std::move(errors.read_end)),
        reports_(std::move(reports.read_end)),
        control_(std::move(control.write_end)) {
    for (const Descriptor* each : {&output_, &errors_, &reports_}) {
      ::fcntl(each->get(), F_SETFL, O_NONBLOCK);
    }
  }

  ProcessOutcome wait(const ProcessRequest& request, const std::stop_token& stop) {
    using End = ProcessOutcome::End;
    const auto start = Clock::now();
    const auto deadline = start + std::chrono::duration<double>(request.timeout_s);
    ProcessOutcome outcome;
    outcome.end = End::exited;
    std::array<pollfd, 3> watched{
        {{reports_.get(), POLLIN, 0}, {output_.get(), POLLIN, 0}, {errors_.get(), POLLIN, 0}}};
    while (watched[0].fd >= 0) {  // the supervisor lives
      if (outcome.end == End::exited) {
        if (stop.stop_requested()) outcome.end = End::interrupted;
        if (outcome.end == End::exited && Clock::now() >= deadline) outcome.end = End::timed_out;
        if (outcome.end != End::exited) ask_to_end(request.grace_s);
      }
      ::poll(watched.data(), watched.size(), kPollInterval_ms);
      read(outcome, watched, request.most_output_bytes);
      if (request.waiting && outcome.end == End::exited) {
        request.waiting(std::chrono::duration<double>(Clock::now() - start).count());
      }
    }
    while (::waitpid(supervisor_, nullptr, 0) < 0 && errno == EINTR) {
    }
    read(outcome, watched, request.most_output_bytes);
    if (outcome.end == End::exited || is_not_started()) take_report(outcome);
    return outcome;
  }

 private:
  void ask_to_end(double grace_s) {
    const char byte = 0;
    if (grace_s <= 0 || ::write(control_.get(), &byte, 1) != 1) control_.close();
  }

  void read(ProcessOutcome& outcome, std::array<pollfd, 3>& watched,
            std::size_t most_output_bytes) {
    const auto take = [](pollfd& from, std::string& into, std::size_t limit, bool keep_the_end) {
      if (from.fd >= 0 && !drain(from.fd, into, limit, keep_the_end))
        from.fd = -1;  // poll skips it
    };
    take(watched[0], report_bytes_, 2 * sizeof(ProcessReport), false);
    take(watched[1], outcome.output, most_output_bytes, false);
    take(watched[2], outcome.errors, kMaxErrorBytes, true);
  }

  /// The first report counts: a program that could not be started has ended, too.
  [[nodiscard]] ProcessReport first_report() const {
    ProcessReport report{ProcessReport::Kind::ended, SIGKILL};  // somebody killed the supervisor
    if (report_bytes_.size() >= sizeof(report)) {
      std::memcpy(&report, report_bytes_.data(), sizeof(report));
    }
    return report;
  }

  [[nodiscard]] bool is_not_started() const {
    return first_report().kind == ProcessReport::Kind::not_started;
  }

  /// Whether all of the CPU time was the first thread's. Both numbers are exact, but rounded
  /// differently.
  static bool has_one_thread(const ProcessReport& report) {
    constexpr std::int64_t kRounding_ns = 100'000;
    return report.first_ran_ns > 0 &&
           report.cpu_ns - report.first_ran_ns <= report.first_ran_ns / 100 + kRounding_ns;
  }

  void take_report(ProcessOutcome& outcome) const {
    using End = ProcessOutcome::End;
    const ProcessReport report = first_report();
    if (has_one_thread(report)) {
      outcome.queued_s = 1e-9 * static_cast<double>(report.first_queued_ns);
    }
    outcome.code = report.value;
    if (report.kind == ProcessReport::Kind::not_started) {
      outcome.end = End::not_started;
    } else if (WIFEXITED(report.value)) {
      outcome.code = WEXITSTATUS(report.value);
    } else {
      outcome.end = End::killed;
      outcome.code = WTERMSIG(report.value);
    }
  }

  pid_t supervisor_;
  Descriptor output_;
  Descriptor errors_;
  Descriptor reports_;
  Descriptor control_;
  std::string report_bytes_;
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

ProcessOutcome run_process(const ProcessRequest& request, const std::stop_token& stop) {
  Pipe output;
  Pipe errors;
  Pipe reports;
  Pipe control;
  const Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (null.get() < 0 || !output.open() || !errors.open() || !reports.open() || !control.open()) {
    return not_started(errno);
  }
  const std::vector<std::string> environment = environment_with(request.environment);
  const std::vector<char*> argument_pointers = pointers(request.command);
  const std::vector<char*> environment_pointers = pointers(environment);
  const Supervised supervised{.arguments = argument_pointers.data(),
                              .environment = environment_pointers.data(),
                              .folder = request.folder.c_str(),
                              .grace_s = request.grace_s,
                              .input = null.get(),
                              .output = output.write_end.get(),
                              .errors = errors.write_end.get(),
                              .report = reports.write_end.get(),
                              .control = control.read_end.get()};
  const pid_t pid = ::fork();
  if (pid < 0) return not_started(errno);
  if (pid == 0) supervise(supervised);
  for (Pipe* each : {&output, &errors, &reports}) each->write_end.close();
  control.read_end.close();
  Child child(pid, std::move(output), std::move(errors), std::move(reports), std::move(control));
  return child.wait(request, stop);
}

}  // namespace taskbench::harness
