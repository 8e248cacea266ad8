// The C++20 memory model: which stores a load may read, and where a store may be placed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/model/mc/state.hpp"

namespace mc {
namespace {

bool acquires(Order order) { return order != relaxed && order != release; }
bool releases(Order order) { return order != relaxed && order != acquire; }

const char* name_of(Order order) {
  constexpr const char* kNames[] = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};
  return kNames[static_cast<int>(order)];
}

std::string hex(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 10 ? "%llu" : "0x%llx",
                static_cast<unsigned long long>(value));
  return text;
}

std::string line_of(Where where) {
  return std::string(where.file_name()) + ":" + std::to_string(where.line());
}

/// C++20 lets no load release, and no store acquire ([atomics.types.operations]).
bool may_load(Order order) { return order != release && order != acq_rel; }
bool may_store(Order order) { return order != acquire && order != acq_rel; }

[[noreturn]] void refuse_order(const char* what, Order order, Where where) {
  engine->fail(std::string(what) + " must not be " + name_of(order) + ", at " + line_of(where));
}

std::string of_store(const Store& store) {
  return store.event == 0 ? std::string(" (initial)") : " (" + std::to_string(store.event) + ")";
}

}  // namespace

// --- places

Index Engine::object(Index& known) {
  if (known != 0) return known;
  if (object_count_ == objects_.size()) objects_.emplace_back();
  objects_[object_count_].begin();
  return known = object_count_++;
}

/// The place at `address`; for a new address, a new and empty place.
Place& Engine::place_at(const void* address) {
  Index* known = nullptr;
  if (arena_.holds(address)) {
    known = &shadow_[arena_.offset(address)];
  } else {
    known = &elsewhere_[address];
  }
  if (*known != 0) return places_[*known - 1];
  if (place_count_ == places_.size()) places_.emplace_back();
  Place& place = places_[place_count_++];
  place.begin(address);
  *known = place_count_;
  return place;
}

/// The place of a new object. What was at its address before is another place, to which others may
/// still have a stale pointer.
Place& Engine::new_place_at(const void* address) {
  if (arena_.holds(address)) {
    shadow_[arena_.offset(address)] = 0;
  } else {
    elsewhere_.erase(address);
  }
  Place& place = place_at(address);
  place.creator = current_;
  place.created = me().tick;
  return place;
}

void Engine::check_alive(const Place& place, const char* what, Where where) {
  if (place.alive) return;
  fail(std::string("use after free: ") + what + " at " + line_of(where));
}

/// Fails if another thread makes the place and this one does not know that it has finished.
void Engine::check_made(const Place& place, const char* what, Where where) {
  if (place.creator == kNoThread || place.creator == current_ ||
      me().known.before.covers(place.creator, place.created)) {
    return;
  }
  fail(std::string("data race: ") + what + " is used that another thread is only making, at " +
       line_of(where));
}

void Engine::location_begins(const void* address, std::uint64_t value) {
  Place& place = new_place_at(address);
  if (store_count_ == stores_.size()) stores_.emplace_back();
  Store& first = stores_[store_count_];
  first = {};
  first.value = value;
  first.thread = current_;
  first.tick = me().tick;
  place.order.push_back(store_count_++);
}

Place& Engine::location_at(const void* address, std::uint64_t raw, Where where) {
  Place& place = place_at(address);
  check_alive(place, "an atomic", where);
  if (place.order.empty()) {  // it existed before the execution
    if (store_count_ == stores_.size()) stores_.emplace_back();
    stores_[store_count_] = {};
    stores_[store_count_].value = raw;
    place.order.push_back(store_count_++);
  }
  check_made(place, "an atomic", where);
  return place;
}

/// Fails if a thread makes or uses the place and this one does not know that it has finished.
void Engine::check_end(Place& place) {
  const auto unknown = [&](int thread, Tick tick) {
    return thread != current_ && tick != 0 && !me().known.before.covers(thread, tick);
  };
  for (int thread = 0; thread < thread_count_; ++thread) {
    const auto& accesses = place.accesses[thread];
    if ((!accesses.empty() && unknown(thread, accesses.back().tick)) ||
        unknown(thread, place.reads[thread])) {
      fail("data race: thread " + std::to_string(current_) + " destroys or frees what thread " +
           std::to_string(thread) + " uses");
    }
  }
  if (place.writer != kNoThread && unknown(place.writer, place.write)) {
    fail("data race: thread " + std::to_string(current_) + " destroys or frees what thread " +
         std::to_string(place.writer) + " writes");
  }
  if (place.creator != kNoThread && unknown(place.creator, place.created)) {
    fail("data race: thread " + std::to_string(current_) + " destroys or frees what thread " +
         std::to_string(place.creator) + " makes");
  }
  if (place.holder != kNoThread) {
    fail("thread " + std::to_string(current_) + " destroys or frees a mutex that thread " +
         std::to_string(place.holder) + " holds");
  }
  // A futex has an atomic's word, of which the system uses only the address.
  if (!place.waiters.empty() && place.order.empty()) {
    fail("thread " + std::to_string(current_) + " destroys or frees a condition that thread " +
         std::to_string(place.waiters.front()) + " waits for");
  }
}

void Engine::ends(const void* address) {
  Place& place = place_at(address);
  if (!place.alive) return;
  check_end(place);
  place.alive = false;
}

// --- memory order

std::size_t Engine::position_of(const Place& place, Index store) const {
  // From the end, as the store is usually recent.
  for (std::size_t i = place.order.size(); i-- > 0;) {
    if (place.order[i] == store) return i;
  }
  std::abort();
}

/// The oldest store that the current thread may still read, or put one after: the newest one that
/// any access it knows of has touched ([intro.races]; for seq_cst [atomics.order] 4).
std::size_t Engine::floor_of(const Place& place, bool seq_cst) const {
  const ThreadState& thread = threads_[current_];
  const Knowledge& known = thread.known;
  std::size_t floor = 0;
  for (int other = 0; other < thread_count_; ++other) {
    const auto& accesses = place.accesses[other];
    for (std::size_t i = accesses.size(); i-- > 0;) {
      const Access& access = accesses[i];
      const bool counts =
          known.before.covers(other, access.tick) || known.coherent.covers(other, access.tick) ||
          (access.seq_cst && known.coherent_sc.covers(other, access.tick)) ||
          (seq_cst && (sc_fences_.covers(other, access.tick) ||
                       (access.seq_cst && sc_operations_.covers(other, access.tick))));
      if (!counts) continue;
      floor = std::max(floor, position_of(place, access.store));
      break;  // older accesses of a thread are of older stores
    }
  }
  for (std::size_t i = place.order.size(); thread.fresh != 0 && i-- > floor;) {
    if (stores_[place.order[i]].sequence <= thread.fresh) return i;
  }
  return floor;
}

void Engine::note_access(Place& place, Index store, bool seq_cst) {
  place.accesses[current_].push_back({me().tick, store, seq_cst});
  if (seq_cst) sc_operations_.set(current_, me().tick);
}

void Engine::take(const Store& store, bool acquire) {
  ThreadState& thread = me();
  thread.events.join(store.events);
  thread.pending.join(store.released);
  if (asymmetric_) {
    thread.pending_light.join(store.light);
    thread.pending_heavy.join(store.heavy);
  }
  if (acquire) thread.known.join(store.released);
}

/// Puts a store after the one at `position`. `modified`: the store that a read-modify-write has
/// read.
Index Engine::put(Place& place, std::size_t position, std::uint64_t value, Order order,
                  const Store* modified) {
  if (store_count_ == stores_.size()) stores_.emplace_back();
  const Index index = store_count_++;
  Store& store = stores_[index];
  const ThreadState& thread = me();
  store.value = value;
  store.events = thread.events;
  store.thread = current_;
  store.tick = thread.tick;
  store.has_modification = false;
  wrote();
  store.sequence = writes_;
  store.event = logging_ ? log_.size() + 1 : 0;
  store.released = releases(order) ? thread.known : thread.released;
  if (modified != nullptr) store.released.join(modified->released);  // its release sequence goes on
  if (asymmetric_) {
    store.light = thread.released_light;
    store.heavy = thread.released_heavy;
    if (modified != nullptr) {
      store.light.join(modified->light);
      store.heavy.join(modified->heavy);
    }
  }
  place.order.insert(place.order.begin() + static_cast<std::ptrdiff_t>(position) + 1, index);
  return index;
}

/// Called where an access has more stores to choose from than a choice has alternatives. A search
/// that draws leaves out the oldest ones; one that shall be complete must not.
void Engine::leave_out_stores() {
  if (options_.search != Search::exhaustive) return;
  fail("an access may read or follow more than " + std::to_string(kMostAlternatives) +
       " stores: too many for an exhaustive search");
}

/// The position of the store that the next one follows: any from the floor on, except those that a
/// read-modify-write has already followed.
std::size_t Engine::choose_place(const Place& place, bool seq_cst) {
  std::size_t positions[kMostAlternatives];
  int count = 0;
  for (std::size_t i = place.order.size(), floor = floor_of(place, seq_cst); i-- > floor;) {
    if (stores_[place.order[i]].has_modification) continue;
    if (count == kMostAlternatives) {
      leave_out_stores();
      break;
    }
    positions[count++] = i;
    if (only_newest()) break;
  }
  const std::size_t position = positions[choose(count)];
  note_position(place, position);
  return position;
}

Operation Engine::atomic_operation(Kind kind, const void* address, std::uint64_t raw, bool seq_cst,
                                   Where where) {
  Operation operation;
  operation.kind = kind;
  operation.where = where;
  Place& place = location_at(address, raw, where);
  operation.place = static_cast<Index>(&place - places_.data());
  const bool reads = kind != Kind::store;
  // The order of two seq_cst accesses matters even if both are loads.
  const bool writes = kind != Kind::load || seq_cst;
  operation.on[operation.dependences++] = {object(place.object), reads, writes,
                                           is_exact() || seq_cst};
  if (seq_cst) operation.depends(kFences, false);
  return operation;
}

std::uint64_t Engine::load(const void* address, std::uint64_t raw, Order order, Where where) {
  if (!may_load(order)) refuse_order("a load", order, where);
  const bool sc = order == seq_cst;
  const Operation operation = atomic_operation(Kind::load, address, raw, sc, where);
  arrive(operation);
  Place& place = location_at(address, raw, where);
  const std::size_t floor = only_newest() ? place.order.size() - 1 : floor_of(place, sc);
  auto candidates = static_cast<int>(place.order.size() - floor);
  if (candidates > kMostAlternatives) {
    leave_out_stores();
    candidates = kMostAlternatives;
  }
  const std::size_t position =
      place.order.size() - 1 - static_cast<std::size_t>(choose(candidates));
  note_position(place, position);
  const Index index = place.order[position];
  note_access(place, index, sc);
  take(stores_[index], acquires(order));
  const std::uint64_t value = stores_[index].value;
  if (logging_)
    log(operation, std::string(name_of(order)) + " " + hex(value) + of_store(stores_[index]));
  pass_tick();
  return value;
}

std::uint64_t Engine::await(const void* address, std::uint64_t raw, IsDone is_done,
                            const void* context, Order order, Where where) {
  const std::uint64_t first = load(address, raw, order, where);
  if (is_done(context, first)) return first;
  // The looks in between change nothing for other threads, and at most tell this one to read
  // nothing older. The thread therefore blocks here, and its last look is one operation.
  const bool sc = order == seq_cst;
  Operation operation = atomic_operation(Kind::await, address, raw, sc, where);
  operation.on[0] = {operation.on[0].object, true, sc, true};
  me().is_done = is_done;
  me().done_context = context;
  arrive(operation);
  Place& place = location_at(address, raw, where);
  const Index index = place.order.back();
  note_access(place, index, sc);
  take(stores_[index], acquires(order));
  const std::uint64_t value = stores_[index].value;
  if (logging_)
    log(operation, std::string(name_of(order)) + " " + hex(value) + of_store(stores_[index]));
  pass_tick();
  return value;
}

void Engine::store(const void* address, std::uint64_t raw, std::uint64_t value, Order order,
                   Where where) {
  if (!may_store(order)) refuse_order("a store", order, where);
  const bool sc = order == seq_cst;
  const Operation operation = atomic_operation(Kind::store, address, raw, sc, where);
  arrive(operation);
  Place& place = location_at(address, raw, where);
  const std::size_t position = choose_place(place, sc);
  const Index index = put(place, position, value, order, nullptr);
  note_access(place, index, sc);
  if (logging_) log(operation, std::string(name_of(order)) + " " + hex(value));
  pass_tick();
}

std::uint64_t Engine::modify(const void* address, std::uint64_t raw, Modify function,
                             std::uint64_t operand, Order order, Where where) {
  const bool sc = order == seq_cst;
  const Operation operation = atomic_operation(Kind::modify, address, raw, sc, where);
  arrive(operation);
  Place& place = location_at(address, raw, where);
  const std::size_t position = choose_place(place, sc);
  const Index read = place.order[position];
  stores_[read].has_modification = true;
  take(stores_[read], acquires(order));
  const std::uint64_t old = stores_[read].value;
  const Store before = stores_[read];  // copied, as put() may move it
  const std::uint64_t value = function(old, operand);
  const Index index = put(place, position, value, order, &before);
  note_access(place, index, sc);
  if (logging_) {
    log(operation,
        std::string(name_of(order)) + " " + hex(old) + of_store(before) + " to " + hex(value));
  }
  pass_tick();
  return old;
}

bool Engine::compare_exchange(const void* address, std::uint64_t raw, std::uint64_t& expected,
                              std::uint64_t desired, bool weak, Order success, Order failure,
                              Where where) {
  if (!may_load(failure)) refuse_order("a compare-exchange that fails", failure, where);
  const bool sc = success == seq_cst || failure == seq_cst;
  const Operation operation = atomic_operation(Kind::compare_exchange, address, raw, sc, where);
  arrive(operation);
  Place& place = location_at(address, raw, where);
  // What the operation may do: succeed on a store, or fail on one.
  struct Outcome {
    std::size_t position;
    bool succeeds;
  };
  Outcome outcomes[kMostAlternatives];
  int count = 0;
  const std::size_t success_floor = floor_of(place, success == seq_cst);
  const std::size_t failure_floor =
      failure == success ? success_floor : floor_of(place, failure == seq_cst);
  for (std::size_t i = place.order.size(), floor = std::min(success_floor, failure_floor);
       i-- > floor;) {
    if (count + 2 > kMostAlternatives) {  // a store may give two outcomes
      leave_out_stores();
      break;
    }
    const Store& store = stores_[place.order[i]];
    if (store.value == expected) {
      if (i >= success_floor && !store.has_modification) outcomes[count++] = {i, true};
      const bool may_fail = weak && weak_failures_ < options_.weak_failures;
      if (may_fail && i >= failure_floor) outcomes[count++] = {i, false};
    } else if (i >= failure_floor) {
      outcomes[count++] = {i, false};
    }
    if (only_newest()) break;
  }
  const Outcome outcome = outcomes[choose(count)];
  note_position(place, outcome.position);
  const Index read = place.order[outcome.position];
  const std::uint64_t old = stores_[read].value;
  take(stores_[read], acquires(outcome.succeeds ? success : failure));
  const std::string from = logging_ ? of_store(stores_[read]) : "";
  if (outcome.succeeds) {
    stores_[read].has_modification = true;
    const Store before = stores_[read];
    const Index index = put(place, outcome.position, desired, success, &before);
    note_access(place, index, success == seq_cst);
  } else {
    note_access(place, read, failure == seq_cst);
    if (old == expected) failed_spuriously();
    expected = old;
  }
  if (logging_) {
    log(operation, std::string(name_of(outcome.succeeds ? success : failure)) + " " + hex(old) +
                       from + (outcome.succeeds ? " to " + hex(desired) : ", fails"));
  }
  pass_tick();
  return outcome.succeeds;
}

void Engine::fence(Fence kind, Where where) {
  Operation operation;
  operation.kind = Kind::fence;
  operation.where = where;
  if (kind == Fence::seq_cst || kind == Fence::heavy) operation.depends(kFences, true);
  asymmetric_ |= kind == Fence::heavy || kind == Fence::light;
  if (kind == Fence::heavy) operation.depends(kAsymmetric, true);
  if (kind == Fence::light) operation.depends(kAsymmetric, false);
  arrive(operation);
  ThreadState& thread = me();
  const bool is_full = kind == Fence::seq_cst || kind == Fence::heavy;
  if (is_full || kind == Fence::acquire || kind == Fence::acq_rel)
    thread.known.join(thread.pending);
  if (kind == Fence::heavy) thread.known.join(thread.pending_light);
  if (kind == Fence::light) thread.known.join(thread.pending_heavy);
  if (is_full) {
    thread.known.coherent.join(sc_fences_);
    thread.known.coherent_sc.join(sc_operations_);
    sc_fences_.join(thread.known.before);
  }
  if (kind == Fence::heavy) {
    thread.known.coherent.join(light_fences_);
    thread.known.coherent.join(heavy_fences_);
    heavy_fences_.join(thread.known.before);
    thread.released_heavy = thread.known;
  }
  if (kind == Fence::light) {
    thread.known.coherent.join(heavy_fences_);
    light_fences_.join(thread.known.before);
    thread.released_light = thread.known;
  }
  if (is_full || kind == Fence::release || kind == Fence::acq_rel) thread.released = thread.known;
  constexpr const char* kNames[] = {"acquire", "release", "acq_rel", "seq_cst", "light", "heavy"};
  if (logging_) log(operation, kNames[static_cast<int>(kind)]);
  pass_tick();
}

// --- plain memory

void Engine::cell_begins(const void* address) {
  Place& place = new_place_at(address);
  place.is_cell = true;
  place.writer = current_;
  place.write = me().tick;
}

Place& Engine::cell_at(const void* address, Where where) {
  Place& place = place_at(address);
  check_alive(place, "a cell", where);
  if (place.writer != kNoThread && place.writer != current_ &&
      !me().known.before.covers(place.writer, place.write)) {
    fail("data race: thread " + std::to_string(current_) + " uses what thread " +
         std::to_string(place.writer) + " writes, at " + line_of(where));
  }
  return place;
}

void Engine::cell_read(const void* address, Where where) {
  cell_at(address, where).reads[current_] = me().tick;
}

void Engine::cell_written(const void* address, Where where) {
  Place& place = cell_at(address, where);
  for (int other = 0; other < thread_count_; ++other) {
    if (other != current_ && place.reads[other] != 0 &&
        !me().known.before.covers(other, place.reads[other])) {
      fail("data race: thread " + std::to_string(current_) + " writes what thread " +
           std::to_string(other) + " reads, at " + line_of(where));
    }
  }
  place.writer = current_;
  place.write = me().tick;
}

}  // namespace mc
