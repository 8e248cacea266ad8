#include "runtime/task/frame_cache.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <new>
#include <utility>
#include <vector>

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

/// Slabs come from the system in regions of this size, which cost nothing before they are used.
constexpr std::size_t kRegionBytes = std::size_t{1} << 20;

/// Fewer magazines of a size are not worth a thread.
constexpr std::uint32_t kWorthwhile = 16;
/// Time between two looks at idle memory: the shortest, and the longest while there is nothing to
/// give back.
constexpr std::chrono::milliseconds kShortest{500};
constexpr std::chrono::milliseconds kLongest{64'000};

/// The free memory of one block size. Vectors, as slabs that were given back must not be written.
struct Shelf {
  base::Mutex mutex;
  void* magazines TASKBENCH_GUARDED_BY(mutex) = nullptr;
  std::uint32_t count TASKBENCH_GUARDED_BY(mutex) = 0;
  /// The lowest `count` since the last look.
  std::uint32_t lowest TASKBENCH_GUARDED_BY(mutex) = 0;
  /// Slabs that blocks were carved from.
  std::vector<std::byte*> slabs TASKBENCH_GUARDED_BY(mutex);
  /// Slabs whose pages have been given back.
  std::vector<std::byte*> spares TASKBENCH_GUARDED_BY(mutex);
};

/// Full magazines that no thread holds, and fresh memory. Shares no cache line with anything else:
/// a build in which the linker put it beside a flag that every schedule reads was 5 % slower.
class alignas(base::kFalseSharingBytes) Depot {
 public:
  /// Takes a full magazine. Returns its first block, or nullptr.
  void* take(std::uint32_t units) noexcept {
    Shelf& shelf = shelves_[units];
    base::LockGuard lock(shelf.mutex);
    void* magazine = shelf.magazines;
    if (magazine == nullptr) return nullptr;
    shelf.magazines = link_of(magazine).next_magazine;
    shelf.lowest = std::min(shelf.lowest, --shelf.count);
    return magazine;
  }

  void put(void* magazine, std::uint32_t units) noexcept {
    Shelf& shelf = shelves_[units];
    {
      base::LockGuard lock(shelf.mutex);
      link_of(magazine).next_magazine = shelf.magazines;
      shelf.magazines = magazine;
      // relaxed: ordered by the shelf's mutex, see trim_while_worthwhile()
      if (++shelf.count < kWorthwhile || has_trimmer_.load(base::relaxed)) return;
    }
    start_trimmer();
  }

  /// Counts the KeepsIdleBlocks: one more, or one less.
  void keep_idle(std::int32_t change) noexcept {
    keepers_.fetch_add(change, base::relaxed);  // relaxed: advice
  }

  /// Makes a magazine of fresh blocks, in address order.
  void* carve(std::uint32_t units) {
    const std::size_t block_bytes = bytes_of(units);
    std::byte* const slab = take_slab(units);
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

  /// Gives back all free memory. Returns how many bytes.
  std::size_t trim() noexcept {
    std::size_t bytes = 0;
    for (std::uint32_t units = 2; units <= kMaxCachedUnits; ++units) {
      bytes += give_back(units, UINT32_MAX);
    }
    return bytes;
  }

 private:
  void start_trimmer() noexcept {
    // relaxed: only decides which thread starts it
    if (has_trimmer_.exchange(true, base::relaxed)) return;
    // relaxed: advice: the next magazine tries again
    if (!base::start_background_thread("taskbench-trim", trim_on_this_thread)) {
      has_trimmer_.store(false, base::relaxed);
    }
  }

  static void trim_on_this_thread() noexcept;
  void trim_while_worthwhile() noexcept;
  std::chrono::milliseconds trim_idle(std::chrono::milliseconds pause) noexcept;

  [[nodiscard]] bool is_worthwhile() noexcept {
    return std::any_of(std::begin(shelves_), std::end(shelves_), [](Shelf& shelf) {
      const base::LockGuard lock(shelf.mutex);
      return shelf.count >= kWorthwhile;
    });
  }

  std::byte* take_slab(std::uint32_t units) {
    const std::size_t bytes = bytes_of(units) * kMagazineBlocks;
    Shelf& shelf = shelves_[units];
    const base::LockGuard lock(shelf.mutex);
    shelf.slabs.push_back(nullptr);
    std::byte* slab = nullptr;
    if (!shelf.spares.empty()) {
      slab = shelf.spares.back();
      shelf.spares.pop_back();
    } else {
      try {
        slab = fresh(bytes);
      } catch (...) {
        shelf.slabs.pop_back();
        throw;
      }
    }
    shelf.slabs.back() = slab;
    return slab;
  }

  std::byte* fresh(std::size_t bytes) {
    const base::LockGuard lock(region_mutex_);
    if (region_left_ < bytes) {
      void* const region =
          mmap(nullptr, kRegionBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (region == MAP_FAILED) throw std::bad_alloc();
      region_ = static_cast<std::byte*>(region);
      region_left_ = kRegionBytes;
    }
    region_left_ -= bytes;
    return std::exchange(region_, region_ + bytes);
  }

  std::size_t give_back(std::uint32_t units, std::uint32_t most) noexcept;

  Shelf shelves_[kMaxCachedUnits + 1];
  base::Atomic<std::size_t> reserved_bytes_{0};
  base::Atomic<bool> has_trimmer_{false};
  base::Atomic<std::int32_t> keepers_{0};
  base::Mutex region_mutex_;
  std::byte* region_ TASKBENCH_GUARDED_BY(region_mutex_) = nullptr;
  std::size_t region_left_ TASKBENCH_GUARDED_BY(region_mutex_) = 0;
};

/// The blocks of all `magazines`, in the order of their addresses.
std::vector<std::byte*> blocks_of(void* magazines) {
  std::vector<std::byte*> blocks;
  for (void* first = magazines; first != nullptr; first = link_of(first).next_magazine) {
    for (void* each = first; each != nullptr; each = link_of(each).next) {
      blocks.push_back(static_cast<std::byte*>(each));
    }
  }
  std::sort(blocks.begin(), blocks.end(), std::less<>{});
  return blocks;
}

/// Gives back at most `most` slabs whose blocks are all there. The other blocks end up in magazines
/// of neighbours. Does not hold the lock meanwhile: there may be hundreds of thousands of blocks.
std::size_t Depot::give_back(std::uint32_t units, std::uint32_t most) noexcept {
  const std::size_t bytes = bytes_of(units) * kMagazineBlocks;
  Shelf& shelf = shelves_[units];
  void* magazines = nullptr;
  std::vector<std::byte*> spares;
  try {
    std::vector<std::byte*> slabs;
    {
      const base::LockGuard lock(shelf.mutex);
      shelf.spares.reserve(shelf.spares.size() + shelf.slabs.size());
      slabs = shelf.slabs;
      magazines = std::exchange(shelf.magazines, nullptr);
      shelf.count = shelf.lowest = 0;
    }
    const std::vector<std::byte*> blocks = blocks_of(magazines);
    std::sort(slabs.begin(), slabs.end(), std::less<>{});
    spares.reserve(slabs.size());
    // Nothing throws from here on.
    magazines = nullptr;
    std::uint32_t filled = 0;
    auto next = blocks.begin();
    for (std::byte* const slab : slabs) {
      const auto end = std::find_if(next, blocks.end(), [&](std::byte* block) {
        return std::less<>{}(slab + bytes - 1, block);
      });
      if (end - next == kMagazineBlocks && spares.size() < most) {
        static_cast<void>(madvise(slab, bytes, MADV_DONTNEED));
        spares.push_back(slab);
        next = end;
      }
      for (; next != end; ++next) {
        Link& link = link_of(*next);
        if (filled == 0) {
          link = {.next = nullptr, .next_magazine = magazines};
        } else {
          link = {.next = magazines, .next_magazine = link_of(magazines).next_magazine};
        }
        magazines = *next;
        filled = (filled + 1) % kMagazineBlocks;
      }
    }
  } catch (const std::bad_alloc&) {
    // Memory is short: try another time.
  }
  while (magazines != nullptr) {
    put(std::exchange(magazines, link_of(magazines).next_magazine), units);
  }
  const base::LockGuard lock(shelf.mutex);
  std::erase_if(shelf.slabs, [&](std::byte* slab) {
    return std::binary_search(spares.begin(), spares.end(), slab, std::less<>{});
  });
  shelf.spares.insert(shelf.spares.end(), spares.begin(), spares.end());  // reserved above
  shelf.lowest = shelf.count;
  // relaxed: a statistic
  reserved_bytes_.fetch_sub(spares.size() * bytes, base::relaxed);
  return spares.size() * bytes;
}

/// Gives back as much of each size as has lain idle since the last call. Returns how long to wait
/// before the next one; `pause` is how long the last wait was.
std::chrono::milliseconds Depot::trim_idle(std::chrono::milliseconds pause) noexcept {
  std::size_t bytes = 0;
  bool tried = false;
  for (std::uint32_t units = 2; units <= kMaxCachedUnits; ++units) {
    std::uint32_t idle = 0;
    {
      Shelf& shelf = shelves_[units];
      const base::LockGuard lock(shelf.mutex);
      idle = std::exchange(shelf.lowest, shelf.count);
    }
    if (idle < kWorthwhile) continue;
    tried = true;
    bytes += give_back(units, idle);
  }
  if (bytes != 0) return kShortest;
  return tried ? std::min(2 * pause, kLongest) : pause;
}

/// The body of the depot's thread. No magazine is missed when it ends: one that is put on a shelf
/// before the last look at that shelf is seen there, and a thread that puts one there later sees
/// that the depot's thread is gone. The shelf's mutex orders the two.
void Depot::trim_while_worthwhile() noexcept {
  std::chrono::milliseconds pause = kShortest;
  do {
    do {
      base::sleep_for(pause);
      // relaxed: advice
      if (keepers_.load(base::relaxed) == 0) pause = trim_idle(pause);
    } while (is_worthwhile());
    has_trimmer_.store(false, base::relaxed);  // relaxed: ordered by the mutexes of the shelves
    // relaxed: only decides whose turn it is
  } while (is_worthwhile() && !has_trimmer_.exchange(true, base::relaxed));
}

Depot& depot() {
  // Never destroyed: threads may free blocks after static destruction has begun.
  alignas(Depot) static std::byte storage[sizeof(Depot)];
  static Depot* const instance = new (storage) Depot;
  return *instance;
}

void Depot::trim_on_this_thread() noexcept { depot().trim_while_worthwhile(); }

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

void flush(ThreadCache& cache) noexcept {
  for (std::uint32_t units = 2; units <= kMaxCachedUnits; ++units) {
    Bin& bin = cache.bins[units];
    // A magazine is any list here: one that is not full is only used up sooner.
    if (bin.head != nullptr) depot().put(bin.head, units);
    if (bin.reserve != nullptr) depot().put(bin.reserve, units);
    bin = {};
  }
}

/// Gives a thread's blocks back when it ends.
struct Flusher {
  ~Flusher() {
    ThreadCache& cache = thread_cache();
    cache.closed = true;
    cache.registered = false;  // the slow paths find `closed`
    flush(cache);
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
    // A list that is kept now would never be flushed: take one block, give the rest away.
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
std::size_t trim() noexcept { return 0; }
KeepsIdleBlocks::KeepsIdleBlocks() noexcept = default;
KeepsIdleBlocks::~KeepsIdleBlocks() = default;

#else

void* allocate_block(std::uint32_t units) {
  if (units > kMaxCachedUnits) return allocate_from_system(bytes_of(units));
  ThreadCache& cache = thread_cache();
  Bin& bin = cache.bins[units];
  void* block = bin.head;
  if (block == nullptr) return refill(cache, bin, units);
  bin.head = link_of(block).next;
  --bin.count;
  // The next allocation waits for the next block's link.
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

std::size_t trim() noexcept {
  flush(thread_cache());
  return depot().trim();
}

KeepsIdleBlocks::KeepsIdleBlocks() noexcept { depot().keep_idle(1); }
KeepsIdleBlocks::~KeepsIdleBlocks() { depot().keep_idle(-1); }

#endif

}  // namespace taskbench::rt::task
