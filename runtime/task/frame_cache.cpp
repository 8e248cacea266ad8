#include "runtime/task/frame_cache.hpp"

#include <new>

#include "runtime/base/cache_line.hpp"
#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt::task {
namespace {

constexpr std::align_val_t kAlignment{base::kCacheLineBytes};

[[maybe_unused]] void* allocate_from_system(std::size_t bytes) {
  return ::operator new(bytes, kAlignment);
}

void free_to_system(void* block) noexcept { ::operator delete(block, kAlignment); }

std::size_t bytes_of(std::uint32_t units) { return std::size_t{units} * base::kCacheLineBytes; }

#if !defined(TASKBENCH_SYSTEM_BLOCKS)

// The link of a free block lies on its second line: the one that held the task's header, which is
// likely in the cache when the block is freed and is the first to be written when it is used.
constexpr std::size_t kLinkOffset = base::kCacheLineBytes;

struct Link {
  void* next;           // in a magazine or a thread's list
  void* next_magazine;  // in the depot: of the magazine's first block
};

Link& link_of(void* block) {
  return *reinterpret_cast<Link*>(static_cast<std::byte*>(block) + kLinkOffset);
}

/// Full magazines that no thread holds, and fresh memory. Shares no cache line with anything else:
/// where the linker put it beside a flag that every schedule reads, that link was 5 % slower.
class alignas(base::kFalseSharingBytes) Depot {
 public:
  /// The first block of a full magazine, or nullptr.
  void* take(std::uint32_t units) noexcept {
    Shelf& shelf = shelves_[units];
    base::LockGuard lock(shelf.mutex);
    void* magazine = shelf.magazines;
    if (magazine != nullptr) shelf.magazines = link_of(magazine).next_magazine;
    return magazine;
  }

  void put(void* magazine, std::uint32_t units) noexcept {
    Shelf& shelf = shelves_[units];
    base::LockGuard lock(shelf.mutex);
    link_of(magazine).next_magazine = shelf.magazines;
    shelf.magazines = magazine;
  }

  /// A magazine of fresh blocks, in address order.
  void* carve(std::uint32_t units) {
    const std::size_t block_bytes = bytes_of(units);
    auto* slab = static_cast<std::byte*>(allocate_from_system(block_bytes * kMagazineBlocks));
    // relaxed: a statistic
    reserved_bytes_.fetch_add(block_bytes * kMagazineBlocks, base::relaxed);
    for (std::uint32_t i = 0; i + 1 < kMagazineBlocks; ++i) {
      link_of(slab + i * block_bytes).next = slab + (i + 1) * block_bytes;
    }
    link_of(slab + (kMagazineBlocks - 1) * block_bytes).next = nullptr;
    return slab;
  }

  [[nodiscard]] std::size_t reserved_bytes() const noexcept {
    return reserved_bytes_.load(base::relaxed);  // relaxed: a statistic
  }

 private:
  struct Shelf {
    base::Mutex mutex;
    void* magazines = nullptr;
  };
  Shelf shelves_[kMaxCachedUnits + 1];
  base::Atomic<std::size_t> reserved_bytes_{0};
};

Depot& depot() {
  // Never destroyed: threads may free blocks after static destruction has begun.
  alignas(Depot) static std::byte storage[sizeof(Depot)];
  static Depot* const instance = new (storage) Depot;
  return *instance;
}

/// One thread's blocks of one size: a list being used and a full magazine in reserve, so that a
/// thread that goes back and forth over a magazine's edge does not visit the depot each time.
struct Bin {
  void* head;
  std::uint32_t count;
  void* reserve;
};

struct ThreadCache {
  Bin bins[kMaxCachedUnits + 1];
  bool registered;
  bool closed;  // the thread is ending: no caching any more
};

ThreadCache& thread_cache() noexcept { return base::of_this_thread<ThreadCache>(); }

/// Gives a thread's blocks back when it ends.
struct Flusher {
  ~Flusher() {
    ThreadCache& cache = thread_cache();
    cache.closed = true;
    cache.registered = false;  // the slow paths find `closed`
    for (std::uint32_t units = 2; units <= kMaxCachedUnits; ++units) {
      Bin& bin = cache.bins[units];
      // A magazine is any list here: one that is not full is only used up sooner.
      if (bin.head != nullptr) depot().put(bin.head, units);
      if (bin.reserve != nullptr) depot().put(bin.reserve, units);
      bin = {};
    }
  }
};

void register_thread(ThreadCache& cache) {
  static_cast<void>(base::of_this_thread<Flusher>());
  cache.registered = true;
}

[[gnu::noinline]] void* refill(ThreadCache& cache, Bin& bin, std::uint32_t units) {
  if (bin.reserve != nullptr) {
    bin.head = bin.reserve;
    bin.reserve = nullptr;
  } else {
    bin.head = depot().take(units);
    if (bin.head == nullptr) bin.head = depot().carve(units);
  }
  if (cache.closed) {
    // Nobody would flush a list that is kept now: take one block, give the rest away.
    void* block = bin.head;
    void* rest = link_of(block).next;
    bin = {};
    if (rest != nullptr) depot().put(rest, units);
    return block;
  }
  if (!cache.registered) register_thread(cache);
  bin.count = kMagazineBlocks;
  void* block = bin.head;
  bin.head = link_of(block).next;
  --bin.count;
  return block;
}

[[gnu::noinline]] void spill(ThreadCache& cache, Bin& bin, void* block, std::uint32_t units) {
  if (cache.closed) {
    link_of(block).next = nullptr;
    depot().put(block, units);
    return;
  }
  if (!cache.registered) register_thread(cache);
  if (bin.count >= kMagazineBlocks) {
    if (bin.reserve != nullptr) depot().put(bin.reserve, units);
    bin.reserve = bin.head;
    bin.head = nullptr;
    bin.count = 0;
  }
  link_of(block).next = bin.head;
  bin.head = block;
  ++bin.count;
}

#endif  // !TASKBENCH_SYSTEM_BLOCKS

}  // namespace

#if defined(TASKBENCH_SYSTEM_BLOCKS)

void* allocate_block(std::uint32_t units) { return allocate_from_system(bytes_of(units)); }

void deallocate_block(void* block, std::uint32_t) noexcept { free_to_system(block); }

std::size_t reserved_block_bytes() noexcept { return 0; }

#else

void* allocate_block(std::uint32_t units) {
  if (units > kMaxCachedUnits) return allocate_from_system(bytes_of(units));
  ThreadCache& cache = thread_cache();
  Bin& bin = cache.bins[units];
  void* block = bin.head;
  if (block == nullptr) return refill(cache, bin, units);
  bin.head = link_of(block).next;
  --bin.count;
  // The next block's link is what the next allocation waits for.
  __builtin_prefetch(static_cast<std::byte*>(bin.head) + kLinkOffset, 1);
  return block;
}

void deallocate_block(void* block, std::uint32_t units) noexcept {
  if (units > kMaxCachedUnits) {
    free_to_system(block);
    return;
  }
  ThreadCache& cache = thread_cache();
  Bin& bin = cache.bins[units];
  if (bin.count >= kMagazineBlocks || !cache.registered) {
    spill(cache, bin, block, units);
    return;
  }
  link_of(block).next = bin.head;
  bin.head = block;
  ++bin.count;
}

std::size_t reserved_block_bytes() noexcept { return depot().reserved_bytes(); }

#endif

}  // namespace taskbench::rt::task
