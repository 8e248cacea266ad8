// The tester's state: what an execution has done, and which executions are still to be run. Only
// for the tester's own sources.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tests/model/mc/arena.hpp"
#include "tests/model/mc/engine.hpp"
#include "tests/model/mc/fiber.hpp"
#include "tests/model/mc/vector_clock.hpp"

namespace mc {

/// How far the clock advances between two looks: enough that a loop of a few microseconds ends
/// soon.
inline constexpr std::int64_t kClockStep_ns = 10'000;

/// The most alternatives of a choice of a number: what Node::count holds.
inline constexpr int kMostAlternatives = 255;

inline constexpr int kNoThread = -1;
inline constexpr int kWhole = -1;  // parent of a part that was not split off from another
inline constexpr std::uint32_t kNowhere = UINT32_MAX;

using Threads = std::uint32_t;  // a bit set
using Tick = std::uint16_t;
using Index = std::uint32_t;

constexpr Threads only(int thread) { return Threads{1} << thread; }
constexpr int first_of(Threads set) { return std::countr_zero(set); }

// --- what partial-order reduction needs to know about an operation

/// Something through which two operations depend on each other.
///
/// For an atomic without seq_cst, the order matters only if a read comes before a write that it
/// could read otherwise. In every other order, the second operation can still take the place in the
/// modification order, or read the value, that it would have had as the first. For anything
/// `exact`, the order matters if one of the two writes.
struct Dependence {
  Index object = 0;
  bool reads = false;
  bool writes = false;
  bool exact = false;
};

enum class Kind : std::uint8_t {
  start,
  load,
  store,
  modify,
  compare_exchange,
  await,
  fence,
  lock,
  try_lock,
  wait,
  sleep,
  notify,
  yield,
  spawn,
  join,
  choose,
};

[[nodiscard]] const char* name_of(Kind kind);

/// Whether the thread learns what others have done.
[[nodiscard]] constexpr bool is_a_look(Kind kind) {
  switch (kind) {
    case Kind::start:
    case Kind::store:
    case Kind::fence:
    case Kind::notify:
    case Kind::yield:
    case Kind::spawn:
    case Kind::choose:
      return false;
    default:
      return true;
  }
}

/// What a thread is about to do.
struct Operation {
  Kind kind = Kind::start;
  std::uint8_t dependences = 0;
  Dependence on[3];
  Index place = kNowhere;
  int target = kNoThread;     ///< of a join
  bool may_time_out = false;  ///< of a sleep
  Where where;

  void depends(Index object, bool writes) { on[dependences++] = {object, true, writes, true}; }
};

/// Whether the outcome may differ if the second comes first.
[[nodiscard]] constexpr bool conflict(const Dependence& first, const Dependence& second) {
  if (first.exact || second.exact) return first.writes || second.writes;
  return first.reads && second.writes;
}
[[nodiscard]] bool conflict(const Operation& first, const Operation& second);

struct Object {
  struct Event {
    int thread;
    Tick tick;
    Dependence how;
    bool unlocks = false;  ///< matters to a try_lock that may come before
  };
  std::vector<Event> events;  ///< since the last exact write
  VectorClock written;        ///< the writes so far, and what precedes them
  VectorClock read;           ///< the reads so far, and what precedes them
  VectorClock written_exactly;
  VectorClock read_exactly;

  void begin() {
    events.clear();
    written = read = written_exactly = read_exactly = {};
  }
};

// --- what the memory model needs to know

/// What a thread knows, or passes on with a store.
struct Knowledge {
  VectorClock before;       ///< happens before
  VectorClock coherent;     ///< accesses that fences forbid to read past
  VectorClock coherent_sc;  ///< likewise, but only the sequentially consistent accesses

  void join(const Knowledge& other) {
    before.join(other.before);
    coherent.join(other.coherent);
    coherent_sc.join(other.coherent_sc);
  }
};

struct Store {
  std::uint64_t value = 0;
  int thread = kNoThread;
  Tick tick = 0;
  bool has_modification = false;  ///< a read-modify-write follows it
  std::uint32_t sequence = 0;     ///< among all stores of the execution
  std::size_t event = 0;          ///< its number in the table; 0: the initial value
  VectorClock events;             ///< what it comes after
  Knowledge released;
  Knowledge light;  ///< acquired by a heavy fence
  Knowledge heavy;  ///< acquired by a light fence
};

struct Access {
  Tick tick = 0;
  Index store = 0;
  bool seq_cst = false;
};

/// Anything that has an address: atomic, cell, mutex, condition.
struct Place {
  const void* address = nullptr;
  bool alive = true;
  bool is_cell = false;
  int creator = kNoThread;
  Tick created = 0;
  Index object = 0;  ///< 0: none yet
  // for an atomic
  std::vector<Index> order;  ///< the modification order
  std::vector<Access> accesses[kMaxThreads];
  // for a cell
  int writer = kNoThread;
  Tick write = 0;
  Tick reads[kMaxThreads] = {};
  // for a mutex
  int holder = kNoThread;
  Knowledge released;
  // for a condition or a futex
  Index queue_object = 0;
  std::vector<int> waiters;

  void begin(const void* where) {
    address = where;
    alive = true;
    is_cell = false;
    creator = writer = holder = kNoThread;
    created = write = 0;
    object = queue_object = 0;
    order.clear();
    waiters.clear();
    for (auto& each : accesses) each.clear();
    std::ranges::fill(reads, Tick{0});
    released = {};
  }
};

enum class Status : std::uint8_t { unused, running, finished };

struct Local {
  const void* key;
  void* memory;
  void (*destroy)(void*);
};

struct ThreadState {
  Context context;
  Status status = Status::unused;
  std::function<void()> body;
  Operation next;
  IsDone is_done = nullptr;  ///< of an await
  const void* done_context = nullptr;
  Tick tick = 0;
  Knowledge known;
  Knowledge pending, pending_light, pending_heavy;     ///< read, to be acquired by the next fence
  Knowledge released, released_light, released_heavy;  ///< by the last fence
  VectorClock events;  ///< what its next event comes after, for the reduction
  std::vector<Index> node_of_event;
  bool woken = false;
  std::uint32_t own_writes = 0;
  std::uint32_t seen_writes = 0;  ///< by others, when it continued after its last yield
  bool has_looked = false;        ///< since its last yield
  std::uint32_t fresh = 0;        ///< stores up to this one must be seen, since it has yielded
  std::vector<Local> locals;
  std::uint64_t priority = 0;  ///< of pct: the highest one runs

  void begin() {
    status = Status::running;
    next = {};
    tick = 0;
    known = pending = pending_light = pending_heavy = {};
    released = released_light = released_heavy = {};
    events = {};
    node_of_event.clear();
    woken = false;
    own_writes = seen_writes = fresh = 0;
    has_looked = false;
    locals.clear();
  }
};

// --- the search

/// A choice: of the next thread, or of a number below `count`.
struct Node {
  std::uint8_t chosen = 0;
  std::uint8_t count = 0;  ///< 0: a choice of a thread
  Threads enabled = 0;
  Threads backtrack = 0;  ///< to be tried here
  Threads sleep = 0;      ///< not to be tried: done elsewhere
  Threads before = 0;     ///< asleep below the chosen one: tried before it, or by others
  Threads done = 0;       ///< tried; for numbers: how many of those given away
  Threads given = 0;      ///< to other parts; for numbers: how many, from the end
  int previous = kNoThread;
  int preemptions = 0;  ///< before this choice

  [[nodiscard]] bool costs(int thread) const {
    return previous != kNoThread && thread != previous && (enabled & only(previous)) != 0;
  }
  /// Whether something given away is not done yet.
  [[nodiscard]] bool is_awaited() const { return count == 0 ? given != 0 : given != done; }
};

/// Whether SIGTERM has come.
extern volatile std::sig_atomic_t terminated;
bool write_all(int file, std::string_view text);
[[nodiscard]] std::string trace_of(std::span<const Node> choices);

/// A part of a search: see jobs.cpp.
struct Part {
  int parent = kWhole;      ///< what it was split from
  std::vector<Node> nodes;  ///< of its next execution
  std::size_t floor = 0;    ///< the first choice of its own; those before are its parent's
  std::uint64_t next = 0;   ///< number of the next drawn execution
  std::uint64_t end = 0;    ///< one past the last drawn execution
  bool ready = true;        ///< there is a next execution
  std::uint64_t most = 0;   ///< executions in this turn
  pid_t job = 0;            ///< the process that runs executions of it
  int pipe = -1;            ///< from that process
};

class Engine {
 public:
  Engine(const Options& options, const std::function<void()>& body)
      : options_(options), body_(body) {
    shadow_.assign(Arena::kBytes, 0);
  }

  Result run();

  // What engine.hpp declares.
  void location_begins(const void* address, std::uint64_t value);
  void ends(const void* address);
  std::uint64_t load(const void* address, std::uint64_t raw, Order order, Where where);
  void store(const void* address, std::uint64_t raw, std::uint64_t value, Order order, Where where);
  std::uint64_t modify(const void* address, std::uint64_t raw, Modify function,
                       std::uint64_t operand, Order order, Where where);
  bool compare_exchange(const void* address, std::uint64_t raw, std::uint64_t& expected,
                        std::uint64_t desired, bool weak, Order success, Order failure,
                        Where where);
  std::uint64_t await(const void* address, std::uint64_t raw, IsDone is_done, const void* context,
                      Order order, Where where);
  void fence(Fence kind, Where where);
  void cell_begins(const void* address);
  void cell_read(const void* address, Where where);
  void cell_written(const void* address, Where where);
  void lockable_begins(const void* address) { new_place_at(address); }
  void lock(const void* mutex, Where where);
  bool try_lock(const void* mutex, Where where);
  void unlock(const void* mutex);
  bool wait(const void* condition, const void* mutex, bool has_deadline, Where where);
  void notify(const void* condition, bool all, Where where);
  bool futex_wait(const void* word, std::uint64_t raw, std::uint64_t expected, bool has_deadline,
                  Where where);
  void futex_wake(const void* word, Where where);
  void yield(Where where);
  int spawn(std::function<void()>&& body, Where where);
  void join(int thread, Where where);
  void* of_this_thread(const void* key, std::size_t size, std::size_t alignment,
                       void (*destroy)(void*));
  std::int64_t now() { return time_ += kClockStep_ns; }
  int user_choice(int count);
  void sometimes(std::string_view name, bool outcome) { sometimes_[std::string(name)] |= outcome; }
  void outcome(std::string_view text) { result_.outcomes.emplace(text); }
  void* allocate(std::size_t size, std::size_t alignment);
  void release_memory(void* memory);
  [[nodiscard]] bool holds(const void* memory) const { return arena_.holds(memory); }
  [[noreturn]] void fail(const std::string& message);

  bool inside = true;  ///< the engine: allocations are not the execution's

 private:
  static void thread_entry();
  void run_thread();
  void run_once();
  void begin_execution();
  void check_the_end();
  void log_again();
  [[nodiscard]] std::string trace() const;
  void tell_progress();
  [[nodiscard]] double share_done() const;

  void search();
  [[nodiscard]] Threads worth_trying(const Node& node) const;
  [[nodiscard]] Threads untried(const Node& node) const;
  bool advance(Part& part) const;
  bool split(int number);
  void settle();
  void run_part(Part& part);
  [[nodiscard]] std::uint64_t most_at_once() const;
  void start_jobs();
  void start_job(int number, Part& part);
  void wait_for_jobs();
  static int end_job(Part& part);
  void save(std::ostream& out, const std::map<int, Part>& parts) const;
  bool add(std::istream& in, std::map<int, Part>& parts);
  [[nodiscard]] std::string identity() const;
  void resume();
  void write_checkpoint();
  void keep_checkpoint();
  /// Whether the search ended without a failed execution: one of its jobs was killed.
  [[nodiscard]] bool was_killed() const { return result_.failed && result_.trace.empty(); }
  void end_checkpoint();
  [[nodiscard]] double elapsed_s() const {
    return earlier_s_ +
           std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  }

  [[nodiscard]] ThreadState& me() { return threads_[current_]; }
  void arrive(Operation operation);
  void hand_over();
  [[nodiscard]] int next_thread();
  [[nodiscard]] bool is_enabled(int thread) const;
  [[nodiscard]] Threads threads_at_deadline(Threads enabled) const;
  int new_node(Threads enabled);
  void begin_drawing(std::uint64_t execution);
  [[nodiscard]] std::uint64_t draw();
  [[nodiscard]] int draw_thread(Threads enabled);
  [[nodiscard]] std::uint8_t replayed();
  void event(const Operation& operation);
  void race(Index node, int thread);
  void add_backtrack(Node& node, Index index, int thread);
  int choose(int count);
  [[noreturn]] void leave();
  [[noreturn]] void prune();

  /// The object with index `known`, which is 0 until the object is asked for.
  Index object(Index& known);
  Place& place_at(const void* address);
  Place& new_place_at(const void* address);
  void check_alive(const Place& place, const char* what, Where where);
  void check_made(const Place& place, const char* what, Where where);
  Place& location_at(const void* address, std::uint64_t raw, Where where);
  Place& cell_at(const void* address, Where where);
  void check_end(Place& place);
  [[nodiscard]] std::size_t position_of(const Place& place, Index store) const;
  [[nodiscard]] std::size_t floor_of(const Place& place, bool seq_cst) const;
  void leave_out_stores();
  [[nodiscard]] std::size_t choose_place(const Place& place, bool seq_cst);
  [[nodiscard]] bool only_newest() const { return stale_ == options_.stale; }
  void note_position(const Place& place, std::size_t position) {
    if (position + 1 != place.order.size()) ++stale_;
  }
  /// Notes a failure for no reason. A loop that yields after it need not wait until another thread
  /// has written something: the next attempt may succeed though nobody does.
  void failed_spuriously() {
    ++weak_failures_;
    me().has_looked = false;
  }
  /// Separates the thread's next events from what it has passed on so far.
  void pass_tick() {
    ++me().tick;
    me().known.before.set(current_, me().tick);
  }
  Operation atomic_operation(Kind kind, const void* address, std::uint64_t raw, bool seq_cst,
                             Where where);
  /// Whether the order in which accesses of an atomic execute matters: a thread that has yielded
  /// sees everything executed before, and under a bound not every order is reachable.
  [[nodiscard]] bool is_exact() {
    return options_.preemptions >= 0 || options_.stale >= 0 || me().fresh != 0;
  }
  void note_access(Place& place, Index store, bool seq_cst);
  void take(const Store& store, bool acquire);
  Index put(Place& place, std::size_t position, std::uint64_t value, Order order,
            const Store* modified);
  void wrote() {
    ++writes_;
    ++me().own_writes;
  }
  [[nodiscard]] std::uint32_t others_writes(const ThreadState& thread) const {
    return writes_ - thread.own_writes;
  }
  bool sleep_on(Index place, bool has_deadline, Where where);
  void wake(Place& place, bool all);
  void log(const Operation& operation, const std::string& what);

  const Options options_;
  const std::function<void()>& body_;
  Result result_;
  std::map<std::string, bool> sometimes_;

  // the search
  std::vector<Node> nodes_;
  std::size_t depth_ = 0;  ///< in the current execution
  Threads sleep_ = 0;      ///< at the next choice of a thread
  int last_ = kNoThread;   ///< the thread that ran last
  int preemptions_ = 0;
  bool ended_ = false;  ///< all threads of the execution have finished
  bool pruned_ = false;
  std::vector<int> changes_;  ///< of pct: the steps at which the running thread becomes the last
  int length_ = 0;            ///< of pct: steps of an execution; 0: unknown yet
  std::uint64_t random_ = 0;
  std::map<int, Part> parts_;  ///< still to be done, in the order in which they were split off
  std::atomic<bool>* job_is_idle_ = nullptr;  ///< shared with the jobs
  std::string replay_;
  std::size_t replayed_ = 0;

  // the execution
  Arena arena_;
  std::vector<Index> shadow_;  ///< for each byte of the arena: 0, or a place's number + 1
  std::unordered_map<const void*, Index> elsewhere_;
  std::vector<Place> places_;
  Index place_count_ = 0;
  std::vector<Object> objects_;
  Index object_count_ = 0;
  std::vector<Store> stores_;
  Index store_count_ = 0;
  ThreadState threads_[kMaxThreads];
  int thread_count_ = 0;
  int current_ = 0;
  Context search_;
  int steps_ = 0;
  std::uint32_t writes_ = 0;
  int early_ = 0;
  int spurious_ = 0;
  int weak_failures_ = 0;
  int stale_ = 0;
  std::int64_t time_ = 0;
  VectorClock sc_fences_;      ///< what happens before a sequentially consistent fence
  VectorClock sc_operations_;  ///< the last such operation of each thread
  VectorClock light_fences_;
  VectorClock heavy_fences_;
  bool asymmetric_ = false;  ///< some execution has passed a light or heavy fence
  std::vector<std::string> log_;
  bool logging_ = false;
  std::string checkpoint_;  ///< its file; empty: none is kept
  struct sigaction before_ {};
  double next_progress_s_ = 0;
  double progress_interval_s_ = 0;
  double next_checkpoint_s_ = 0;
  double earlier_s_ = 0;  ///< time spent before the search was killed and resumed
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

/// The running engine; null outside check().
extern Engine* engine;

inline constexpr Index kFences = 0;  // objects that exist in every execution
inline constexpr Index kAsymmetric = 1;
inline constexpr Index kThreads = 2;  // those that the system gives, if it refuses some
inline constexpr Index kObjects = 3;

/// A scope inside the engine, entered from a body.
class Inside {
 public:
  Inside() { engine->inside = true; }
  ~Inside() { engine->inside = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

}  // namespace mc
