#include "tests/runtime/allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> allocated{0};
std::atomic<std::size_t> freed{0};
thread_local std::size_t times_with_memory = 0;
thread_local std::size_t times_without_memory = 0;  // after those

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (times_with_memory != 0) {
    --times_with_memory;
  } else if (times_without_memory != 0) {
    --times_without_memory;
    throw std::bad_alloc();
  }
  allocated.fetch_add(1, std::memory_order_relaxed);
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void release(void* memory) noexcept {
  if (memory != nullptr) freed.fetch_add(1, std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return allocate(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
// The library's own forms for arrays and without exceptions call the first one; a sanitizer's have
// an allocator of their own.
[[gnu::noinline]] void* operator new[](std::size_t bytes) {
  return allocate(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept try {
  return allocate(bytes, alignof(std::max_align_t));
} catch (const std::bad_alloc&) {
  return nullptr;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { release(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { release(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { release(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}

namespace taskbench::rt::tests {

std::size_t allocations() noexcept { return allocated.load(std::memory_order_relaxed); }
std::size_t deallocations() noexcept { return freed.load(std::memory_order_relaxed); }

NoMemory::NoMemory(std::size_t times, std::size_t before) noexcept {
  times_with_memory = before;
  times_without_memory = times;
}
NoMemory::~NoMemory() { times_with_memory = times_without_memory = 0; }

std::optional<NoMemory>& lack_of_memory_of_this_thread() {
  static thread_local std::optional<NoMemory> lack;
  return lack;
}

}  // namespace taskbench::rt::tests
