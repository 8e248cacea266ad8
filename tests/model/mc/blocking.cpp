// Blocking operations, threads, and the memory of an execution.
#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include "tests/model/mc/state.hpp"

namespace mc {
namespace {

/// How far the clock advances when a wait ends at its deadline.
constexpr std::int64_t kTimeout_ns = 1'000'000'000;

std::string futex_text(std::uint64_t value) { return "futex holds " + std::to_string(value); }

}  // namespace

// --- blocking

void Engine::lock(const void* mutex, Where where) {
  Operation operation;
  operation.kind = Kind::lock;
  operation.where = where;
  Place& place = place_at(mutex);
  if (place.holder == current_) fail("a thread locks a mutex that it holds");
  operation.place = static_cast<Index>(&place - places_.data());
  operation.depends(object(place.object), true);
  arrive(operation);
  Place& taken = places_[operation.place];
  check_alive(taken, "a mutex", where);
  taken.reads[current_] = me().tick;  // who ends it must know of this use
  taken.holder = current_;
  me().known.join(taken.released);
  check_made(taken, "a mutex", where);
  log(operation, "");
}

bool Engine::try_lock(const void* mutex, Where where) {
  Operation operation;
  operation.kind = Kind::try_lock;
  operation.where = where;
  Place& place = place_at(mutex);
  if (place.holder == current_) fail("a thread tries to lock a mutex that it holds");
  operation.place = static_cast<Index>(&place - places_.data());
  operation.depends(object(place.object), true);
  arrive(operation);
  Place& taken = places_[operation.place];
  check_alive(taken, "a mutex", where);
  taken.reads[current_] = me().tick;  // who ends it must know of this use
  const bool free = taken.holder == kNoThread;
  // It may fail for no reason, as a weak compare-exchange may. That also stands for a mutex that
  // another thread holds for so short a time that it passes no operation: nobody can run meanwhile.
  const bool fails = free && weak_failures_ < options_.weak_failures && choose(2) == 1;
  if (fails) failed_spuriously();
  log(operation, !free ? "held by another" : fails ? "fails" : "taken");
  if (free && !fails) {
    taken.holder = current_;
    me().known.join(taken.released);
  }
  check_made(taken, "a mutex", where);
  return free && !fails;
}

void Engine::unlock(const void* mutex) {
  Place& place = place_at(mutex);
  if (place.holder != current_) fail("a thread unlocks a mutex that it does not hold");
  place.holder = kNoThread;
  place.released = me().known;
  Object& object = objects_[place.object];
  object.events.push_back({current_, static_cast<Tick>(me().node_of_event.size()), {}, true});
  object.written.join(me().events);
  object.written_exactly.join(me().events);
  wrote();
  pass_tick();
}

/// Adds the current thread to the waiters of the place, and sleeps until woken. False: timed out.
bool Engine::sleep_on(Index index, bool has_deadline, Where where) {
  me().woken = false;
  places_[index].waiters.push_back(current_);
  Operation operation;
  operation.kind = Kind::sleep;
  operation.where = where;
  operation.may_time_out = has_deadline && options_.timeouts;
  operation.place = index;
  operation.depends(object(places_[index].queue_object), true);
  arrive(operation);
  log(operation, me().woken ? "woken" : "timed out");
  if (me().woken) return true;
  std::erase(places_[index].waiters, current_);
  me().fresh = writes_;  // or a loop that looks and waits would never end
  time_ += kTimeout_ns;
  return false;
}

void Engine::wake(Place& place, bool all) {
  while (!place.waiters.empty()) {
    const auto index =
        static_cast<std::ptrdiff_t>(all ? 0 : choose(static_cast<int>(place.waiters.size())));
    threads_[place.waiters[static_cast<std::size_t>(index)]].woken = true;
    place.waiters.erase(place.waiters.begin() + index);
    if (!all) break;
  }
  wrote();
}

bool Engine::wait(const void* condition, const void* mutex, bool has_deadline, Where where) {
  Operation operation;
  operation.kind = Kind::wait;
  operation.where = where;
  const Index place = static_cast<Index>(&place_at(condition) - places_.data());
  operation.place = place;
  operation.depends(object(places_[place].queue_object), true);
  arrive(operation);
  check_alive(places_[place], "a condition", where);
  check_made(places_[place], "a condition", where);
  unlock(mutex);
  log(operation, "");
  bool woken = true;
  if (spurious_ < options_.spurious && choose(2) == 1) {
    ++spurious_;
  } else {
    woken = sleep_on(place, has_deadline, where);
    // The deadline may pass between the notification, which is used up, and the look at the clock.
    // That is early, as this thread could go on anyway.
    const bool may_be_late = woken && has_deadline && options_.timeouts && early_ != options_.early;
    if (may_be_late && choose(2) == 1) {
      ++early_;
      woken = false;
      time_ += kTimeout_ns;
      log(operation, "notified, and timed out");
    }
  }
  lock(mutex, where);
  return woken;
}

void Engine::notify(const void* condition, bool all, Where where) {
  Operation operation;
  operation.kind = Kind::notify;
  operation.where = where;
  const Index place = static_cast<Index>(&place_at(condition) - places_.data());
  operation.place = place;
  operation.depends(object(places_[place].queue_object), true);
  arrive(operation);
  check_alive(places_[place], "a condition", where);
  check_made(places_[place], "a condition", where);
  places_[place].reads[current_] = me().tick;
  log(operation, all ? "all" : "one");
  wake(places_[place], all);
}

bool Engine::futex_wait(const void* word, std::uint64_t raw, std::uint64_t expected,
                        bool has_deadline, Where where) {
  Operation operation;
  operation.kind = Kind::wait;
  operation.where = where;
  const Index place = static_cast<Index>(&location_at(word, raw, where) - places_.data());
  operation.depends(object(places_[place].object), false);
  operation.place = place;
  operation.depends(object(places_[place].queue_object), true);
  arrive(operation);
  // The kernel looks at the word after everything that was stored before a wake-up.
  const std::uint64_t value = stores_[places_[place].order.back()].value;
  log(operation, futex_text(value));
  // The system call passes barriers: what the thread reads next is no older than the word was.
  me().fresh = writes_;
  if (value != expected) return true;
  if (spurious_ < options_.spurious && choose(2) == 1) {
    ++spurious_;
    return true;
  }
  const bool woken = sleep_on(place, has_deadline, where);
  me().fresh = writes_;  // as above
  return woken;
}

void Engine::futex_wake(const void* word, Where where) {
  Operation operation;
  operation.kind = Kind::notify;
  operation.where = where;
  const Index place = static_cast<Index>(&place_at(word) - places_.data());
  operation.place = place;
  operation.depends(object(places_[place].queue_object), true);
  arrive(operation);
  log(operation, "futex");
  wake(places_[place], false);
}

void Engine::yield(Where where) {
  Operation operation;
  operation.kind = Kind::yield;
  operation.where = where;
  arrive(operation);
  ThreadState& thread = me();
  thread.seen_writes = others_writes(thread);
  thread.fresh = writes_;
  thread.has_looked = false;
  log(operation, "");
}

// --- threads

int Engine::spawn(std::function<void()>&& body, Where where) {
  Operation operation;
  operation.kind = Kind::spawn;
  operation.where = where;
  // Who comes first may get a thread that another is refused.
  if (options_.threads >= 0) operation.depends(kThreads, true);
  arrive(operation);
  if (thread_count_ == options_.threads) {
    log(operation, "refused");
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  }
  if (thread_count_ == kMaxThreads) fail("more threads than the tester has");
  const int number = thread_count_++;
  ThreadState& thread = threads_[number];
  thread.begin();
  thread.priority = options_.search == Search::pct ? draw() : 0;
  thread.body = std::move(body);
  thread.known.join(me().known);
  thread.events = me().events;
  thread.context = make_context(arena_.stack(number), Arena::kStackBytes, thread_entry);
  log(operation, "thread " + std::to_string(number));
  pass_tick();
  return number;
}

void Engine::join(int thread, Where where) {
  Operation operation;
  operation.kind = Kind::join;
  operation.where = where;
  operation.target = thread;
  arrive(operation);
  me().known.join(threads_[thread].known);
  me().events.join(threads_[thread].events);
  log(operation, "thread " + std::to_string(thread));
}

void* Engine::of_this_thread(const void* key, std::size_t size, std::size_t alignment,
                             void (*destroy)(void*)) {
  for (const Local& local : me().locals) {
    if (local.key == key) return local.memory;
  }
  void* memory = allocate(size, alignment);
  std::memset(memory, 0, size);
  me().locals.push_back({key, memory, destroy});
  return memory;
}

int Engine::user_choice(int count) { return choose(count); }

// --- memory

void* Engine::allocate(std::size_t size, std::size_t alignment) {
  void* memory = arena_.allocate(size, alignment, current_);
  if (memory == nullptr) fail("out of memory: an execution has 4 MiB");
  return memory;
}

void Engine::release_memory(void* memory) {
  Arena::Block* block = arena_.block_at(memory);
  if (block == nullptr) fail("freed memory that was not allocated");
  if (block->freed) fail("double free of " + std::to_string(block->size) + " bytes");
  block->freed = true;
  for (std::size_t i = 0; i < block->size; ++i) {
    const Index place = shadow_[arena_.offset(block->begin) + i];
    if (place == 0 || !places_[place - 1].alive) continue;
    check_end(places_[place - 1]);
    places_[place - 1].alive = false;
  }
  std::memset(memory, 0xDD, block->size);
}

}  // namespace mc
