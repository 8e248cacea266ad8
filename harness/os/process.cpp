#include "harness/os/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "harness/os/descriptor.hpp"
#include "harness/os/supervisor.hpp"

namespace taskbench::harness {
namespace {

constexpr std::size_t kMaxErrorBytes = 1 << 10;
constexpr int kPollInterval_ms = 50;  // delay until `stop` is noticed

/// Pointers for exec, which must be built before fork().
std::vector<char*> pointers(const Strings& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

Strings environment_with(const Strings& additions) {
  const auto name = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  Strings result = additions;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const auto same = [&](const std::string& added) { return name(added) == name(*entry); };
    if (std::ranges::none_of(additions, same)) result.emplace_back(*entry);
  }
  return result;
}

/// A program, and the pipes to it and to its supervisor.
class Child {
 public:
  /// Starts the program; 0 or an errno.
  int start(const ProcessRequest& request) {
    const Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!null.is_open() || !output_.open() || !errors_.open() || !reports_.open() ||
        !control_.open()) {
      return errno;
    }
    const Strings environment = environment_with(request.environment);
    const std::vector<char*> argument_pointers = pointers(request.command);
    const std::vector<char*> environment_pointers = pointers(environment);
    const Supervised supervised{.arguments = argument_pointers.data(),
                                .environment = environment_pointers.data(),
                                .folder = request.folder.c_str(),
                                .grace_s = request.grace_s,
                                .input = null.get(),
                                .output = output_.write_end.get(),
                                .errors = errors_.write_end.get(),
                                .report = reports_.write_end.get(),
                                .control = control_.read_end.get()};
    supervisor_ = ::fork();
    if (supervisor_ < 0) return errno;
    if (supervisor_ == 0) supervise(supervised);
    for (Pipe* each : {&output_, &errors_, &reports_}) {
      each->write_end.close();
      ::fcntl(each->read_end.get(), F_SETFL, O_NONBLOCK);
    }
    control_.read_end.close();
    return 0;
  }

  ProcessOutcome wait(const ProcessRequest& request, const std::stop_token& stop) {
    using End = ProcessOutcome::End;
    const auto start = Clock::now();
    ProcessOutcome outcome;
    outcome.end = End::exited;
    std::array<pollfd, 3> watched{{{reports_.read_end.get(), POLLIN, 0},
                                   {output_.read_end.get(), POLLIN, 0},
                                   {errors_.read_end.get(), POLLIN, 0}}};
    while (watched[0].fd >= 0) {  // while the supervisor exists
      if (outcome.end == End::exited) {
        if (stop.stop_requested()) outcome.end = End::interrupted;
        if (outcome.end == End::exited && seconds_since(start) >= request.timeout_s) {
          read(outcome, watched, request.most_output_bytes);
          if (watched[0].fd < 0) break;  // it has ended while this process was stopped (^Z)
          outcome.end = End::timed_out;
        }
        if (outcome.end != End::exited) ask_to_end(request.grace_s);
      }
      ::poll(watched.data(), watched.size(), kPollInterval_ms);
      read(outcome, watched, request.most_output_bytes);
      if (request.waiting && outcome.end == End::exited) request.waiting(seconds_since(start));
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
    if (grace_s <= 0 || ::write(control_.write_end.get(), &byte, 1) != 1) {
      control_.write_end.close();
    }
  }

  void read(ProcessOutcome& outcome, std::array<pollfd, 3>& watched,
            std::size_t most_output_bytes) {
    const auto take = [](pollfd& from, std::string& into, std::size_t limit, bool keep_the_end) {
      if (from.fd >= 0 && !drain(from.fd, into, limit, keep_the_end))
        from.fd = -1;  // so that poll skips it
    };
    take(watched[0], report_bytes_, 2 * sizeof(ProcessReport), false);
    take(watched[1], outcome.output, most_output_bytes, false);
    take(watched[2], outcome.errors, kMaxErrorBytes, true);
  }

  /// The first report counts: a program that could not be started has also ended.
  [[nodiscard]] ProcessReport first_report() const {
    ProcessReport report{ProcessReport::Kind::ended, SIGKILL};  // if the supervisor was killed
    if (report_bytes_.size() >= sizeof(report)) {
      std::memcpy(&report, report_bytes_.data(), sizeof(report));
    }
    return report;
  }

  [[nodiscard]] bool is_not_started() const {
    return first_report().kind == ProcessReport::Kind::not_started;
  }

  /// Whether all CPU time belongs to the first thread. Both numbers are exact, but rounded
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
    const bool is_not_started = report.kind == ProcessReport::Kind::not_started;
    const ProcessOutcome ended = outcome_of(report.value);
    outcome.end = is_not_started ? End::not_started : ended.end;
    outcome.code = is_not_started ? report.value : ended.code;
  }

  pid_t supervisor_ = -1;
  Pipe output_;
  Pipe errors_;
  Pipe reports_;
  Pipe control_;
  std::string report_bytes_;
};

/// The last line that looks like an error; the last of all if none does.
std::string telling_line(std::string_view text) {
  const std::size_t error = text.rfind("error: ");
  if (error != text.npos) text = text.substr(0, text.find('\n', error));
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
  const std::string line = telling_line(errors);
  return line.empty() ? how : fmt::format("{}: {}", how, line);
}

bool drain(int descriptor, std::string& into, std::size_t limit, bool keep_the_end) {
  // More than a pipe holds; yet several writers may fill it as fast as it is emptied, and whoever
  // empties it has a time limit to keep.
  constexpr int kMostReads = 256;
  std::array<char, 16384> buffer;
  for (int reads = 0; reads < kMostReads; ++reads) {
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
  return true;
}

ProcessOutcome outcome_of(int wait_status) {
  ProcessOutcome outcome;
  const bool is_killed = WIFSIGNALED(wait_status);
  outcome.end = is_killed ? ProcessOutcome::End::killed : ProcessOutcome::End::exited;
  outcome.code = is_killed ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
  return outcome;
}

ProcessOutcome run_process(const ProcessRequest& request, const std::stop_token& stop) {
  Child child;
  if (const int error = child.start(request)) {
    ProcessOutcome outcome;
    outcome.code = error;
    return outcome;
  }
  return child.wait(request, stop);
}

}  // namespace taskbench::harness
