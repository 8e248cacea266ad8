// The entry points through which the bodies of tests reach the engine.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "tests/model/mc/state.hpp"

namespace mc {

Result check(const Options& given, const std::function<void()>& body) {
  Options options = given;
  if (const char* trace = std::getenv("MC_TRACE")) options.replay = trace;
  if (const char* seed = std::getenv("MC_SEED")) options.seed = std::strtoull(seed, nullptr, 10);
  if (const char* jobs = std::getenv("MC_JOBS")) options.jobs = std::max(std::atoi(jobs), 1);
  constexpr int kMostSteps = 30'000;
  static_assert(2 * kMostSteps < std::numeric_limits<Tick>::max());  // an operation takes two ticks
  if (options.steps > kMostSteps) {
    Result refused;
    refused.failed = true;
    refused.message = "steps may be at most " + std::to_string(kMostSteps) + ", not " +
                      std::to_string(options.steps);
    return refused;
  }
  auto owned = std::make_unique<Engine>(options, body);
  engine = owned.get();
  Result result = engine->run();
  engine = nullptr;
  return result;
}

bool is_active() { return engine != nullptr && !engine->inside; }

void require(bool condition, std::string_view what, Where where) {
  if (condition) return;
  fail(std::string("not so: ") + std::string(what) + ", at " + where.file_name() + ":" +
       std::to_string(where.line()));
}
void sometimes(std::string_view name, bool outcome) {
  const Inside inside;
  engine->sometimes(name, outcome);
}
void outcome(std::string_view text) {
  const Inside inside;
  engine->outcome(text);
}
int choose(int count) {
  const Inside inside;
  return engine->user_choice(count);
}
void location_begins(const void* address, std::uint64_t value) {
  const Inside inside;
  engine->location_begins(address, value);
}
void location_ends(const void* address) {
  const Inside inside;
  engine->ends(address);
}
std::uint64_t load(const void* address, std::uint64_t raw, Order order, Where where) {
  const Inside inside;
  return engine->load(address, raw, order, where);
}
void store(const void* address, std::uint64_t raw, std::uint64_t value, Order order, Where where) {
  const Inside inside;
  engine->store(address, raw, value, order, where);
}
std::uint64_t modify(const void* address, std::uint64_t raw, Modify function, std::uint64_t operand,
                     Order order, Where where) {
  const Inside inside;
  return engine->modify(address, raw, function, operand, order, where);
}
bool compare_exchange(const void* address, std::uint64_t raw, std::uint64_t& expected,
                      std::uint64_t desired, bool weak, Order success, Order failure, Where where) {
  const Inside inside;
  return engine->compare_exchange(address, raw, expected, desired, weak, success, failure, where);
}
std::uint64_t await(const void* address, std::uint64_t raw, IsDone is_done, const void* context,
                    Order order, Where where) {
  const Inside inside;
  return engine->await(address, raw, is_done, context, order, where);
}
void fence(Fence kind, Where where) {
  const Inside inside;
  engine->fence(kind, where);
}
void cell_begins(const void* address) {
  const Inside inside;
  engine->cell_begins(address);
}
void cell_read(const void* address, Where where) {
  const Inside inside;
  engine->cell_read(address, where);
}
void cell_written(const void* address, Where where) {
  const Inside inside;
  engine->cell_written(address, where);
}
void lockable_begins(const void* address) {
  const Inside inside;
  engine->lockable_begins(address);
}
void lock(const void* mutex, Where where) {
  const Inside inside;
  engine->lock(mutex, where);
}
bool try_lock(const void* mutex, Where where) {
  const Inside inside;
  return engine->try_lock(mutex, where);
}
void unlock(const void* mutex) {
  const Inside inside;
  engine->unlock(mutex);
}
bool wait(const void* condition, const void* mutex, bool has_deadline, Where where) {
  const Inside inside;
  return engine->wait(condition, mutex, has_deadline, where);
}
void notify(const void* condition, bool all, Where where) {
  const Inside inside;
  engine->notify(condition, all, where);
}
bool futex_wait(const void* word, std::uint64_t raw, std::uint64_t expected, bool has_deadline,
                Where where) {
  const Inside inside;
  return engine->futex_wait(word, raw, expected, has_deadline, where);
}
void futex_wake(const void* word, Where where) {
  const Inside inside;
  engine->futex_wake(word, where);
}
void yield(Where where) {
  const Inside inside;
  engine->yield(where);
}
int spawn(std::function<void()> body, Where where) {
  const Inside inside;
  return engine->spawn(std::move(body), where);
}
void join(int thread, Where where) {
  const Inside inside;
  engine->join(thread, where);
}
std::int64_t now() {
  const Inside inside;
  return engine->now();
}
void* of_this_thread(const void* key, std::size_t size, std::size_t alignment,
                     void (*destroy)(void*)) {
  const Inside inside;
  return engine->of_this_thread(key, size, alignment, destroy);
}
void fail(const std::string& message) {
  engine->inside = true;
  engine->fail(message);
}

}  // namespace mc

// Allocations of a body belong to the execution; the tester's own, to the system allocator.

void* operator new(std::size_t size, std::align_val_t alignment) {
  if (mc::is_active()) {
    const mc::Inside inside;
    return mc::engine->allocate(size, static_cast<std::size_t>(alignment));
  }
  const auto each = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(each, (size + each - 1) / each * each)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size) {
  return operator new (size, std::align_val_t{__STDCPP_DEFAULT_NEW_ALIGNMENT__});
}
void operator delete(void* memory) noexcept {
  if (mc::engine == nullptr || memory == nullptr || !mc::engine->holds(memory)) {
    std::free(memory);
    return;
  }
  if (!mc::is_active()) return;  // left over from an abandoned execution
  const mc::Inside inside;
  mc::engine->release_memory(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { operator delete(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  operator delete(memory);
}
