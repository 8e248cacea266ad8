#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

#include "tests/model/mc/state.hpp"

namespace mc {
namespace {

constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";

}  // namespace

Engine* engine = nullptr;

const char* name_of(Kind kind) {
  constexpr const char* kNames[] = {
      "start",  "load",  "store",    "modify", "compare-exchange",
      "fence",  "lock",  "try_lock", "wait",   "wake",
      "notify", "yield", "spawn",    "join",   "choose",
  };
  return kNames[static_cast<int>(kind)];
}

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

int Engine::new_node(Threads enabled) {
  Node node;
  node.enabled = enabled;
  node.previous = last_;
  node.preemptions = preemptions_;
  if (!replay_.empty()) {
    if (replayed_ >= replay_.size()) fail("the trace ends before the execution does");
    node.chosen = static_cast<std::uint8_t>(kDigits.find(replay_[replayed_++]));
    if ((enabled & only(node.chosen)) == 0) fail("the trace is not of this test");
    nodes_.push_back(node);
    return node.chosen;
  }
  if (options_.search == Search::random) {
    auto skip = random_() % static_cast<unsigned>(std::popcount(enabled));
    Threads left = enabled;
    while (skip-- > 0) left &= left - 1;
    node.chosen = static_cast<std::uint8_t>(first_of(left));
    nodes_.push_back(node);
    return node.chosen;
  }
  node.sleep = sleep_;
  Threads awake = enabled & ~node.sleep;
  if (awake == 0) prune();
  // What depends on nothing can come at once: any other order of it is the same.
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
      return others_writes(thread) > thread.seen_writes;
    default:
      return true;
  }
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
      spins |= next.kind == Kind::yield;
      who += "; thread " + std::to_string(i) + ": " + name_of(next.kind) + " at " +
             next.where.file_name() + ":" + std::to_string(next.where.line());
    }
    fail((spins ? "livelock: what is waited for is never written" : "deadlock") + who);
  }
  if (++steps_ > options_.steps) fail("livelock: the execution does not end");
  int chosen = 0;
  if (depth_ < nodes_.size()) {
    const Node& node = nodes_[depth_];
    if (node.count != 0 || node.enabled != enabled) {
      fail("the body does not do the same each time: it depends on something but its choices");
    }
    chosen = node.chosen;
  } else {
    chosen = new_node(enabled);
  }
  const Node& node = nodes_[depth_];
  preemptions_ = node.preemptions + (node.costs(chosen) ? 1 : 0);
  ++depth_;
  last_ = chosen;
  return chosen;
}

int Engine::choose(int count) {
  if (count == 1) return 0;
  if (depth_ < nodes_.size()) {
    if (nodes_[depth_].count != count) {
      fail("the body does not do the same each time: it depends on something but its choices");
    }
    return nodes_[depth_++].chosen;
  }
  Node node;
  node.count = static_cast<std::uint8_t>(count);
  if (!replay_.empty()) {
    if (replayed_ >= replay_.size()) fail("the trace ends before the execution does");
    node.chosen = static_cast<std::uint8_t>(kDigits.find(replay_[replayed_++]));
    if (node.chosen >= count) fail("the trace is not of this test");
  } else if (options_.search == Search::random) {
    node.chosen = static_cast<std::uint8_t>(random_() % static_cast<unsigned>(count));
  }
  nodes_.push_back(node);
  ++depth_;
  return node.chosen;
}

/// The current thread is about to do `operation`: returns when it is its turn.
void Engine::arrive(Operation operation) {
  me().next = operation;
  hand_over();
  event(me().next);
}

/// Goes on with the thread that is chosen, which may be the current one.
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

/// The current thread's operation happens now: finds what it races with, for the search.
void Engine::event(const Operation& operation) {
  ThreadState& thread = me();
  // A thread that is asleep stays so until something happens on which it depends.
  const Node& node = nodes_[depth_ - 1];
  if (options_.reduction && options_.preemptions < 0) {
    Threads asleep = (node.sleep | node.done) & ~only(current_);
    for (Threads left = asleep; left != 0; left &= left - 1) {
      const int other = first_of(left);
      if (conflict(threads_[other].next, operation)) asleep &= ~only(other);
    }
    sleep_ = asleep;
  }
  for (int i = 0; i < operation.dependences; ++i) {
    for (const Object::Event& earlier : objects_[operation.on[i].object].events) {
      if (earlier.thread == current_ || thread.events.covers(earlier.thread, earlier.tick))
        continue;
      if (!conflict(earlier.how, operation.on[i])) continue;
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

/// The event at `index` and the current one of `thread` may come in the other order as well.
void Engine::race(Index index, int thread) {
  if (!options_.reduction || options_.search != Search::exhaustive || !replay_.empty()) return;
  add_backtrack(nodes_[index], index, thread);
  if (options_.preemptions < 0) return;
  // The preemption that this takes may be one too many. A switch where the other thread had begun
  // to run costs none.
  Index begin = index;
  for (Index i = index; i-- > 0;) {
    if (nodes_[i].count != 0) continue;
    if (nodes_[i].chosen != nodes_[index].chosen) break;
    begin = i;
  }
  if (begin != index) add_backtrack(nodes_[begin], begin, thread);
}

void Engine::add_backtrack(Node& node, Index index, int thread) {
  Threads useful = 0;  // those that can come first, or something that must come before them
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

/// Whether there is one: the deepest choice that has something left to try takes it.
bool Engine::next_execution() {
  while (!nodes_.empty()) {
    Node& node = nodes_.back();
    if (node.count != 0) {
      if (node.chosen + 1 < node.count) {
        ++node.chosen;
        return true;
      }
    } else {
      node.done |= only(node.chosen);
      Threads left = node.backtrack & ~node.done & ~node.sleep;
      if (options_.preemptions >= 0) {
        for (Threads each = left; each != 0; each &= each - 1) {
          const int thread = first_of(each);
          const int cost = node.preemptions + (node.costs(thread) ? 1 : 0);
          if (cost > options_.preemptions) left &= ~only(thread);
        }
      }
      if (left != 0) {
        node.chosen = static_cast<std::uint8_t>(first_of(left));
        return true;
      }
    }
    nodes_.pop_back();
  }
  return false;
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
  // Nothing goes back to this stack.
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
  if (objects_.empty()) objects_.resize(2);
  for (const Index each : {kFences, kAsymmetric}) objects_[each].begin();
  object_count_ = 2;
  depth_ = 0;
  sleep_ = 0;
  last_ = kNoThread;
  preemptions_ = steps_ = spurious_ = weak_failures_ = stale_ = 0;
  writes_ = 0;
  time_ = 0;
  ended_ = pruned_ = false;
  sc_fences_ = sc_operations_ = light_fences_ = heavy_fences_ = {};
  for (ThreadState& thread : threads_) thread.status = Status::unused;
  replayed_ = 0;
  log_.clear();
  thread_count_ = 1;
  current_ = 0;
  threads_[0].begin();
  threads_[0].body = body_;
  threads_[0].context = make_context(arena_.stack(0), Arena::kStackBytes, thread_entry);
}

void Engine::run_once() {
  begin_execution();
  current_ = next_thread();
  switch_to(search_, threads_[current_].context);
  inside = true;
  for (ThreadState& thread : threads_) {
    // Of an abandoned execution: its memory is the arena's, and is gone.
    if (thread.body) new (&thread.body) std::function<void()>();
  }
  if (ended_ && !result_.failed) check_the_end();
}

void Engine::check_the_end() {
  for (const Arena::Block& block : arena_.blocks()) {
    if (block.freed) continue;
    result_.failed = true;
    result_.message = "leak: " + std::to_string(block.size) + " bytes that thread " +
                      std::to_string(block.thread) + " allocated are never freed";
    return;
  }
}

Result Engine::run() {
  begun_ = std::chrono::steady_clock::now();
  const char* traced = std::getenv("MC_TRACE");
  replay_ = traced != nullptr ? traced : options_.replay;
  const bool shows_progress = std::getenv("MC_PROGRESS") != nullptr;
  const bool replays = !replay_.empty();
  while (result_.executions < options_.executions) {
    run_once();
    ++result_.executions;
    result_.pruned += pruned_ ? 1 : 0;
    result_.depth = std::max(result_.depth, static_cast<int>(depth_));
    if (result_.failed || replays) break;
    if (options_.search == Search::random) {
      nodes_.clear();
    } else if (!next_execution()) {
      result_.complete = true;
      break;
    }
    if (shows_progress && result_.executions % 1024 == 0) print_progress();
  }
  if (result_.failed) {
    result_.trace = trace();
    log_again();
  } else if (!replays) {
    for (const auto& [name, seen] : sometimes_) {
      if (seen) continue;
      result_.failed = true;
      result_.message = "never: " + name;
    }
  }
  result_.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  return result_;
}

std::string Engine::trace() const {
  std::string text;
  for (std::size_t i = 0; i < std::min(depth_, nodes_.size()); ++i)
    text += kDigits[nodes_[i].chosen];
  return text;
}

/// The failed execution once more, for the table of what happened.
void Engine::log_again() {
  const Result found = result_;
  logging_ = true;
  replay_ = found.trace;
  if (!replay_.empty()) {
    nodes_.clear();
    run_once();
  }
  result_ = found;
  constexpr std::size_t kFirst = 100;
  constexpr std::size_t kLast = 300;
  for (std::size_t i = 0; i < log_.size(); ++i) {
    if (i == kFirst && log_.size() > kFirst + kLast) {
      i = log_.size() - kLast;
      result_.events += "  ...\n";
    }
    result_.events += log_[i] + '\n';
  }
}

void Engine::print_progress() {
  const double now =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  if (now < last_progress_s_ + 1) return;
  last_progress_s_ = now;
  double done = 0;
  double share = 1;
  for (const Node& node : nodes_) {
    const int all = node.count != 0 ? node.count : std::popcount(node.backtrack);
    const int past = node.count != 0 ? node.chosen : std::popcount(node.done);
    done += share * past / all;
    share /= all;
  }
  const auto executions = static_cast<double>(result_.executions);
  std::fprintf(
      stderr, "%llu executions, %llu pruned, depth %d, %.0f a second, about %.2g %% done\n",
      static_cast<unsigned long long>(result_.executions),
      static_cast<unsigned long long>(result_.pruned), result_.depth, executions / now, 100 * done);
}

void Engine::fail(const std::string& message) {
  inside = true;
  result_.failed = true;
  result_.message = message;
  leave();
}

void Engine::log(const Operation& operation, const std::string& what) {
  if (!logging_) return;
  char line[512];
  const std::string_view file = operation.where.file_name();
  std::snprintf(line, sizeof line, "%4zu  thread %d  %-16s  %-44s  %s:%u", log_.size() + 1,
                current_, name_of(operation.kind), what.c_str(),
                std::string(file.substr(file.rfind('/') + 1)).c_str(), operation.where.line());
  log_.emplace_back(line);
}

}  // namespace mc
