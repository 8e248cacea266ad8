// Runs perf(1) as a program: finds the events that it can count here, counts them, and samples.
//
// Availability is tested, not inferred: on many virtual machines software events work and hardware
// events do not, and permissions depend on more than one setting.
#pragma once

#include <map>

#include "harness/counting/counter_events.hpp"
#include "harness/files/names.hpp"
#include "reports/model/profile.hpp"
#include "reports/perf/stat.hpp"

namespace taskbench::harness {

/// perf cannot be used; what() says why, in a sentence.
struct PerfError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Why perf cannot even be started; empty if it can.
[[nodiscard]] std::string why_no_perf(const std::stop_token& stop);

/// perf's answer when one event was tried.
struct ProbedEvent {
  std::string event;
  std::string unit;
  bool user_only = false;
  std::string unavailable;  ///< why it cannot be counted here; empty if it can
};

/// The counts of one process.
struct PerfOutcome {
  std::vector<perf::PerfCount> counts;
  std::string failure;       ///< a clause that says what went wrong; then there are no counts
  bool stop_trying = false;  ///< the next process would fare no better: it hung, or we must stop
};

class Perf {
 public:
  /// Tries perf and then each request. `scratch` is a folder for its pipes and files.
  Perf(const std::vector<CounterRequest>& requests, fs::path scratch, const std::stop_token& stop);

  [[nodiscard]] const std::string& version() const { return version_; }

  /// Why perf can count nothing at all; empty if it can be used.
  [[nodiscard]] const std::string& unavailable() const { return unavailable_; }

  /// The events in the order of the requests, once each; more often if perf counts one on each kind
  /// of core.
  [[nodiscard]] const std::vector<ProbedEvent>& events() const { return events_; }

  [[nodiscard]] bool counts_any() const { return !arguments_.empty(); }

  /// Runs a taskbench that switches the counters on and off itself; counts all available events.
  [[nodiscard]] PerfOutcome count(const Strings& command, double timeout_s) const;

 private:
  void find_form();
  void probe(const CounterRequest& request);

  /// Records perf's answer for the request; returns true if at least one of its events can be
  /// counted.
  [[nodiscard]] bool add_events(const CounterRequest& request,
                                const std::vector<perf::PerfCount>& counts);
  [[nodiscard]] PerfOutcome ask(const Strings& options, const Strings& command, double timeout_s,
                                const std::string& pipes = {}) const;

  fs::path scratch_;
  std::stop_token stop_;
  std::string pipes_;
  std::string version_;
  std::string unavailable_;
  Strings form_;  // the output format
  std::vector<ProbedEvent> events_;
  Strings arguments_;                           // the -e options of events that can be counted
  std::map<std::string, ProbedEvent> printed_;  // by the name that perf prints
};

/// The workload itself failed under perf, for the reason in what().
struct WorkloadError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Recording {
  model::Profile profile;
  std::string event;       ///< the sampled event
  bool user_only = false;  ///< perf was not permitted to look into the kernel
};

/// Maximum size of a recording on the disk.
[[nodiscard]] double recording_bytes(unsigned frequency, unsigned cpus, double duration_s);

/// Samples a taskbench that switches sampling on and off itself, `frequency` times a second on each
/// CPU: by cycles, or by the clock if the machine cannot count cycles. Calls `waiting` now and
/// then. Throws PerfError, and WorkloadError.
[[nodiscard]] Recording record(const Strings& command, unsigned frequency, double timeout_s,
                               const fs::path& scratch, const std::stop_token& stop,
                               const std::function<void(double elapsed_s)>& waiting);

}  // namespace taskbench::harness
