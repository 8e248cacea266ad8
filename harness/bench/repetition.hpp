// One case, prepared to run, and its repetitions, timed by Google Benchmark.
//
// measure() decides which repetition runs when, and with how many iterations. So Google Benchmark,
// which does the timing, has one benchmark with one repetition registered at a time.
//
// Used from one thread: the one that workloads call the thread outside.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "harness/bench/counting_region.hpp"
#include "harness/bench/measure.hpp"
#include "harness/bench/usage.hpp"
#include "reports/model/run.hpp"
#include "runtime/runtime.hpp"

namespace benchmark {
class State;
}

namespace taskbench::harness {

/// A case with its own runtime, which lives until all its repetitions are done: a new one for each
/// repetition would time cold caches and new threads. In the meantime, the workers of other cases'
/// runtimes are parked and cost only memory.
class PreparedCase {
 public:
  /// Builds the runtime and the workload. Never throws: errors end up in failed().
  PreparedCase(const Case& spec, const Settings& settings, const std::stop_token& stop);
  ~PreparedCase();
  PreparedCase(const PreparedCase&) = delete;
  PreparedCase& operator=(const PreparedCase&) = delete;

  /// Runs the case for at least `warmup_s`, then for `calibration_s` to measure how long an
  /// iteration takes.
  void warm_up(double warmup_s, double calibration_s);

  /// Runs the case for at least `warmup_s` without measuring: its iterations are given.
  void warm_up(double warmup_s);

  /// Gives every repetition the iteration count that takes `seconds`: one count for all of them,
  /// since different counts bias the mean. Call it after warm_up().
  void fix_iterations(double seconds);

  /// Like fix_iterations(), with a given count. Under a time-based load, neither has an effect.
  void set_iterations(std::int64_t iterations);

  /// Times one repetition and adds it to the result, unless the case fails or `stop` is set.
  void run_repetition();

  /// Whether the case gave a wrong result, or threw. It then takes part in nothing further.
  [[nodiscard]] bool failed() const { return !result_.error.empty(); }

  /// Whether the scheduler does the same in every run.
  [[nodiscard]] bool is_repeatable() const { return repeatable_; }

  [[nodiscard]] std::int64_t repetitions_done() const;

  /// Expected duration of one repetition, including its untimed beginning. 0 before
  /// fix_iterations().
  [[nodiscard]] double repetition_s() const;

  [[nodiscard]] const std::string& name() const { return result_.name; }

  /// The result, which can be taken before the destructor shuts down the runtime.
  [[nodiscard]] model::Case take_result() { return std::move(result_); }

 private:
  struct Length;

  void build(const Case& spec, const Settings& settings);
  std::optional<model::Repetition> time(const Length& length);
  void body(benchmark::State& state);
  void iterate(benchmark::State& state);
  void fail(std::string_view how);

  std::stop_token stop_;
  model::Case result_;
  std::vector<unsigned> cpus_;  // to bind threads to; empty: not bound
  std::atomic<bool> binding_failed_{false};
  bool bind_caller_ = false;
  bool repeatable_ = false;
  bool by_time_ = false;  // under a time-based load, one run of it is a repetition
  std::optional<rt::Runtime> runtime_;
  std::unique_ptr<workloads::Instance> instance_;
  std::string failure_;  // caught by body()
  double iteration_s_ = 0;
  std::int64_t iterations_ = 0;
  std::int64_t untimed_iterations_ = 0;
  std::unique_ptr<CountingRegion> counted_;  // around the timed loop; none in its own run
  Usage before_;                             // around the timed loop that ran last
  Usage after_;
  std::optional<double> queued_ns_;  // of its threads during the loop
  workloads::Figures figures_;
};

/// Shields Google Benchmark from flags in environment variables with names as common as V. Call
/// this before the first repetition.
void initialize_google_benchmark();

}  // namespace taskbench::harness
