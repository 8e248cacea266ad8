#include "harness/bench/command_bench.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <memory>

#include "harness/bench/order.hpp"
#include "harness/os/descriptor.hpp"
#include "harness/os/process.hpp"

namespace taskbench::harness {
namespace {

constexpr int kBetweenLooks_ms = 100;
constexpr std::int64_t kMostIterations = 1'000'000;

constexpr double kKiB = 1024;
constexpr const char* kNothing = "/dev/null";
constexpr int kToWrite = O_WRONLY | O_CREAT | O_TRUNC;
/// Mode of new files: everything that the umask permits.
constexpr mode_t kForAll = 0666;
constexpr const char* kPeakMemory = "peak_memory_bytes";  // of the largest process

/// This process's peak memory so far. A child's peak starts there, so a lower one is invisible.
double own_peak_bytes() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return kKiB * static_cast<double>(used.ru_maxrss);
}

/// How a command is started: in its own session, so that no terminal can be read from or stop it.
class Start {
 public:
  /// The command reads `input`; its output goes to `output`, unless that is empty, and its standard
  /// error to `errors`, or nowhere.
  Start(const fs::path& input, const fs::path& output, int errors = -1) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, input.c_str(), O_RDONLY, 0);
    if (!output.empty()) {
      ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, output.c_str(), kToWrite,
                                         kForAll);
    }
    if (errors < 0) {
      ::posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, kNothing, O_WRONLY, 0);
    } else {
      ::posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
    }
    ::posix_spawnattr_init(&attributes_);
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    ::sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::posix_spawnattr_setflags(&attributes_,
                               POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Start() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }
  Start(const Start&) = delete;
  Start& operator=(const Start&) = delete;

  /// Returns errno, or 0.
  int operator()(char* const* words, pid_t& pid) const {
    return ::posix_spawnp(&pid, words[0], &actions_, &attributes_, words, environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// A command's standard error, of which the end is kept.
struct Errors {
  Errors() {
    if (pipe.open()) ::fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK);
  }

  /// Reads all that is available, so that the command can go on.
  void drain() { harness::drain(pipe.read_end.get(), text, 1024, true); }

  Pipe pipe;
  std::string text;
};

/// A command and its result so far.
class PreparedCommand {
 public:
  PreparedCommand(const TimedCommand& command, const Settings& settings,
                  const std::stop_token& stop)
      : command_(command), settings_(settings), stop_(stop) {
    result_.name = command.name;
  }

  [[nodiscard]] const model::Case& result() const { return result_; }
  [[nodiscard]] model::Case take_result() { return std::move(result_); }

  /// Duration of a repetition, including what comes before and after each run.
  [[nodiscard]] double repetition_s() const {
    return whole_run_s_ * static_cast<double>(iterations_);
  }

  /// Runs it once to see whether it works, and then, unless its iterations are given, for as long
  /// as the settings say, to find the number of iterations of a repetition.
  void prepare() {
    if (!run_beside("--setup", command_.setup)) return;
    Errors errors;
    auto begin = Clock::now();
    if (!run_once(Start(command_.input, command_.output, errors.pipe.write_end.get()), &errors))
      return;
    if (const auto given = settings_.iterations.find(result_.name);
        given != settings_.iterations.end()) {
      whole_run_s_ = seconds_since(begin);
      iterations_ = given->second;
      return;
    }
    begin = Clock::now();
    double sum_s = 0;
    int runs = 0;
    do {
      const auto once = run_once(start_);
      if (!once) return;
      sum_s += once->real_ns / 1e9;
      ++runs;
    } while (seconds_since(begin) < settings_.warmup_s);
    whole_run_s_ = seconds_since(begin) / runs;
    iterations_ = std::clamp<std::int64_t>(std::llround(settings_.min_time_s * runs / sum_s), 1,
                                           kMostIterations);
  }

  void run_repetition() {
    model::Repetition mean{.index = static_cast<std::int64_t>(result_.repetitions.size()),
                           .iterations = iterations_};
    for (std::int64_t i = 0; i < iterations_; ++i) {
      const auto once = run_once(start_);
      if (!once) return;
      mean.real_ns += once->real_ns;
      mean.cpu_ns += once->cpu_ns;
      for (const auto& [name, value] : once->counters) mean.counters[name] += value;
    }
    const auto runs = static_cast<double>(iterations_);
    mean.real_ns /= runs;
    mean.cpu_ns /= runs;
    for (auto& [name, value] : mean.counters) value /= runs;
    if (mean.counters[kPeakMemory] <= own_peak_bytes()) mean.counters.erase(kPeakMemory);
    result_.repetitions.push_back(std::move(mean));
  }

 private:
  /// Fails the command, for a reason that follows its name.
  std::nullopt_t fail(std::string why) {
    result_.error = std::move(why);
    return std::nullopt;
  }

  /// Whether the file that an option names may be read or written. Does not open it: it may be a
  /// pipe.
  bool may_use(std::string_view option, const fs::path& file, int access) {
    bool may = ::access(file.c_str(), access) == 0;
    std::error_code ignored;
    if (may && access == W_OK && fs::is_directory(file, ignored)) {
      may = false;
      errno = EISDIR;
    } else if (!may && errno == ENOENT && access == W_OK) {
      const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
      may = ::access(folder.c_str(), W_OK) == 0;
    }
    if (!may) fail(fmt::format("{} {}: {}", option, file.string(), std::strerror(errno)));
    return may;
  }

  /// Fails the command, of which a run could not be started. The files that options name are looked
  /// at only now, since what runs before may have made them.
  std::nullopt_t fail_start(const ProcessOutcome& outcome) {
    if (!may_use("--input", command_.input, R_OK)) return std::nullopt;
    if (!command_.output.empty() && !may_use("--output", command_.output, W_OK)) {
      return std::nullopt;
    }
    return fail(fmt::format("'{}' {}", command_.words.front(), outcome.text()));
  }

  /// Runs the command that an option adds to each run, if any; false if that failed or a stop was
  /// requested.
  bool run_beside(std::string_view option, const Strings& words) {
    if (words.empty()) return true;
    Errors errors;
    ProcessOutcome ended =
        run(words, Start(kNothing, kNothing, errors.pipe.write_end.get()), &errors).ended;
    if (stop_.stop_requested()) return false;
    if (ended.ok()) return true;
    ended.errors = std::move(errors.text);
    fail(fmt::format("{} {}", option, ended.text()));
    return false;
  }

  /// The time and resources of one run, including the children that it waited for. Empty if it
  /// failed, which the result then says, or if a stop was requested.
  std::optional<model::Repetition> run_once(const Start& start, Errors* errors = nullptr) {
    if (!run_beside("--prepare", command_.prepare)) return std::nullopt;
    Run once = run(command_.words, start, errors);
    if (stop_.stop_requested()) return std::nullopt;
    const bool may_be = command_.may_fail && once.ended.end == ProcessOutcome::End::exited;
    if (once.ended.end == ProcessOutcome::End::not_started) return fail_start(once.ended);
    if (!once.ended.ok() && !may_be) {
      if (errors != nullptr) once.ended.errors = errors->text;
      return fail(once.ended.text());
    }
    if (!run_beside("--conclude", command_.conclude)) return std::nullopt;
    if (command_.may_fail) once.took.counters["exit_status"] = once.ended.code;
    return once.took;
  }

  struct Run {
    ProcessOutcome ended;
    model::Repetition took;
  };

  Run run(Strings words, const Start& start, Errors* errors) const {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    Run result;
    pid_t pid = 0;
    const auto begin = Clock::now();
    if (const int error = start(pointers.data(), pid); error != 0) {
      result.ended.code = error;
      return result;
    }
    const bool in_time = wait_for(pid, errors);
    const double took_s = seconds_since(begin);
    ::kill(-pid, SIGKILL);  // its remains; its number is its own until it is reaped
    int status = 0;
    rusage used{};
    while (::wait4(pid, &status, 0, &used) < 0 && errno == EINTR) {
    }
    result.ended = outcome_of(status);
    if (!in_time) result.ended.end = ProcessOutcome::End::timed_out;
    result.took = {
        .iterations = 1,
        .real_ns = 1e9 * took_s,
        .cpu_ns = 1e9 * (seconds_of(used.ru_utime) + seconds_of(used.ru_stime)),
        .counters = {{"user_ns", 1e9 * seconds_of(used.ru_utime)},
                     {"system_ns", 1e9 * seconds_of(used.ru_stime)},
                     {kPeakMemory, kKiB * static_cast<double>(used.ru_maxrss)},
                     {"minor_faults", static_cast<double>(used.ru_minflt)},
                     {"major_faults", static_cast<double>(used.ru_majflt)},
                     {model::kVoluntarySwitches, static_cast<double>(used.ru_nvcsw)},
                     {model::kInvoluntarySwitches, static_cast<double>(used.ru_nivcsw)}}};
    return result;
  }

  /// Waits for the end of the command; kills it and returns false on a stop request or a timeout.
  bool wait_for(pid_t pid, Errors* errors) const {
    const auto begin = Clock::now();
    const double timeout_s = command_.timeout_s > 0 ? command_.timeout_s : HUGE_VAL;
    bool in_time = true;
    const Descriptor ended(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    std::array<pollfd, 2> watched{
        {{ended.get(), POLLIN, 0},
         {errors == nullptr ? -1 : errors->pipe.read_end.get(), POLLIN, 0}}};
    while (ended.is_open() && watched[0].revents == 0) {
      const double left_ms = in_time ? 1e3 * (timeout_s - seconds_since(begin)) : HUGE_VAL;
      const double wait_ms = std::clamp(std::ceil(left_ms), 0.0, double{kBetweenLooks_ms});
      ::poll(watched.data(), watched.size(), static_cast<int>(wait_ms));
      if (errors != nullptr) errors->drain();
      if (watched[0].revents == 0 && seconds_since(begin) >= timeout_s) in_time = false;
      if (!in_time || stop_.stop_requested()) ::kill(-pid, SIGKILL);
    }
    siginfo_t ignored{};  // without pidfds (before Linux 5.3): until it ends by itself
    while (::waitid(P_PID, static_cast<id_t>(pid), &ignored, WEXITED | WNOWAIT) != 0 &&
           errno == EINTR) {
      if (stop_.stop_requested()) ::kill(-pid, SIGKILL);
    }
    return in_time;
  }

  const TimedCommand& command_;
  const Settings& settings_;
  const std::stop_token& stop_;
  const Start start_{command_.input, command_.output};
  model::Case result_;
  double whole_run_s_ = 0;  // including what comes before and after
  std::int64_t iterations_ = 1;
};

}  // namespace

Result measure_commands(std::span<const TimedCommand> commands, const Settings& settings,
                        const std::function<void(const Progress&)>& progress,
                        const std::stop_token& stop) {
  const auto begin = Clock::now();
  Progress now;
  now.repetitions_total = settings.repetitions * static_cast<std::int64_t>(commands.size());
  const auto show = [&](std::string_view name) {
    now.case_name = name;
    now.elapsed_s = seconds_since(begin);
    progress(now);
  };
  std::vector<std::unique_ptr<PreparedCommand>> prepared;
  for (const TimedCommand& command : commands) {
    show(command.name);
    prepared.push_back(std::make_unique<PreparedCommand>(command, settings, stop));
    if (!stop.stop_requested()) prepared.back()->prepare();
  }
  const auto turns =
      each_of(interleaved_order(prepared.size(), settings.repetitions, settings.seed),
              [&](std::size_t place) { return prepared[place].get(); });
  double left_s = 0;
  for (const PreparedCommand* each : turns) left_s += each->repetition_s();
  for (PreparedCommand* each : turns) {
    now.remaining_s = left_s;
    show(each->result().name);
    if (stop.stop_requested()) break;
    if (each->result().error.empty()) each->run_repetition();
    left_s -= each->repetition_s();
    ++now.repetitions_done;
  }
  show("");
  Result result;
  result.interrupted = stop.stop_requested();
  result.min_time_s = settings.min_time_s;
  result.warmup_s = settings.warmup_s;
  for (const auto& each : prepared) result.cases.push_back(each->take_result());
  return result;
}

}  // namespace taskbench::harness
