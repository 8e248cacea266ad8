// perf(1), run as a program: which events it can count here, and counting them.
//
// What works is tried, not inferred: on many virtual machines the software events work and those of
// the hardware do not, and what is permitted depends on more than one setting.
#pragma once

#include <map>
#include <stdexcept>

#include "cli/names.hpp"
#include "cli/options/counter_events.hpp"
#include "reports/perf/stat.hpp"

namespace taskbench::cli {

/// A perf that takes longer to say what it can do hangs.
inline constexpr double kProbeTimeout_s = 10;

inline constexpr const char* kPerfMissing =
    "perf is not installed; the package linux-perf brings it (Ubuntu: linux-tools-generic)";

/// Why perf cannot be used, in a sentence.
class PerfError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Makes the pipes by which perf is switched on and off; as its --control takes them. Throws
/// PerfError.
[[nodiscard]] std::string make_perf_pipes(const fs::path& scratch);

/// What perf said of one event when it was tried.
struct ProbedEvent {
  std::string event;
  std::string unit;
  bool user_only = false;
  std::string unavailable;  ///< why it cannot be counted here; empty: it can
};

/// One process under perf.
struct PerfOutcome {
  std::vector<perf::PerfCount> counts;
  std::string failure;       ///< a clause that says what went wrong; then there are no counts
  bool stop_trying = false;  ///< the next process would do no better: it hung, or we are to stop
};

class Perf {
 public:
  /// Tries perf and then each request. `scratch` is a folder for its pipes and files.
  Perf(const std::vector<CounterRequest>& requests, fs::path scratch, const std::stop_token& stop);

  [[nodiscard]] const std::string& version() const { return version_; }
  /// Why perf can count nothing at all; empty when it can be used.
  [[nodiscard]] const std::string& unavailable() const { return unavailable_; }
  /// In the order of the requests, each event once; more often where perf counts it on each kind
  /// of CPU.
  [[nodiscard]] const std::vector<ProbedEvent>& events() const { return events_; }
  [[nodiscard]] bool counts_any() const { return !arguments_.empty(); }

  /// Runs a taskbench that switches the counters on and off itself.
  [[nodiscard]] PerfOutcome count(const Strings& command, double timeout_s) const;

 private:
  struct Answer;

  void find_form();
  void refuse(const CounterRequest& request, const std::string& reason);
  void probe(const CounterRequest& request);
  /// What perf answered for the request; true when there is something in it to be counted.
  [[nodiscard]] bool add_events(const CounterRequest& request,
                                const std::vector<perf::PerfCount>& counts);
  [[nodiscard]] Answer ask(Strings options, const Strings& command, const Strings& environment,
                           double timeout_s) const;

  fs::path scratch_;
  std::stop_token stop_;
  std::string pipes_;
  std::string version_;
  std::string unavailable_;
  Strings form_;  // of the output
  std::vector<ProbedEvent> events_;
  Strings arguments_;                           // the -e of what can be counted
  std::map<std::string, ProbedEvent> printed_;  // by what perf prints of it
};

}  // namespace taskbench::cli
