#include "harness/bench/usage.hpp"

#include <sys/resource.h>

#include <array>
#include <cstdint>

#include "harness/os/system_file.hpp"

namespace taskbench::harness {
namespace {

// The names in result files. None is a key of Google Benchmark's JSON, which puts counters beside
// its own keys.
constexpr std::array<std::pair<const char*, std::uint64_t rt::WorkerCounters::*>, 13> kCounters{{
    {"steals", &rt::WorkerCounters::steal_operations},
    {"stolen", &rt::WorkerCounters::stolen_tasks},
    {"parks", &rt::WorkerCounters::parks},
    {"wakeups", &rt::WorkerCounters::unparks},
    {"overflows", &rt::WorkerCounters::overflows},
    {"polls", &rt::WorkerCounters::polls},
    {"lifo_hits", &rt::WorkerCounters::lifo_hits},
    {"local_schedules", &rt::WorkerCounters::local_schedules},
    {"remote_schedules", &rt::WorkerCounters::remote_schedules},
    {"searches", &rt::WorkerCounters::searches},
    {"injector", &rt::WorkerCounters::injector_polls},
    {"yields", &rt::WorkerCounters::yields},
    {"hand_offs", &rt::WorkerCounters::hand_offs},
}};

}  // namespace

std::map<pid_t, ThreadSchedule> read_schedules() {
  std::map<pid_t, ThreadSchedule> schedules;
  std::error_code failed;
  for (const auto& thread : fs::directory_iterator("/proc/self/task", failed)) {
    const std::string line = first_line(thread.path() / "schedstat");
    const auto words = words_of(line);
    if (words.size() < 2) continue;  // the thread has just ended
    const auto id = number<pid_t>(thread.path().filename().string());
    const auto ran = number<std::int64_t>(words[0]);
    const auto queued = number<std::int64_t>(words[1]);
    if (id && ran && queued) schedules[*id] = {*ran, *queued};
  }
  return schedules;
}

std::optional<double> queued_between(const std::map<pid_t, ThreadSchedule>& before,
                                     const std::map<pid_t, ThreadSchedule>& after, double cpu_ns) {
  // The time that a running thread has run since its last tick is not counted yet.
  constexpr double kTick_ns = 1e7;
  double ran_ns = 0;
  double queued_ns = 0;
  for (const auto& [id, schedule] : after) {
    const auto found = before.find(id);
    const ThreadSchedule then = found == before.end() ? ThreadSchedule() : found->second;
    ran_ns += static_cast<double>(schedule.ran_ns - then.ran_ns);
    queued_ns += static_cast<double>(schedule.queued_ns - then.queued_ns);
  }
  if (ran_ns <= 0 || ran_ns + kTick_ns < 0.95 * cpu_ns) return std::nullopt;
  return queued_ns;
}

Usage Usage::read(const rt::Runtime& runtime) {
  Usage usage;
  usage.counters = runtime.stats().total();
  rusage process{};
  if (getrusage(RUSAGE_SELF, &process) == 0) {
    usage.voluntary_switches = process.ru_nvcsw;
    usage.involuntary_switches = process.ru_nivcsw;
    usage.cpu_ns = 1e9 * (seconds_of(process.ru_utime) + seconds_of(process.ru_stime));
  }
  return usage;
}

void store_usage(const Usage& before, const Usage& after, model::Repetition& repetition) {
  const auto iterations = static_cast<double>(repetition.iterations);
  for (const auto& [name, member] : kCounters) {
    const std::uint64_t grown = after.counters.*member - before.counters.*member;
    repetition.counters[name] = static_cast<double>(grown) / iterations;
  }
  repetition.counters[model::kVoluntarySwitches] =
      static_cast<double>(after.voluntary_switches - before.voluntary_switches) / iterations;
  repetition.counters[model::kInvoluntarySwitches] =
      static_cast<double>(after.involuntary_switches - before.involuntary_switches) / iterations;
}

}  // namespace taskbench::harness
