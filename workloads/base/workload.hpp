// A workload: a name, its parameters, and how to run and verify one iteration.
//
// A workload uses only the public API of runtime/. It knows nothing about timing: harness/bench/
// calls run_iteration() inside the timed loop and verify() after each repetition.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>

namespace taskbench::rt {
class Runtime;
}

namespace taskbench::workloads {

/// Raised when a workload changes its behaviour under the same name and parameters: its times are
/// then not comparable with older ones.
inline constexpr std::string_view kWorkloadsVersion = "1";

/// One constant of a workload, settable with `--param name=value`.
struct Parameter {
  std::string_view name;
  std::uint64_t default_value;
  std::uint64_t min;
  std::uint64_t max;
  std::string_view description;
};

/// The value of every parameter of one workload, by name.
using ParameterValues = std::map<std::string, std::uint64_t, std::less<>>;

/// Observations that a workload makes of itself, by name; the unit is in the name.
using Figures = std::map<std::string, double>;

/// A load generator is missing, has failed, or gives output that cannot be understood: this says
/// nothing about the server.
class LoadError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The request for a run of such a program.
struct LoadRun {
  std::uint16_t port;  ///< on the loopback
  std::uint64_t connections;
  unsigned seconds;
};

/// The report of a run in which every request was answered, without errors.
struct LoadReport {
  std::uint64_t requests = 0;
  double requests_per_s = 0;
  std::map<std::string, double> latency_ns;  ///< "p50", "p99", "slowest"
};

/// A program that replaces the clients of a workload.
struct LoadProgram {
  std::string_view name;
  std::string version;   ///< as it reports itself
  unsigned seconds = 0;  ///< of each of its runs
  /// Runs the program, and blocks the thread meanwhile. Empty if a stop was requested. Throws
  /// LoadError, and std::runtime_error for errors of the server.
  std::function<std::optional<LoadReport>(const LoadRun&, const std::stop_token&)> run;
};

/// A workload with a runtime and parameter values. Used from one thread, which must not be a worker
/// of the runtime; the runtime must outlive it.
class Instance {
 public:
  virtual ~Instance() = default;

  /// Runs the workload once, from the first spawn until the calling thread, which is outside the
  /// scheduler, has been notified that the last task ran.
  virtual void run_iteration() = 0;

  /// The number of iterations that the last call counts as. Under a time-based load, it follows
  /// from the number of requests.
  [[nodiscard]] virtual double iterations() const { return 1; }

  /// Checks that every task of all iterations since the last call ran exactly as often as it
  /// should. Not timed. Returns a description of the error, if any.
  [[nodiscard]] virtual std::optional<std::string> verify() = 0;

  /// The workload's observations, besides its time, in all iterations since the last call: the mean
  /// over iterations, or a quantile of all values, by its name in result files. Not timed. Missing
  /// observations are left out.
  [[nodiscard]] virtual Figures take_figures() { return {}; }
};

/// Workload::make for a class of instances.
template <class T>
std::unique_ptr<Instance> make(rt::Runtime& runtime, const ParameterValues& values) {
  return std::make_unique<T>(runtime, values);
}

struct Workload {
  std::string_view name;
  std::string_view summary;
  std::string_view operation;  ///< name of one elementary operation: "spawn", "ping", "yield"
  std::span<const Parameter> parameters;
  std::uint64_t (*operations)(const ParameterValues&);  ///< elementary operations per iteration
  std::unique_ptr<Instance> (*make)(rt::Runtime&, const ParameterValues&);
  /// Why the workload cannot run here; empty if it can. nullptr: it can run everywhere.
  std::string (*why_not)() = nullptr;
  /// Makes the workload with an external load, which ends early if the token requests it. nullptr:
  /// it has none.
  std::unique_ptr<Instance> (*make_loaded)(rt::Runtime&, const ParameterValues&, const LoadProgram&,
                                           std::stop_token) = nullptr;
};

/// Every workload, in the order in which they are run and listed.
[[nodiscard]] std::span<const Workload> all();

/// The workload of that name, or nullptr.
[[nodiscard]] const Workload* find(std::string_view name);

/// Every parameter of `workload` at its default.
[[nodiscard]] ParameterValues defaults(const Workload& workload);

}  // namespace taskbench::workloads
