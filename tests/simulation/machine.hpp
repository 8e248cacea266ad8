// The simulated machine: cores, each with a clock of its own, all on one OS thread.
//
// A core runs a thread of the program, on a stack of its own. Before an access that others can
// notice, it yields until its clock is the earliest: accesses therefore happen in the order of the
// clocks, and a run depends only on the program. Accesses go to real memory; only their cost is
// simulated, and depends on which cores hold the line:
//
//   load     of a line that this core does not hold: waits for the line
//   store    likewise, but the core does not wait: the store is buffered, as on x86
//   locked   waits for all earlier stores, and for the line
//
// A line makes one move after the other, so a line that many cores write at once costs each of them
// more. A line that nobody has held costs nothing, as fresh memory is prefetched.
//
// With a Topology, the cost of a move depends on the distance: a load takes the line from its
// nearest holder, and a write waits until the farthest holder has dropped it.
//
// Threads: one. Outside Machine::run() everything is free, and there is one core.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "tests/model/mc/fiber.hpp"
#include "tests/simulation/costs.hpp"

namespace sim {

inline constexpr std::uint32_t kMostCores = 384;
inline constexpr Ns kNever = 1e18;

/// A thread of the program, and the core that it has to itself.
struct Core {
  enum class State : std::uint8_t { runs, blocked, ended };

  std::uint32_t index = 0;
  State state = State::runs;
  Ns now = 0;
  Ns stores_done = 0;              // when the last of its buffered stores completes
  Ns interrupted = 0;              // by heavy fences of others; not counted yet
  Spent spent{};                   // until `now`
  std::array<void*, 24> locals{};  // its thread-local variables

  // While it is blocked:
  const void* waits_for = nullptr;
  Share waits_as = Share::asleep;
  std::uint64_t turn = 0;  // the valid one of its entries in the queue of turns
  bool in_time = true;

  /// What the next critical section copies or walks, evaluated once inside.
  const std::function<Ns()>* section = nullptr;

  /// The only core that its heavy fence is meant for, if there is one.
  std::optional<std::uint32_t> fence_for;

  std::function<void()> body;
  mc::Context context;
};

class Machine {
 public:
  Machine(const Costs& costs, const Changes& changes, const Topology& topology);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Runs `body` as the first thread; all threads it starts must have ended when it returns.
  void run(std::function<void()> body);

  [[nodiscard]] const Costs& costs() const { return costs_; }
  [[nodiscard]] const Changes& changes() const { return changes_; }
  [[nodiscard]] const Topology& topology() const { return topology_; }

  /// How far apart two cores are. The first core is the program's, which mostly sleeps; it counts
  /// as the first worker's neighbour.
  [[nodiscard]] Distance distance(std::uint32_t one, std::uint32_t other) const;
  /// The cost of moving a line between two cores, if it is `cost` between clusters of one socket.
  [[nodiscard]] Ns from_afar(Ns cost, std::uint32_t one, std::uint32_t other) const;

  // Operations of the running core.
  void spend(Share share, Ns time);
  void load(const void* address);
  void store(const void* address);
  void locked(const void* address);
  /// The line is on its way: the next access does not wait.
  void prefetch(const void* address);
  void full_fence();
  void heavy_fence();
  /// Yields until no other core is behind.
  void give_way();
  /// The system call, up to its check whether to sleep.
  void begin_to_sleep(Share share);
  /// Sleeps until wake_one() or `deadline`; returns false for the latter.
  [[nodiscard]] bool block(const void* address, Share share, Ns deadline);
  void wake_one(const void* address, Share share);
  std::uint32_t start(std::function<void()> body);
  void join(std::uint32_t core);

  /// Attributes the lines of an object to `share`.
  void name(const void* object, std::size_t bytes, Share share);
  [[nodiscard]] Share share_of(const void* address) { return line(address).share; }
  /// The number of cores that are not asleep.
  [[nodiscard]] std::uint32_t running() const { return running_; }
  [[nodiscard]] std::uint64_t heavy_fences() const { return heavy_fences_; }
  /// Notes that the running core has stolen from core `from`.
  void count_theft(std::uint32_t from);
  /// Indexed by distance.
  [[nodiscard]] const std::array<std::uint64_t, kDistances>& thefts() const { return thefts_; }
  /// What each core has spent so far, by its own clock or, while it sleeps, by the caller's.
  [[nodiscard]] std::vector<Spent> spent() const;

 private:
  struct Line {
    std::uintptr_t number = 0;
    Ns free_at = 0;            // when its last move ends
    std::int32_t writer = -1;  // the only holder; -1: none, or maybe several
    Share share = Share::runtime;
    std::array<std::uint64_t, kMostCores / 64> holders{};
  };
  /// When a core is to continue. At equal times, the first one queued is first.
  struct Turn {
    Ns at;
    std::uint32_t core;
    std::uint64_t turn;
    bool operator>(const Turn& other) const {
      return at != other.at ? at > other.at : turn > other.turn;
    }
  };

  [[nodiscard]] Line& line(const void* address);
  void grow();
  [[nodiscard]] static bool has(const Line& line, std::uint32_t core) {
    return ((line.holders[core / 64] >> (core % 64)) & 1) != 0;
  }
  [[nodiscard]] bool owns(const Line& line) const;
  enum class Access : std::uint8_t { reads, writes };
  [[nodiscard]] Ns move_cost(const Line& line, Ns cost, Access access) const;
  [[nodiscard]] Ns scaled(Ns cost, Distance distance) const;
  void take(Line& line, Ns done);
  void queue(Core& core, Ns at);
  void go_on();
  void switch_to(Core& core);
  static void enter();

  const Costs costs_;
  const Changes changes_;
  const Topology topology_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;
  std::vector<Line> lines_;  // by the hash of their numbers; 0: free
  std::size_t line_count_ = 0;
  std::uint64_t turn_count_ = 0;
  std::uint32_t running_ = 0;
  Ns barrier_begins_at_ = 0;  // the last one
  Ns barrier_free_at_ = 0;    // the kernel admits one membarrier at a time
  std::uint64_t heavy_fences_ = 0;
  std::array<std::uint64_t, kDistances> thefts_{};
  mc::Context home_;
};

/// The running machine, and its running core.
inline Machine* machine = nullptr;
inline Core outside;
inline Core* current = &outside;

inline void load(const void* address) {
  if (machine != nullptr) machine->load(address);
}
inline void store(const void* address) {
  if (machine != nullptr) machine->store(address);
}
inline void locked(const void* address) {
  if (machine != nullptr) machine->locked(address);
}
inline void spend(Share share, Ns time) {
  if (machine != nullptr) machine->spend(share, time);
}
/// For loops that wait for another core.
inline void spend_and_give_way(Share share, Ns Costs::*cost) {
  if (machine == nullptr) return;
  machine->spend(share, machine->costs().*cost);
  machine->give_way();
}

}  // namespace sim
