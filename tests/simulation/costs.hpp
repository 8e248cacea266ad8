// The costs of operations on the simulated machine, and what the time is attributed to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace sim {

/// Nanoseconds of simulated time.
using Ns = double;

/// What a core spends its time on.
enum class Share : std::uint8_t {
  task,       ///< the work of the tasks: all that an ideal pool would do
  runtime,    ///< polls and spawns, and lines of tasks that have moved to another core
  workers,    ///< lines of other workers: probing their queues, stealing from them
  injector,   ///< its lines, and waiting for its mutex
  idle_word,  ///< the lines of Idle, and waiting for its mutex
  fences,     ///< full and heavy fences, and interruptions by those of others
  waking,     ///< system calls that wake or sleep, and the lines of the driver
  searching,  ///< clocks and pauses between two looks
  asleep,
};
inline constexpr std::size_t kShares = 9;
using Spent = std::array<Ns, kShares>;

[[nodiscard]] constexpr std::size_t index_of(Share share) {
  return static_cast<std::size_t>(share);
}

/// In nanoseconds, for a server without a hypervisor. Costs that show on two CPUs of a virtual
/// machine were measured (taskbench_many_cores measure); those that do not, or that a hypervisor
/// raises, are assumptions. docs/design/many_cores.md says which.
struct Costs {
  Ns access = 0.3;
  Ns locked = 5.5;
  Ns line = 100;
  Ns line_near = 35;
  Ns line_remote = 220;
  Ns probe = 100;
  Ns data = 0;
  Ns poll = 2;
  Ns spawn = 17;
  Ns clock = 25;
  Ns pause = 18;
  Ns sleep = 1'000;
  Ns wake = 1'500;
  Ns latency = 6'000;
  Ns thread = 20'000;
  Ns barrier = 400;
  Ns barrier_first = 1'500;
  Ns barrier_each = 100;
  Ns interrupt = 700;
};

/// A cost that can be set by name.
struct CostRow {
  std::string_view name;
  Ns Costs::*value;
  std::string_view what;
};

inline constexpr std::array kCostRows{
    CostRow{"access", &Costs::access, "an atomic load or store of a line that the core has"},
    CostRow{"locked", &Costs::locked, "a locked instruction on such a line, a full fence"},
    CostRow{"line", &Costs::line, "a line that another core has written"},
    CostRow{"line_near", &Costs::line_near, "the same, with --cluster, inside a cluster"},
    CostRow{"line_remote", &Costs::line_remote, "the same, with --socket, from another socket"},
    CostRow{"probe", &Costs::probe, "as line, where it is a load of another worker's line"},
    CostRow{"data", &Costs::data, "what a stolen task waits for its own data; as far as a line"},
    CostRow{"poll", &Costs::poll, "a poll, beside what is counted here"},
    CostRow{"spawn", &Costs::spawn, "making and spawning a task, beside what is counted here"},
    CostRow{"clock", &Costs::clock, "reading the clock"},
    CostRow{"pause", &Costs::pause, "a pause in a loop that spins"},
    CostRow{"sleep", &Costs::sleep, "the system call that sleeps, until the core is given up"},
    CostRow{"wake", &Costs::wake, "the system call that wakes, for its caller"},
    CostRow{"latency", &Costs::latency, "from that call until the sleeper runs"},
    CostRow{"thread", &Costs::thread, "until a new thread runs"},
    CostRow{"barrier", &Costs::barrier, "membarrier, while no other core runs the process"},
    CostRow{"barrier_first", &Costs::barrier_first, "what it takes longer for the first that does"},
    CostRow{"barrier_each", &Costs::barrier_each, "what it takes longer for each further one"},
    CostRow{"interrupt", &Costs::interrupt, "what it takes from each core that it interrupts"},
};

/// Distances between cores. Workers fill one cluster after the other.
struct Topology {
  std::uint32_t cluster = 0;  ///< cores that share a last-level cache; 0: distance does not matter
  std::uint32_t socket = 0;   ///< cores of a socket, a multiple of `cluster`; 0: all
};
/// The smallest unit that two cores share.
enum class Distance : std::uint8_t { cluster, socket, machine };
inline constexpr std::size_t kDistances = 3;

/// Changes to the scheduler, to see what they would gain.
struct Changes {
  /// The number of workers that may search. 0: half of them, as in the scheduler; kRoot: the square
  /// root of their number.
  std::uint32_t searchers = 0;
  static constexpr std::uint32_t kRoot = UINT32_MAX;
  /// A worker that has found work wakes another while fewer than this many search.
  std::uint32_t enough = 1;
  /// A bitmap says which queues are not empty, instead of a look at each.
  bool bitmap = false;
  /// The number of workers that share an injector; 0: all.
  std::uint32_t workers_per_injector = 0;
  /// How often a thread looks at a held mutex, with a pause each time, before it sleeps.
  std::uint32_t spins = 0;
  /// A thread that wants tasks from an injector passes by if another one is taking.
  bool tries = false;
  /// A busy worker waits at the injector like everybody else, as it did before it passed by.
  bool waits = false;
  /// The number of polls between two looks of a busy worker at the injector.
  std::uint32_t interval = 61;
  /// The fences: weighed by FenceBalance; weighed by how many cores a heavy one interrupts; always
  /// full; with a thief's heavy fence interrupting only its victim; or with one heavy fence for all
  /// threads that came before it began.
  enum class Fences : std::uint8_t { balance, weighted, even, targeted, shared };
  Fences fences = Fences::balance;
  /// What costs nothing: the most that a remedy for it can gain.
  std::optional<Share> free = std::nullopt;
  /// The workers of a cluster share an injector.
  bool injector_of_cluster = false;
  /// All cores are as near as those of one cluster: the most that good placement can gain.
  bool all_near = false;
};

}  // namespace sim
