// Times workloads through Google Benchmark and returns every repetition.
//
// Repetitions of different cases are interleaved at random (seeded), after a warm-up, so that slow
// drift of the machine affects all cases alike. Real time and the CPU time of the whole process are
// measured. Not thread-safe: Google Benchmark's registry is global, so one measure() at a time.
#pragma once

#include <cstdint>
#include <map>

#include "harness/os/names.hpp"
#include "reports/model/run.hpp"
#include "runtime/ladder.hpp"
#include "runtime/runtime.hpp"
#include "workloads/base/workload.hpp"

namespace taskbench::harness {

/// The schedulers that can be measured, and where to find them: all that the runtime has.
using Scheduler = rt::SchedulerInfo;
using rt::find_scheduler;
using rt::ladder;
using rt::schedulers;
using rt::schedulers_and_rungs;

/// One workload on one scheduler with one worker count.
struct Case {
  const workloads::Workload* workload = nullptr;
  const Scheduler* scheduler = nullptr;
  unsigned workers = 1;
  workloads::ParameterValues
      parameters;  ///< complete: one value for each parameter of the workload
  std::optional<workloads::LoadProgram> load{};  ///< in place of the workload's own clients

  /// Google Benchmark's name: "chained_spawn/work_stealing/workers:2", followed by "/name:value"
  /// for every parameter that is not at its default, and "/load:wrk" under such a load.
  [[nodiscard]] std::string name() const;
};

struct Settings {
  std::int64_t repetitions = 9;
  double min_time_s = 0.1;              ///< of one repetition
  double warmup_s = 0.1;                ///< of one case, before its first repetition
  std::optional<double> time_budget_s;  ///< of the whole run; if set, determines min_time_s
  std::uint64_t seed = 1;
  /// Iterations of a repetition, by the name of the case; cases that are not listed get the count
  /// that takes min_time_s. For runs that are compared, since different counts bias the mean. A
  /// listed case of a repeatable scheduler is not warmed up by the clock either, or it would not be
  /// repeatable. Not together with time_budget_s.
  std::map<std::string, std::int64_t> iterations;
  bool pin = false;  ///< bind worker i to the i-th CPU that this process may use
};

struct Progress {
  std::string_view case_name;         ///< the case being run; empty when all are done
  std::int64_t repetitions_done = 0;  ///< over all cases
  std::int64_t repetitions_total = 0;
  double elapsed_s = 0;
  std::optional<double> remaining_s;  ///< estimate; empty until there is one
};

struct Result {
  std::vector<model::Case> cases;  ///< in the given order
  bool interrupted = false;
  std::int64_t repetitions_left = 0;  ///< of all cases, that did not fit into the time budget
  double min_time_s = 0;              ///< as used
  double warmup_s = 0;                ///< as used: a short time budget shrinks the warm-up
};

/// Measures every case. `stop` may be requested by a signal handler: the current iteration is
/// finished, the current repetition is dropped, and all that is complete is returned. `progress` is
/// called on the calling thread, at each change and at most a few times a second.
[[nodiscard]] Result measure(std::span<const Case> cases, const Settings& settings,
                             const std::function<void(const Progress&)>& progress,
                             const std::stop_token& stop);

}  // namespace taskbench::harness
