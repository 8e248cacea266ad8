// The tester's state: what an execution has done, and which executions are to come. Only for the
// tester's own sources.
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

/// How far the clock goes on from one look to the next: a loop that takes some microseconds ends
/// soon.
inline constexpr std::int64_t kClockStep_ns = 10'000;

inline constexpr int kNoThread = -1;
inline constexpr int kWhole = -1;  // a part that was not split from another
inline constexpr std::uint32_t kNowhere = UINT32_MAX;

using Threads = std::uint32_t;  // a set: one bit each
using Tick = std::uint16_t;
using Index = std::uint32_t;

constexpr Threads only(int thread) { return Threads{1} << thread; }
constexpr int first_of(Threads set) { return std::countr_zero(set); }

// --- what partial-order reduction has to know of an operation

/// Something by which two operations depend on each other.
///
/// For an atomic without seq_cst it only matters whether a read comes before a write, which it
/// could read: in any other order of two operations, whichever comes second can still take the
/// place, in the order of modification, that it would have had as the first, or read what it would
/// have read. For anything `exact`, it matters which comes first, if one of them writes.
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

/// Whether the thread finds out what others have done.
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

/// Whether the outcome may be another if the second comes first.
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
    bool unlocks = false;  ///< which matters to whoever tries to lock before
  };
  std::vector<Event> events;  ///< since the last exact write
  VectorClock written;        ///< what the writes come after,
  VectorClock read;           ///< the reads,
  VectorClock written_exactly;
  VectorClock read_exactly;

  void begin() {
    events.clear();
    written = read = written_exactly = read_exactly = {};
  }
};

// --- what the memory model has to know

/// What a thread knows, or hands on by a store.
struct Knowledge {
  VectorClock before;       ///< happens before
  VectorClock coherent;     ///< accesses that may not be read past, by fences
  VectorClock coherent_sc;  ///< of these the sequentially consistent ones only

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
  bool has_modification = false;  ///< a read-modify-write has taken it
  std::uint32_t sequence = 0;     ///< of all stores of the execution
  std::size_t event = 0;          ///< that it is in the table; 0: the object's beginning
  VectorClock events;             ///< that it comes after
  Knowledge released;
  Knowledge light;  ///< handed on to whoever passes a heavy fence
  Knowledge heavy;  ///< handed on to whoever passes a light one
};

struct Access {
  Tick tick = 0;
  Index store = 0;
  bool seq_cst = false;
};

/// Whatever has an address: atomic, cell, mutex, condition.
struct Place {
  const void* address = nullptr;
  bool alive = true;
  bool is_cell = false;
  int creator = kNoThread;
  Tick created = 0;
  Index object = 0;  ///< 0: none yet
  // an atomic
  std::vector<Index> order;  ///< of modification
  std::vector<Access> accesses[kMaxThreads];
  // a cell
  int writer = kNoThread;
  Tick write = 0;
  Tick reads[kMaxThreads] = {};
  // a mutex
  int holder = kNoThread;
  Knowledge released;
  // a condition, or a futex
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
  IsDone is_done = nullptr;  ///< of an await,
  const void* done_context = nullptr;
  Tick tick = 0;
  Knowledge known;
  Knowledge pending, pending_light, pending_heavy;     ///< read, and acquired by the next fence
  Knowledge released, released_light, released_heavy;  ///< by the last fence
  VectorClock events;  ///< that its next one comes after, for the reduction
  std::vector<Index> node_of_event;
  bool woken = false;
  std::uint32_t own_writes = 0;
  std::uint32_t seen_writes = 0;  ///< of others, when it went on after its last yield
  bool has_looked = false;        ///< since its last yield
  std::uint32_t fresh = 0;        ///< stores that it must see: it has yielded since
  std::vector<Local> locals;
  std::uint64_t priority = 0;  ///< of pct: the highest runs

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

/// A choice: of the thread that goes on, or of a number below `count`.
struct Node {
  std::uint8_t chosen = 0;
  std::uint8_t count = 0;  ///< 0: of a thread
  Threads enabled = 0;
  Threads backtrack = 0;  ///< to be tried here
  Threads sleep = 0;      ///< need not be: what they would do has been done elsewhere
  Threads before = 0;     ///< nor again under the chosen one: tried before it, or by others
  Threads done = 0;       ///< tried; of numbers: how many of those that were given away
  Threads given = 0;      ///< to other parts; of numbers: how many, the last ones
  int previous = kNoThread;
  int preemptions = 0;  ///< up to this choice, without it

  [[nodiscard]] bool costs(int thread) const {
    return previous != kNoThread && thread != previous && (enabled & only(previous)) != 0;
  }
  /// Whether something that was given away is still to be done.
  [[nodiscard]] bool is_awaited() const { return count == 0 ? given != 0 : given != done; }
};

/// Whether SIGTERM has come.
extern volatile std::sig_atomic_t terminated;
bool write_all(int file, std::string_view text);
[[nodiscard]] std::string trace_of(std::span<const Node> choices);

/// A part of a search: see jobs.cpp.
struct Part {
  int parent = kWhole;      ///< that it was split from
  std::vector<Node> nodes;  ///< the choices of its next execution
  std::size_t floor = 0;    ///< the first of them that is its own; the others are its parent's
  std::uint64_t next = 0;   ///< of the executions that are drawn,
  std::uint64_t end = 0;    ///< up to this one
  bool ready = true;        ///< there is a next execution
  std::uint64_t most = 0;   ///< executions, before others have their turn
  pid_t job = 0;            ///< that makes executions of it
  int pipe = -1;            ///< from that job
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

  bool inside = true;  ///< of the engine: what is allocated is not the execution's

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
  void keep_checkpoint();
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

  /// The object whose index is `known`, which is 0 until it is asked for.
  Index object(Index& known);
  Place& place_at(const void* address);
  Place& location_at(const void* address, std::uint64_t raw, Where where);
  Place& cell_at(const void* address, Where where);
  void check_end(Place& place);
  [[nodiscard]] std::size_t position_of(const Place& place, Index store) const;
  [[nodiscard]] std::size_t floor_of(const Place& place, bool seq_cst) const;
  [[nodiscard]] std::size_t choose_place(const Place& place, bool seq_cst);
  [[nodiscard]] bool only_newest() const { return stale_ == options_.stale; }
  void note_position(const Place& place, std::size_t position) {
    if (position + 1 != place.order.size()) ++stale_;
  }
  /// Separates what the thread does next from what it has handed on so far.
  void pass_tick() {
    ++me().tick;
    me().known.before.set(current_, me().tick);
  }
  Operation atomic_operation(Kind kind, const void* address, std::uint64_t raw, bool seq_cst,
                             Where where);
  /// Whether the order matters in which an access of an atomic is executed: a thread that has
  /// yielded sees what was executed before, and under a bound not every order can be had.
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
  std::size_t depth_ = 0;  ///< of the execution under way
  Threads sleep_ = 0;      ///< at the next choice of a thread
  int last_ = kNoThread;   ///< that ran
  int preemptions_ = 0;
  bool ended_ = false;  ///< the execution: all threads have finished
  bool pruned_ = false;
  std::vector<int> changes_;  ///< of pct: the steps after which the thread that runs is the last
  int length_ = 0;            ///< of pct: steps of an execution; 0: not known yet
  std::uint64_t random_ = 0;
  std::map<int, Part> parts_;  ///< what is left, by the order in which they were split off
  std::atomic<bool>* job_is_idle_ = nullptr;  ///< the jobs see it, too
  std::string replay_;
  std::size_t replayed_ = 0;

  // the execution
  Arena arena_;
  std::vector<Index> shadow_;  ///< of each byte of the arena: 0, or a place's number + 1
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
  bool asymmetric_ = false;  ///< a light or heavy fence was passed, in some execution
  std::vector<std::string> log_;
  bool logging_ = false;
  std::string checkpoint_;  ///< the file; empty: none is kept
  struct sigaction before_ {};
  double next_progress_s_ = 0;
  double progress_interval_s_ = 0;
  double next_checkpoint_s_ = 0;
  double earlier_s_ = 0;  ///< before the search was killed and went on
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

/// The engine that runs; null outside of check().
extern Engine* engine;

inline constexpr Index kFences = 0;  // objects that are there in every execution
inline constexpr Index kAsymmetric = 1;

/// A scope inside of the engine, entered from a body.
class Inside {
 public:
  Inside() { engine->inside = true; }
  ~Inside() { engine->inside = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

}  // namespace mc
