#include "workloads/measure/usage.hpp"

#include <sys/resource.h>

#include <array>
#include <cstdint>
#include <utility>

namespace taskbench::workloads::measure {
namespace {

// The names in result files. None is a key of Google Benchmark's JSON, in which counters stand
// inline beside its own.
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

Usage Usage::read(const rt::Runtime& runtime) {
  Usage usage;
  usage.counters = runtime.stats().total();
  rusage process{};
  if (getrusage(RUSAGE_SELF, &process) == 0) {
    usage.voluntary_switches = process.ru_nvcsw;
    usage.involuntary_switches = process.ru_nivcsw;
  }
  return usage;
}

void store_usage(const Usage& before, const Usage& after, reports::model::Repetition& repetition) {
  const auto iterations = static_cast<double>(repetition.iterations);
  for (const auto& [name, member] : kCounters) {
    const std::uint64_t grown = after.counters.*member - before.counters.*member;
    repetition.counters[name] = static_cast<double>(grown) / iterations;
  }
  repetition.counters[reports::model::kVoluntarySwitches] =
      static_cast<double>(after.voluntary_switches - before.voluntary_switches) / iterations;
  repetition.counters[reports::model::kInvoluntarySwitches] =
      static_cast<double>(after.involuntary_switches - before.involuntary_switches) / iterations;
}

}  // namespace taskbench::workloads::measure
