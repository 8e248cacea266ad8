#include "tests/simulation/arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#include "tests/simulation/machine.hpp"

namespace sim {
namespace {

constexpr std::size_t kBytes = std::size_t{16} << 30;  // of address space
constexpr std::size_t kUnit = 64;                      // a cache line; objects never share one
constexpr std::size_t kLists = 128;

struct Free {
  Free* next;
};

/// Blocks of one size. A core gives and takes a batch at a time, like runtime/task/frame_cache.hpp.
struct List {
  static constexpr std::size_t kSome = 64;

  void push(Free* block) {
    block->next = std::exchange(first, block);
    ++count;
  }
  Free* pop() {
    --count;
    return std::exchange(first, first->next);
  }
  void take_some(List& other) {
    for (std::size_t i = 0; i < kSome && other.first != nullptr; ++i) push(other.pop());
  }

  Free* first = nullptr;
  std::size_t count = 0;
};
using Lists = std::array<List, kLists>;  // indexed by size in units

bool is_open = false;
std::byte* memory = nullptr;
std::uint8_t* sizes = nullptr;  // in units, of the block that begins there; 0: large
std::size_t used = 0;
std::array<Lists, kMostCores> of_cores{};
Lists of_all{};

template <class T>
T* reserve(std::size_t count) {
  void* const all = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) throw std::bad_alloc();
  return static_cast<T*>(all);
}

void* take(std::size_t bytes) {
  const std::size_t units = std::max<std::size_t>((bytes + kUnit - 1) / kUnit, 1);
  if (units < kLists) {
    List& own = of_cores[current->index][units];
    if (own.first == nullptr) own.take_some(of_all[units]);
    if (own.first != nullptr) {
      Free* const block = own.pop();
      // Prefetches like the frame cache: the line of the task's header is on its way.
      if (machine != nullptr && units > 1)
        machine->prefetch(reinterpret_cast<std::byte*>(block) + kUnit);
      return block;
    }
  }
  // Objects that must be two lines apart begin at an even line.
  if (units >= 2) used = (used + 2 * kUnit - 1) & ~(2 * kUnit - 1);
  if (used + units * kUnit > kBytes) throw std::bad_alloc();
  std::byte* const block = memory + used;
  sizes[used / kUnit] = static_cast<std::uint8_t>(units < kLists ? units : 0);
  used += units * kUnit;
  return block;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (is_open) return take(bytes);
  const std::size_t units = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment;
  void* const block = std::aligned_alloc(alignment, units * alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void release(void* block) noexcept {
  const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(block) - memory);
  if (memory == nullptr || offset >= kBytes) {
    std::free(block);
  } else if (const std::uint8_t units = sizes[offset / kUnit]; units != 0) {
    List& own = of_cores[current->index][units];
    own.push(new (block) Free{nullptr});
    if (own.count > 2 * List::kSome) of_all[units].take_some(own);
  }
}

}  // namespace

Arena::Arena() {
  if (memory == nullptr) {
    memory = reserve<std::byte>(kBytes);
    sizes = reserve<std::uint8_t>(kBytes / kUnit);
  }
  used = 0;
  of_cores = {};
  of_all = {};
  is_open = true;
}

Arena::~Arena() {
  is_open = false;
  madvise(memory, used, MADV_DONTNEED);
}

}  // namespace sim

void* operator new(std::size_t bytes) { return sim::allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return sim::allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { sim::release(block); }
void operator delete(void* block, std::size_t) noexcept { sim::release(block); }
void operator delete(void* block, std::align_val_t) noexcept { sim::release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { sim::release(block); }
