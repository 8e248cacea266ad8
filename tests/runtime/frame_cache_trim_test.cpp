// The return of unused task memory: which memory, and when. The trimming thread looks when a test
// lets it, and the system's memory calls fail when a test wants them to.
#include "runtime/task/frame_cache.hpp"

#if !defined(TASKBENCH_SYSTEM_BLOCKS)

#include <gtest/gtest.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <filesystem>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/base/cache_line.hpp"
#include "tests/runtime/allocations.hpp"
#include "tests/runtime/fixtures.hpp"

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kRegionBytes = std::size_t{1} << 20;

std::atomic<int> regions_mapped{0};
std::atomic<bool> no_region_is_left{false};
/// Called in place of madvise, unless empty; its result is returned.
std::function<int()> instead_of_madvise;

/// How the trimming thread sleeps: as long as it wants to, or until a test releases it.
class TrimmersSleep {
 public:
  void pass(std::chrono::nanoseconds time) {
    std::unique_lock lock(mutex_);
    asleep_for_ = time;
    thread_ = std::to_string(gettid());
    changed_.notify_all();
    const auto end = std::chrono::steady_clock::now() + time;
    for (;;) {
      if (!by_hand_) {
        if (changed_.wait_until(lock, end) == std::cv_status::timeout && !by_hand_) break;
      } else if (may_go_on_) {
        break;
      } else {
        changed_.wait(lock);
      }
    }
    may_go_on_ = false;
    asleep_for_.reset();
  }

  void set_by_hand(bool by_hand) {
    const std::lock_guard lock(mutex_);
    by_hand_ = by_hand;
    changed_.notify_all();
  }
  void end() {
    const std::lock_guard lock(mutex_);
    may_go_on_ = true;
    asleep_for_.reset();
    changed_.notify_all();
  }
  [[nodiscard]] std::optional<std::chrono::nanoseconds> asleep_for() {
    const std::lock_guard lock(mutex_);
    return asleep_for_;
  }
  /// The id of the thread that slept last.
  [[nodiscard]] std::string thread() {
    const std::lock_guard lock(mutex_);
    return thread_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool by_hand_ = false;
  bool may_go_on_ = false;
  std::optional<std::chrono::nanoseconds> asleep_for_;
  std::string thread_;
};

TrimmersSleep& trimmers_sleep() {
  static auto* const kNeverDestroyed = new TrimmersSleep;  // the thread may still sleep at exit
  return *kNeverDestroyed;
}

}  // namespace

extern "C" {

int nanosleep(const timespec* time, timespec* left) {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  if (std::string_view(name.data()) != "taskbench-trim") {
    return static_cast<int>(syscall(SYS_nanosleep, time, left));
  }
  trimmers_sleep().pass(std::chrono::seconds(time->tv_sec) +
                        std::chrono::nanoseconds(time->tv_nsec));
  return 0;
}

void* mmap(void* address, std::size_t bytes, int protection, int flags, int descriptor,
           off_t offset) noexcept {
  if (bytes == kRegionBytes) {
    if (no_region_is_left) {
      errno = ENOMEM;
      return MAP_FAILED;
    }
    ++regions_mapped;
  }
  return reinterpret_cast<void*>(
      syscall(SYS_mmap, address, bytes, protection, flags, descriptor, offset));
}

int madvise(void* address, std::size_t bytes, int advice) noexcept {
  if (instead_of_madvise) return instead_of_madvise();
  return static_cast<int>(syscall(SYS_madvise, address, bytes, advice));
}

}  // extern "C"

namespace taskbench::rt::task {
namespace {

/// The threads of this process, by their ids.
std::set<std::string> threads() {
  std::set<std::string> all;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    all.insert(each.path().filename());
  }
  return all;
}

/// Returns how many threads there are that are not in `before`.
std::size_t begun_since(const std::set<std::string>& before) {
  const std::set<std::string> now = threads();
  return static_cast<std::size_t>(
      std::ranges::count_if(now, [&](const std::string& each) { return !before.contains(each); }));
}

/// Makes the trimming thread look only when told to, for as long as it lives.
class TrimmerByHand {
 public:
  TrimmerByHand() {
    trimmers_sleep().set_by_hand(true);
    // A trimming thread left by an earlier test sleeps, or is about to.
    static_cast<void>(tests::eventually(is_asleep, 2ms));
    EXPECT_TRUE(ends_with_nothing_left());
  }
  TrimmerByHand(const TrimmerByHand&) = delete;
  TrimmerByHand& operator=(const TrimmerByHand&) = delete;
  ~TrimmerByHand() { trimmers_sleep().set_by_hand(false); }

  /// Lets the thread look once. Returns how long it wants to sleep next, or nothing if it has
  /// ended.
  std::optional<std::chrono::milliseconds> look() {
    if (!is_there()) {
      ADD_FAILURE() << "no thread gives memory back";
      return std::nullopt;
    }
    const std::string number = trimmers_sleep().thread();
    trimmers_sleep().end();
    std::optional<std::chrono::nanoseconds> next;
    EXPECT_TRUE(tests::eventually([&] {
      next = trimmers_sleep().asleep_for();
      return next.has_value() || !threads().contains(number);
    }));
    if (!next) return std::nullopt;
    return std::chrono::duration_cast<std::chrono::milliseconds>(*next);
  }

  /// Whether the thread, if there is one, ends once all free memory has been returned.
  [[nodiscard]] bool ends_with_nothing_left() {
    for (int looks = 0; looks < 5; ++looks) {
      static_cast<void>(trim());
      if (!is_there() || !look()) return true;
    }
    return false;
  }

 private:
  static bool is_asleep() { return trimmers_sleep().asleep_for().has_value(); }
  /// Whether there is a trimming thread; if so, it is asleep.
  [[nodiscard]] bool is_there() const {
    EXPECT_TRUE(tests::eventually([this] { return is_asleep() || begun_since(others_) == 0; }));
    return is_asleep();
  }

  const std::set<std::string> others_ = threads();
};

constexpr std::uint32_t kUnits = kMaxCachedUnits;
constexpr std::size_t kSlabBytes = kUnits * base::kCacheLineBytes * kMagazineBlocks;

/// Runs `work` on a thread that keeps nothing: at its end, all its magazines go to the depot.
template <class Work>
void on_a_thread(Work work) {
  std::thread(work).join();
}

class FrameCacheTrim : public ::testing::Test {
 protected:
  void SetUp() override {
    // Takes all existing blocks of this size, so that later ones come from new slabs.
    while (reserved_block_bytes() == before_) others_.push_back(allocate_block(kUnits));
    for (std::uint32_t i = 1; i < kMagazineBlocks; ++i) others_.push_back(allocate_block(kUnits));
    before_ = reserved_block_bytes();
  }
  void TearDown() override {
    instead_of_madvise = nullptr;
    no_region_is_left = false;
    free_all(others_);
    free_all(blocks_);
    EXPECT_TRUE(trimmer_.ends_with_nothing_left());
    EXPECT_LE(reserved_block_bytes(), at_first_);
  }

  /// Takes all blocks of `count` new slabs, in the order of the slabs.
  void take_slabs(std::size_t count) {
    for (std::size_t i = 0; i < count * kMagazineBlocks; ++i) {
      blocks_.push_back(allocate_block(kUnits));
    }
  }
  static void free_all(std::vector<void*>& blocks) {
    for (void* const block : blocks) deallocate_block(block, kUnits);
    blocks.clear();
  }
  /// Frees all of them into the depot.
  void hand_over(std::vector<void*>& blocks) {
    on_a_thread([&] { free_all(blocks); });
  }
  /// Frees enough that this thread passes `magazines` magazines on to the depot; it keeps two, and
  /// one block.
  void hand_on(std::size_t magazines) {
    handed_on_ += magazines;
    while (freed_ < (handed_on_ + 1) * kMagazineBlocks + 1) {
      deallocate_block(blocks_.back(), kUnits);
      blocks_.pop_back();
      ++freed_;
    }
  }
  /// Takes one block of each of the first `slabs` slabs out of blocks_.
  std::vector<void*> take_one_of_each(std::size_t slabs) {
    std::vector<void*> ones;
    for (std::size_t i = slabs; i-- > 0;) {
      const auto one = blocks_.begin() + static_cast<std::ptrdiff_t>(i * kMagazineBlocks + i % 60);
      ones.push_back(*one);
      blocks_.erase(one);
    }
    return ones;
  }
  /// The number of slabs in use beyond the initial ones.
  [[nodiscard]] std::size_t slabs() const {
    return (reserved_block_bytes() - before_) / kSlabBytes;
  }

  TrimmerByHand trimmer_;
  const std::size_t at_first_ = reserved_block_bytes();
  std::size_t before_ = at_first_;
  std::vector<void*> others_;
  std::vector<void*> blocks_;
  std::size_t handed_on_ = 0;
  std::size_t freed_ = 0;
};

TEST_F(FrameCacheTrim, begins_with_the_sixteenth_magazine_and_one_thread_does_it) {
  take_slabs(22);
  const auto without = threads();
  hand_on(15);
  EXPECT_EQ(begun_since(without), 0U);
  hand_on(1);
  EXPECT_EQ(begun_since(without), 1U);
  hand_on(4);
  EXPECT_EQ(begun_since(without), 1U);
  EXPECT_EQ(trimmer_.look(), 500ms);
}

TEST_F(FrameCacheTrim, tries_again_with_the_next_magazine_where_there_was_no_thread) {
  take_slabs(22);
  const auto without = threads();
  {
    const tests::NoMemory none;
    hand_on(16);
  }
  EXPECT_EQ(begun_since(without), 0U);
  hand_on(1);
  EXPECT_EQ(begun_since(without), 1U);
  EXPECT_EQ(trimmer_.look(), 500ms);
}

TEST_F(FrameCacheTrim, gives_back_as_many_slabs_as_nobody_has_wanted_since_the_last_look) {
  for (int round = 0; round < 2; ++round) {
    take_slabs(40);
    hand_over(blocks_);
    EXPECT_EQ(trimmer_.look(), 500ms);
    EXPECT_EQ(slabs(), 40U);
    on_a_thread([&] {
      take_slabs(24);
      free_all(blocks_);
    });
    EXPECT_EQ(trimmer_.look(), 500ms);
    EXPECT_EQ(slabs(), 24U);
    EXPECT_EQ(trimmer_.look(), std::nullopt);
    EXPECT_EQ(slabs(), 0U);
  }
}

TEST_F(FrameCacheTrim, ends_when_what_was_there_is_wanted) {
  take_slabs(20);
  hand_over(blocks_);
  EXPECT_EQ(trimmer_.look(), 500ms);
  take_slabs(20);
  EXPECT_EQ(trimmer_.look(), std::nullopt);
  EXPECT_EQ(slabs(), 20U);
}

TEST_F(FrameCacheTrim, looks_less_and_less_often_where_nothing_can_be_given_back) {
  take_slabs(24);
  std::vector<void*> kept = take_one_of_each(24);
  hand_over(blocks_);
  EXPECT_EQ(trimmer_.look(), 500ms);
  for (const auto pause :
       {1'000ms, 2'000ms, 4'000ms, 8'000ms, 16'000ms, 32'000ms, 64'000ms, 64'000ms}) {
    EXPECT_EQ(trimmer_.look(), pause);
  }
  EXPECT_EQ(slabs(), 24U);
  blocks_.assign(kept.begin(), kept.begin() + 4);
  kept.erase(kept.begin(), kept.begin() + 4);
  hand_over(blocks_);
  EXPECT_EQ(trimmer_.look(), 500ms);
  EXPECT_EQ(slabs(), 20U);
  hand_over(kept);
  EXPECT_EQ(trimmer_.look(), std::nullopt);
  EXPECT_EQ(slabs(), 0U);
}

TEST_F(FrameCacheTrim, puts_the_blocks_of_slabs_in_use_together) {
  take_slabs(25);
  std::vector<void*> kept = take_one_of_each(5);
  hand_over(blocks_);
  EXPECT_EQ(trimmer_.look(), 500ms);
  // Five magazines are left, which are not worth a thread.
  EXPECT_EQ(trimmer_.look(), std::nullopt);
  EXPECT_EQ(slabs(), 5U);
  for (std::size_t i = 0; i < 5 * (kMagazineBlocks - 1); ++i) {
    blocks_.push_back(allocate_block(kUnits));
  }
  EXPECT_EQ(slabs(), 5U);
  free_all(kept);
}

TEST_F(FrameCacheTrim, gives_nothing_back_while_somebody_keeps_what_is_idle) {
  take_slabs(16);
  hand_over(blocks_);
  {
    const KeepsIdleBlocks keeps;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(trimmer_.look(), 500ms);
    EXPECT_EQ(slabs(), 16U);
  }
  EXPECT_EQ(trimmer_.look(), 500ms);
  EXPECT_EQ(trimmer_.look(), std::nullopt);
  EXPECT_EQ(slabs(), 0U);
}

TEST_F(FrameCacheTrim, when_it_is_asked_for_takes_also_what_the_thread_has_cached) {
  take_slabs(2);
  free_all(blocks_);
  EXPECT_EQ(trim(), 2 * kSlabBytes);
  EXPECT_EQ(slabs(), 0U);
}

TEST_F(FrameCacheTrim, keeps_the_addresses_for_the_next) {
  take_slabs(20);
  free_all(blocks_);
  EXPECT_EQ(trim(), 20 * kSlabBytes);
  const int mapped = regions_mapped;
  for (int round = 0; round < 3; ++round) {
    take_slabs(20);
    free_all(blocks_);
    EXPECT_EQ(trim(), 20 * kSlabBytes);
  }
  EXPECT_EQ(regions_mapped, mapped);
}

TEST_F(FrameCacheTrim, uses_all_of_a_region) {
  constexpr std::size_t kSlabsOfARegion = kRegionBytes / kSlabBytes;
  const int before = regions_mapped;
  while (regions_mapped == before) take_slabs(1);
  take_slabs(kSlabsOfARegion - 1);
  EXPECT_EQ(regions_mapped, before + 1);
  take_slabs(1);
  EXPECT_EQ(regions_mapped, before + 2);
}

TEST_F(FrameCacheTrim, pages_that_the_system_does_not_take_are_used_again) {
  take_slabs(20);
  hand_over(blocks_);
  instead_of_madvise = [] {
    errno = EINVAL;
    return -1;
  };
  EXPECT_EQ(trim(), 20 * kSlabBytes);
  take_slabs(20);
  EXPECT_EQ(std::set<void*>(blocks_.begin(), blocks_.end()).size(), blocks_.size());
}

TEST_F(FrameCacheTrim, needs_no_memory_once_it_has_begun) {
  constexpr std::size_t kMany = 200;  // more than any test before
  take_slabs(kMany);
  hand_over(blocks_);
  std::optional<tests::NoMemory> none;
  instead_of_madvise = [&none] {
    if (!none) none.emplace();
    return 0;
  };
  const std::size_t bytes = trim();
  none.reset();
  EXPECT_EQ(bytes, kMany * kSlabBytes);
  EXPECT_EQ(slabs(), 0U);
}

TEST_F(FrameCacheTrim, remembers_a_slab_once) {
  const auto take_and_trim = [this] {
    take_slabs(1);
    free_all(blocks_);
    EXPECT_EQ(trim(), kSlabBytes);
  };
  take_and_trim();
  const std::size_t before = ::mallinfo2().uordblks;
  for (int i = 0; i < 400; ++i) take_and_trim();
  EXPECT_LT(::mallinfo2().uordblks, before + 400 * sizeof(void*));
}

TEST_F(FrameCacheTrim, without_memory_gives_nothing_back_and_loses_nothing) {
  take_slabs(20);
  hand_over(blocks_);
  {
    const tests::NoMemory none;
    EXPECT_EQ(trim(), 0U);
  }
  EXPECT_EQ(trim(), 20 * kSlabBytes);
}

TEST_F(FrameCacheTrim, a_slab_that_cannot_be_had_leaves_nothing_behind) {
  const int before = regions_mapped;
  while (regions_mapped == before) take_slabs(1);
  take_slabs(kRegionBytes / kSlabBytes - 1);
  no_region_is_left = true;
  EXPECT_THROW(static_cast<void>(allocate_block(kUnits)), std::bad_alloc);
  const std::size_t allocated = tests::allocations();
  for (int i = 0; i < 2'000; ++i) {
    EXPECT_THROW(static_cast<void>(allocate_block(kUnits)), std::bad_alloc);
  }
  EXPECT_LT(tests::allocations() - allocated, 3U);
  no_region_is_left = false;
  take_slabs(1);
}

}  // namespace
}  // namespace taskbench::rt::task

#endif  // !TASKBENCH_SYSTEM_BLOCKS
