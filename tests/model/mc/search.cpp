#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "tests/model/mc/state.hpp"

namespace mc {
Engine* engine = nullptr;

namespace {

constexpr const char* kVaries =
    "the body does not do the same each time: it depends on something but its choices";
constexpr const char* kOtherTest = "the trace is not of this test";

}  // namespace

bool conflict(const Operation& first, const Operation& second) {
  for (int i = 0; i < first.dependences; ++i) {
    for (int j = 0; j < second.dependences; ++j) {
      if (first.on[i].object == second.on[j].object && conflict(first.on[i], second.on[j])) {
        return true;
      }
    }
  }
  return false;
}

// --- choices

/// Begins the draws of an execution. They depend only on the seed and the execution's number,
/// whichever job runs it.
void Engine::begin_drawing(std::uint64_t execution) {
  random_ = options_.seed;
  random_ = draw() + execution;
}

std::uint64_t Engine::draw() {  // splitmix64
  std::uint64_t mixed = random_ += 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return mixed ^ mixed >> 31;
}

/// Draws the next thread. In pct (Burckhardt, Kothari, Musuvathi & Nagarakatti, ASPLOS 2010) a
/// thread draws its priority when it begins; at `depth` - 1 drawn steps, the thread that would run
/// gets the lowest priority.
int Engine::draw_thread(Threads enabled) {
  if (options_.search == Search::random) {
    for (auto skip = draw() % static_cast<unsigned>(std::popcount(enabled)); skip > 0; --skip) {
      enabled &= enabled - 1;
    }
    return first_of(enabled);
  }
  const auto highest = [&] {
    int best = first_of(enabled);
    for (Threads left = enabled; left != 0; left &= left - 1) {
      if (threads_[first_of(left)].priority > threads_[best].priority) best = first_of(left);
    }
    return best;
  };
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    // Later changes rank above earlier ones.
    if (changes_[i] == steps_) threads_[highest()].priority = i + 1;
  }
  return highest();
}

int Engine::new_node(Threads enabled) {
  Node node;
  node.enabled = enabled;
  node.previous = last_;
  node.preemptions = preemptions_;
  if (!replay_.empty()) {
    node.chosen = replayed();
    if (node.chosen >= kMaxThreads || (enabled & only(node.chosen)) == 0) {
      fail(kOtherTest);
    }
    nodes_.push_back(node);
    return node.chosen;
  }
  if (options_.search != Search::exhaustive) {
    node.chosen = static_cast<std::uint8_t>(draw_thread(enabled));
    nodes_.push_back(node);
    return node.chosen;
  }
  node.sleep = sleep_;
  Threads awake = enabled & ~node.sleep;
  if (awake == 0) prune();
  // An operation without dependences can run at once: any other order is equivalent.
  for (Threads left = options_.preemptions < 0 ? awake : 0; left != 0; left &= left - 1) {
    const Operation& next = threads_[first_of(left)].next;
    if (next.dependences != 0 || next.kind == Kind::yield) continue;
    awake = enabled = only(first_of(left));
    break;
  }
  const bool goes_on = last_ != kNoThread && (awake & only(last_)) != 0;
  node.chosen = static_cast<std::uint8_t>(goes_on ? last_ : first_of(awake));
  node.backtrack = options_.reduction ? only(node.chosen) : enabled;
  nodes_.push_back(node);
  return node.chosen;
}

bool Engine::is_enabled(int number) const {
  const ThreadState& thread = threads_[number];
  if (thread.status != Status::running) return false;
  const Operation& next = thread.next;
  switch (next.kind) {
    case Kind::lock:
      return places_[next.place].holder == kNoThread;
    case Kind::join:
      return threads_[next.target].status == Status::finished;
    case Kind::sleep:
      return thread.woken || next.may_time_out;
    case Kind::yield:
      return !thread.has_looked || others_writes(thread) > thread.seen_writes;
    case Kind::await:
      return thread.is_done(thread.done_context, stores_[places_[next.place].order.back()].value);
    default:
      return true;
  }
}

/// The threads of `enabled` that can continue only because their wait has timed out.
Threads Engine::threads_at_deadline(Threads enabled) const {
  Threads late = 0;
  for (Threads left = enabled; left != 0; left &= left - 1) {
    const ThreadState& thread = threads_[first_of(left)];
    if (thread.next.kind == Kind::sleep && !thread.woken) late |= only(first_of(left));
  }
  return late;
}

int Engine::next_thread() {
  Threads enabled = 0;
  bool all_finished = true;
  for (int i = 0; i < thread_count_; ++i) {
    if (is_enabled(i)) enabled |= only(i);
    all_finished &= threads_[i].status == Status::finished;
  }
  if (all_finished) {
    ended_ = true;
    leave();
  }
  if (enabled == 0) {
    std::string who;
    bool spins = false;
    for (int i = 0; i < thread_count_; ++i) {
      if (threads_[i].status != Status::running) continue;
      const Operation& next = threads_[i].next;
      spins |= next.kind == Kind::yield || next.kind == Kind::await;
      who += "; thread " + std::to_string(i) + ": " + name_of(next.kind) + " at " +
             next.where.file_name() + ":" + std::to_string(next.where.line());
    }
    fail((spins ? "livelock: what is waited for is never written" : "deadlock") + who);
  }
  if (++steps_ > options_.steps) fail("livelock: the execution does not end");
  const Threads late = threads_at_deadline(enabled);
  if (early_ == options_.early && late != enabled) enabled &= ~late;
  int chosen = 0;
  if (depth_ < nodes_.size()) {
    const Node& node = nodes_[depth_];
    if (node.count != 0 || node.enabled != enabled) fail(kVaries);
    chosen = node.chosen;
  } else {
    chosen = new_node(enabled);
  }
  const Node& node = nodes_[depth_];
  preemptions_ = node.preemptions + (node.costs(chosen) ? 1 : 0);
  if ((late & only(chosen)) != 0 && late != enabled) ++early_;
  ++depth_;
  last_ = chosen;
  return chosen;
}

int Engine::choose(int count) {
  if (count < 1 || count > kMostAlternatives) {
    fail("a choice is among 1 to " + std::to_string(kMostAlternatives) + ", not " +
         std::to_string(count));
  }
  if (count == 1) return 0;
  if (depth_ < nodes_.size()) {
    if (nodes_[depth_].count != count) fail(kVaries);
    return nodes_[depth_++].chosen;
  }
  Node node;
  node.count = static_cast<std::uint8_t>(count);
  if (!replay_.empty()) {
    node.chosen = replayed();
    if (node.chosen >= count) fail(kOtherTest);
  } else if (options_.search != Search::exhaustive) {
    node.chosen = static_cast<std::uint8_t>(draw() % static_cast<unsigned>(count));
  }
  nodes_.push_back(node);
  ++depth_;
  return node.chosen;
}

/// Announces the current thread's next operation, and returns when it is its turn.
void Engine::arrive(Operation operation) {
  me().next = operation;
  hand_over();
  event(me().next);
  me().has_looked |= is_a_look(operation.kind);
}

/// Switches to the chosen thread, which may be the current one.
void Engine::hand_over() {
  const int from = current_;
  const int to = next_thread();
  if (to == from) return;
  current_ = to;
  switch_to(threads_[from].context, threads_[to].context);
}

void Engine::leave() {
  Context nowhere;
  switch_to(nowhere, search_);
  std::abort();
}

void Engine::prune() {
  pruned_ = true;
  leave();
}

/// Runs the current thread's operation: finds the earlier ones that it races with, for the search.
void Engine::event(const Operation& operation) {
  ThreadState& thread = me();
  // A sleeping thread stays asleep until something happens that it depends on.
  const Node& node = nodes_[depth_ - 1];
  if (options_.reduction && options_.preemptions < 0) {
    Threads asleep = (node.sleep | node.before) & ~only(current_);
    for (Threads left = asleep; left != 0; left &= left - 1) {
      const int other = first_of(left);
      const Operation& next = threads_[other].next;
      // Either order wakes it, as what follows may not be tried at the choice that it would need.
      if (conflict(next, operation) || conflict(operation, next)) asleep &= ~only(other);
    }
    sleep_ = asleep;
  }
  for (int i = 0; i < operation.dependences; ++i) {
    for (const Object::Event& earlier : objects_[operation.on[i].object].events) {
      if (earlier.thread == current_ || thread.events.covers(earlier.thread, earlier.tick))
        continue;
      const bool matters = earlier.unlocks ? operation.kind == Kind::try_lock
                                           : conflict(earlier.how, operation.on[i]);
      if (!matters) continue;
      race(threads_[earlier.thread].node_of_event[earlier.tick - 1U], current_);
    }
  }
  thread.node_of_event.push_back(static_cast<Index>(depth_ - 1));
  const auto tick = static_cast<Tick>(thread.node_of_event.size());
  for (int i = 0; i < operation.dependences; ++i) {
    const Dependence& how = operation.on[i];
    const Object& object = objects_[how.object];
    thread.events.join(how.exact ? object.written : object.written_exactly);
    if (how.writes) thread.events.join(how.exact ? object.read : object.read_exactly);
  }
  thread.events.set(current_, tick);
  for (int i = 0; i < operation.dependences; ++i) {
    const Dependence& how = operation.on[i];
    Object& object = objects_[how.object];
    if (how.exact && how.writes) object.events.clear();
    object.events.push_back({current_, tick, how});
    (how.writes ? object.written : object.read).join(thread.events);
    if (how.exact) (how.writes ? object.written_exactly : object.read_exactly).join(thread.events);
  }
  pass_tick();
}

/// The event at `index` and the current one of `thread` may also happen in the other order.
void Engine::race(Index index, int thread) {
  if (!options_.reduction || options_.search != Search::exhaustive || !replay_.empty()) return;
  add_backtrack(nodes_[index], index, thread);
  if (options_.preemptions < 0) return;
  // The preemption that this takes may exceed the bound. A switch at the point where the other
  // thread began to run costs none.
  Index begin = index;
  for (Index i = index; i-- > 0;) {
    if (nodes_[i].count != 0) continue;
    if (nodes_[i].chosen != nodes_[index].chosen) break;
    begin = i;
  }
  if (begin != index) add_backtrack(nodes_[begin], begin, thread);
}

void Engine::add_backtrack(Node& node, Index index, int thread) {
  Threads useful = 0;  // can come first, or must come before one that can
  for (Threads left = node.enabled; left != 0; left &= left - 1) {
    const int other = first_of(left);
    const Tick known = threads_[thread].events[other];
    const bool leads =
        other == thread || (known != 0 && threads_[other].node_of_event[known - 1U] > index);
    if (leads) useful |= only(other);
  }
  if ((node.backtrack & useful) != 0 && options_.preemptions < 0) return;
  if ((useful & only(thread)) != 0) {
    node.backtrack |= only(thread);
  } else if (useful != 0 && options_.preemptions < 0) {
    node.backtrack |= only(first_of(useful));
  } else {
    node.backtrack |= node.enabled;
  }
}

// --- executions

void Engine::thread_entry() { engine->run_thread(); }

void Engine::run_thread() {
  event(me().next);
  const int number = current_;
  try {
    inside = false;
    {
      std::function<void()> body = std::move(threads_[number].body);
      body();
    }
    while (!threads_[number].locals.empty()) {
      inside = true;
      const Local local = threads_[number].locals.back();
      threads_[number].locals.pop_back();
      inside = false;
      local.destroy(local.memory);
      inside = true;
      arena_.block_at(local.memory)->freed = true;
      inside = false;
    }
  } catch (const std::exception& error) {
    inside = true;
    fail(std::string("an exception left a thread: ") + error.what());
  }
  inside = true;
  wrote();
  me().status = Status::finished;
  // This stack is never resumed.
  const int to = next_thread();
  current_ = to;
  Context nowhere;
  switch_to(nowhere, threads_[to].context);
  std::abort();
}

void Engine::begin_execution() {
  for (Index i = 0; i < place_count_; ++i) {
    if (arena_.holds(places_[i].address)) shadow_[arena_.offset(places_[i].address)] = 0;
  }
  elsewhere_.clear();
  arena_.reset();
  place_count_ = store_count_ = 0;
  if (objects_.empty()) objects_.resize(kObjects);
  for (Index each = 0; each < kObjects; ++each) objects_[each].begin();
  object_count_ = kObjects;
  depth_ = 0;
  sleep_ = 0;
  last_ = kNoThread;
  preemptions_ = steps_ = spurious_ = weak_failures_ = stale_ = early_ = 0;
  writes_ = 0;
  time_ = 0;
  ended_ = pruned_ = false;
  sc_fences_ = sc_operations_ = light_fences_ = heavy_fences_ = {};
  for (ThreadState& thread : threads_) thread.status = Status::unused;
  replayed_ = 0;
  log_.clear();
  thread_count_ = 1;
  current_ = 0;
  changes_.clear();
  for (int i = 1; options_.search == Search::pct && length_ != 0 && i < options_.depth; ++i) {
    changes_.push_back(1 + static_cast<int>(draw() % static_cast<unsigned>(length_)));
  }
  threads_[0].begin();
  threads_[0].priority = draw();
  threads_[0].body = body_;
  threads_[0].context = make_context(arena_.stack(0), Arena::kStackBytes, thread_entry);
}

void Engine::run_once() {
  begin_execution();
  current_ = next_thread();
  switch_to(search_, threads_[current_].context);
  inside = true;
  for (ThreadState& thread : threads_) {
    // The memory of an abandoned execution's body was in the arena, and is gone.
    if (thread.body) new (&thread.body) std::function<void()>();
  }
  if (ended_ && !result_.failed) check_the_end();
}

void Engine::check_the_end() {
  // Choices that are left over: the execution was to reach them.
  const bool varies = depth_ < nodes_.size();
  if (varies || replayed_ < replay_.size()) {
    result_.failed = true;
    result_.message = varies ? kVaries : kOtherTest;
    return;
  }
  for (const Arena::Block& block : arena_.blocks()) {
    if (block.freed) continue;
    result_.failed = true;
    result_.message = "leak: " + std::to_string(block.size) + " bytes that thread " +
                      std::to_string(block.thread) + " allocated are never freed";
    return;
  }
}

/// Turns a crash of a body into a failure of its execution.
class Crashes {
 public:
  Crashes() {
    static char memory[64 << 10];
    const stack_t stack{.ss_sp = memory, .ss_flags = 0, .ss_size = sizeof memory};
    sigaltstack(&stack, &stack_);
    struct sigaction action {};
    action.sa_handler = [](int signal) {
      if (is_active()) fail(std::string("crash: ") + strsignal(signal));
      std::signal(signal, SIG_DFL);
      (void)raise(signal);
    };
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before_[i]);
  }
  ~Crashes() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
    sigaltstack(&stack_, nullptr);
  }
  Crashes(const Crashes&) = delete;
  Crashes& operator=(const Crashes&) = delete;

 private:
  static constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  stack_t stack_{};
  std::array<struct sigaction, kSignals.size()> before_{};
};

Result Engine::run() {
  const Crashes crashes;
  length_ = options_.length;
  result_.seed = options_.search != Search::exhaustive ? options_.seed : 0;
  const bool replays = !options_.replay.empty();
  if (replays) {
    replay_ = options_.replay;
    run_once();
    result_.executions = 1;
    result_.depth = static_cast<int>(depth_);
    result_.threads = thread_count_;
    if (result_.failed) result_.trace = trace();
  } else {
    parts_[0].end = options_.executions;
    resume();
    search();
  }
  if (result_.failed) {
    log_again();
  } else if (!replays) {
    for (const auto& [name, seen] : sometimes_) {
      if (seen) continue;
      result_.failed = true;
      result_.message = "never: " + name;
    }
  }
  result_.seconds = elapsed_s();
  return result_;
}

void Engine::fail(const std::string& message) {
  inside = true;
  result_.failed = true;
  result_.message = message;
  leave();
}

}  // namespace mc
