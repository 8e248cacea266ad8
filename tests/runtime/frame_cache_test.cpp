// The memory of tasks: sizes, alignment, reuse, blocks freed by another thread, and threads that
// end. Under the sanitizers every block comes from the system: the tests of what is kept for reuse
// are not compiled then.
#include "runtime/task/frame_cache.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/base/cache_line.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/runtime.hpp"
#include "tests/runtime/allocations.hpp"
#include "tests/runtime/fixtures.hpp"

namespace taskbench::rt::task {
namespace {

#if defined(TASKBENCH_SYSTEM_BLOCKS)
constexpr bool kCached = false;
#else
constexpr bool kCached = true;
#endif

std::size_t bytes_of(std::uint32_t units) { return units * base::kCacheLineBytes; }

/// A block that is filled with a mark, so that overlaps show.
struct Block {
  void* memory;
  std::uint32_t units;
  unsigned char mark;

  Block(std::uint32_t size, unsigned char fill)
      : memory(allocate_block(size)), units(size), mark(fill) {
    std::memset(memory, mark, bytes_of(units));
  }
  void check_and_free() const {
    check();
    deallocate_block(memory, units);
  }
  void check() const {
    const auto* bytes = static_cast<const unsigned char*>(memory);
    EXPECT_TRUE(std::all_of(bytes, bytes + bytes_of(units),
                            [this](unsigned char byte) { return byte == mark; }));
  }
};

TEST(FrameCache, blocks_of_all_sizes_are_aligned_and_do_not_overlap) {
  std::vector<Block> blocks;
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t units = 2; units <= kMaxCachedUnits + 4; ++units) {
      blocks.emplace_back(units, static_cast<unsigned char>(blocks.size() % 251));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back().memory) % base::kCacheLineBytes, 0U);
    }
  }
  for (const Block& block : blocks) block.check_and_free();
}

#if !defined(TASKBENCH_SYSTEM_BLOCKS)
TEST(FrameCache, gives_the_block_that_was_freed_last) {
  void* const block = allocate_block(3);
  deallocate_block(block, 3);
  void* const again = allocate_block(3);
  EXPECT_EQ(again, block);
  deallocate_block(again, 3);
}
#endif

TEST(FrameCache, takes_no_more_from_the_system_for_what_is_freed_and_used_again) {
  std::vector<Block> blocks;
  const auto fill_and_free = [&] {
    for (int i = 0; i < 10 * static_cast<int>(kMagazineBlocks); ++i) blocks.emplace_back(4, 7);
    for (const Block& block : blocks) block.check_and_free();
    blocks.clear();
  };
  fill_and_free();
  const std::size_t reserved = reserved_block_bytes();
  EXPECT_EQ(reserved > 0, kCached);
  for (int round = 0; round < 10; ++round) fill_and_free();
  EXPECT_EQ(reserved_block_bytes(), reserved);
}

#if !defined(TASKBENCH_SYSTEM_BLOCKS)

/// The resident memory of the process.
std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t total_pages = 0;
  std::size_t pages = 0;
  file >> total_pages >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(FrameCache, gives_back_what_is_free_when_it_is_asked_to) {
  constexpr std::size_t kMiB = 1 << 20;
  std::vector<Block> kept;
  std::vector<Block> blocks;
  for (int round = 0; round < 2; ++round) {
    const std::size_t before = resident_bytes();
    for (int i = 0; i < 20'000; ++i) {
      blocks.emplace_back(16, 7);
      if (i % 2'000 == 0) kept.emplace_back(16, 9);
    }
    const std::size_t used = resident_bytes();
    EXPECT_GT(used, before + 15 * kMiB);
    for (const Block& block : blocks) block.check_and_free();
    blocks.clear();
    EXPECT_GT(trim(), 15 * kMiB);
    EXPECT_LT(resident_bytes(), used - 14 * kMiB);
    for (const Block& block : kept) block.check();
  }
  for (const Block& block : kept) block.check_and_free();
}

/// Allocates and frees so much that the depot considers returning memory.
void use_much() {
  std::vector<Block> blocks;
  for (int i = 0; i < 20'000; ++i) blocks.emplace_back(16, 7);
  for (const Block& block : blocks) block.check_and_free();
}

/// Whether a thread of this process has this name.
bool has_thread(const std::string& name) {
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(each.path() / "comm");
    std::string comm;
    if (std::getline(file, comm) && comm == name) return true;
  }
  return false;
}

TEST(FrameCache, gives_back_what_lies_idle) {
  // More than once: the trimming thread ends when nothing is left, and must start again.
  for (int round = 0; round < 2; ++round) {
    const std::size_t before = reserved_block_bytes();
    use_much();
    const std::size_t used = reserved_block_bytes();
    EXPECT_GT(used, before + (15 << 20));
    EXPECT_TRUE(has_thread("taskbench-trim"));
    EXPECT_TRUE(tests::eventually([&] { return reserved_block_bytes() < used / 4; }));
    EXPECT_TRUE(tests::eventually([] { return !has_thread("taskbench-trim"); }));
  }
}

TEST(FrameCache, gives_back_what_lies_idle_when_a_runtime_sleeps) {
  Runtime runtime = Runtime::Builder{}.workers(2).build();
  const std::size_t before = reserved_block_bytes();
  runtime.block_on([]() -> Task<> {
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < 20'000; ++i) handles.push_back(spawn([]() -> Task<> { co_return; }()));
    for (JoinHandle<void>& handle : handles) co_await handle;
  }());
  const std::size_t used = reserved_block_bytes();
  EXPECT_GT(used, before);
  EXPECT_TRUE(tests::eventually([&] { return reserved_block_bytes() < used; }));
}

TEST(FrameCache, keeps_what_lies_idle_while_instructions_are_counted) {
  {
    Runtime runtime = Runtime::Builder{}.scheduler("in_turn").build();
    use_much();
    const std::size_t used = reserved_block_bytes();
    std::this_thread::sleep_for(std::chrono::milliseconds(1'200));  // two looks
    EXPECT_EQ(reserved_block_bytes(), used);
  }
  EXPECT_TRUE(tests::eventually([] { return reserved_block_bytes() < (4U << 20); }));
}

#endif  // !TASKBENCH_SYSTEM_BLOCKS

TEST(FrameCache, large_blocks_and_no_others_are_the_systems) {
  const std::size_t reserved = reserved_block_bytes();
  // Many, as the trimming thread allocates a little, too.
  constexpr std::size_t kMany = 500;
  const auto takes_from_the_system = [](std::uint32_t units) {
    const std::size_t allocated = tests::allocations();
    const std::size_t freed = tests::deallocations();
    for (std::size_t i = 0; i < kMany; ++i) deallocate_block(allocate_block(units), units);
    const bool takes = tests::allocations() - allocated >= kMany;
    EXPECT_EQ(tests::deallocations() - freed >= kMany, takes) << units;
    return takes;
  };
  EXPECT_TRUE(takes_from_the_system(kMaxCachedUnits + 1));
  EXPECT_TRUE(takes_from_the_system(10'000));
  EXPECT_EQ(reserved_block_bytes(), reserved);
  EXPECT_EQ(takes_from_the_system(kMaxCachedUnits), !kCached);
  Block(kMaxCachedUnits + 1, 3).check_and_free();
}

/// In each of `rounds` rounds, this thread allocates and another one frees.
void hand_over(int rounds) {
  std::vector<Block> blocks;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 3 * static_cast<int>(kMagazineBlocks); ++i) blocks.emplace_back(5, 9);
    std::thread([&blocks] {
      for (const Block& block : blocks) block.check_and_free();
    }).join();
    blocks.clear();
  }
}

TEST(FrameCache, blocks_freed_by_another_thread_come_back) {
  hand_over(2);
  const std::size_t reserved = reserved_block_bytes();
  hand_over(20);
  EXPECT_EQ(reserved_block_bytes(), reserved);
}

TEST(FrameCache, a_thread_that_ends_gives_back_what_it_cached) {
  const auto use_a_little = [] {
    std::thread([] {
      for (std::uint32_t units = 2; units <= kMaxCachedUnits; ++units) {
        Block(units, 1).check_and_free();
      }
    }).join();
  };
  for (int i = 0; i < 3; ++i) use_a_little();
  const std::size_t reserved = reserved_block_bytes();
  for (int i = 0; i < 200; ++i) use_a_little();
  EXPECT_EQ(reserved_block_bytes(), reserved);
}

/// Frees at the end of its thread, after the thread's cache was returned.
struct FreesLate {
  std::vector<Block> blocks;
  ~FreesLate() {
    for (const Block& block : blocks) block.check_and_free();
    Block(6, 2).check_and_free();
  }
};

TEST(FrameCache, blocks_freed_while_a_thread_ends_come_back) {
  const auto free_late = [] {
    std::thread([] {
      // Constructed before the cache knows the thread, and so destroyed after it has let go of it.
      thread_local FreesLate late;
      for (int i = 0; i < 10; ++i) late.blocks.emplace_back(6, 4);
    }).join();
  };
  for (int i = 0; i < 20; ++i) free_late();
  const std::size_t reserved = reserved_block_bytes();
  for (int i = 0; i < 300; ++i) free_late();
  EXPECT_EQ(reserved_block_bytes(), reserved);
}

#if !defined(TASKBENCH_SYSTEM_BLOCKS)

/// A thread that does what it is told until its end.
class OtherThread {
 public:
  OtherThread() = default;
  OtherThread(const OtherThread&) = delete;
  OtherThread& operator=(const OtherThread&) = delete;
  ~OtherThread() {
    tell(nullptr);
    thread_.join();
  }

  /// Runs `work` on the thread, and returns when it is done.
  void run(std::function<void()> work) {
    tell(std::move(work));
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !is_told_; });
  }

 private:
  void tell(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    work_ = std::move(work);
    is_told_ = true;
    changed_.notify_all();
  }
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return is_told_; });
      if (!work_) return;
      work_();
      is_told_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  bool is_told_ = false;
  std::thread thread_{[this] { serve(); }};
};

/// Takes blocks of this size until neither the thread nor the depot has any left.
std::vector<void*> take_all(std::uint32_t units) {
  std::vector<void*> taken;
  const std::size_t before = reserved_block_bytes();
  while (reserved_block_bytes() == before) taken.push_back(allocate_block(units));
  // The last block has begun a new slab.
  for (std::uint32_t i = 1; i < kMagazineBlocks; ++i) taken.push_back(allocate_block(units));
  return taken;
}

/// Adds the next block to `blocks`. Returns whether it needed memory from the system.
bool is_fresh(std::vector<void*>& blocks, std::uint32_t units) {
  const std::size_t before = reserved_block_bytes();
  blocks.push_back(allocate_block(units));
  return reserved_block_bytes() != before;
}

class FrameCacheOfAThread : public ::testing::Test {
 protected:
  void SetUp() override { blocks_ = take_all(kUnits); }
  void TearDown() override {
    for (void* const block : blocks_) deallocate_block(block, kUnits);
  }

  static constexpr std::uint32_t kUnits = 29;
  std::vector<void*> blocks_;
};

TEST_F(FrameCacheOfAThread, keeps_two_magazines_and_hands_on_the_next) {
  OtherThread other;
  const auto frees = [&](std::uint32_t count) {
    other.run([&] {
      for (std::uint32_t i = 0; i < count; ++i) {
        deallocate_block(blocks_.back(), kUnits);
        blocks_.pop_back();
      }
    });
  };
  for (std::uint32_t i = 0; i < 3 * kMagazineBlocks; ++i) blocks_.push_back(allocate_block(kUnits));
  frees(2 * kMagazineBlocks);
  EXPECT_TRUE(is_fresh(blocks_, kUnits));
  for (std::uint32_t i = 1; i < kMagazineBlocks; ++i) EXPECT_FALSE(is_fresh(blocks_, kUnits));
  frees(1);
  for (std::uint32_t i = 0; i < kMagazineBlocks; ++i) EXPECT_FALSE(is_fresh(blocks_, kUnits));
  EXPECT_TRUE(is_fresh(blocks_, kUnits));
}

TEST_F(FrameCacheOfAThread, uses_both_magazines_that_it_keeps_before_it_takes_more) {
  OtherThread other;
  other.run([&] {
    const auto take_two_magazines = [&] {
      for (std::uint32_t i = 0; i < 2 * kMagazineBlocks; ++i) {
        blocks_.push_back(allocate_block(kUnits));
      }
    };
    take_two_magazines();
    for (std::uint32_t i = 0; i < 2 * kMagazineBlocks; ++i) {
      deallocate_block(blocks_.back(), kUnits);
      blocks_.pop_back();
    }
    const std::size_t before = reserved_block_bytes();
    take_two_magazines();
    EXPECT_LE(reserved_block_bytes(), before);
  });
}

TEST_F(FrameCacheOfAThread, keeps_what_it_has_not_used_yet) {
  EXPECT_TRUE(is_fresh(blocks_, kUnits));
  OtherThread other;
  other.run([&] { EXPECT_TRUE(is_fresh(blocks_, kUnits)); });
}

TEST_F(FrameCacheOfAThread, keeps_what_it_frees_and_uses_in_turn) {
  EXPECT_TRUE(is_fresh(blocks_, kUnits));
  for (std::uint32_t i = 0; i < 5 * kMagazineBlocks; ++i) {
    deallocate_block(blocks_.back(), kUnits);
    blocks_.back() = allocate_block(kUnits);
  }
  OtherThread other;
  other.run([&] { EXPECT_TRUE(is_fresh(blocks_, kUnits)); });
}

TEST_F(FrameCacheOfAThread, goes_at_its_end_though_it_has_freed_nothing) {
  const std::size_t before = reserved_block_bytes();
  for (std::uint32_t i = 0; i < kMagazineBlocks; ++i) {
    std::thread([&] { blocks_.push_back(allocate_block(kUnits)); }).join();
  }
  EXPECT_EQ(reserved_block_bytes(), before + kMagazineBlocks * bytes_of(kUnits));
}

/// Takes blocks at the end of its thread, after the thread's cache was returned.
struct TakesLate {
  std::uint32_t units;
  std::vector<void*>* blocks;
  ~TakesLate() {
    for (int i = 0; i < 2; ++i) blocks->push_back(allocate_block(units));
  }
};

TEST_F(FrameCacheOfAThread, is_not_filled_while_it_ends) {
  const std::size_t before = reserved_block_bytes();
  std::thread([&] {
    thread_local TakesLate late{kUnits, &blocks_};
    late.blocks->push_back(allocate_block(kUnits));
  }).join();
  EXPECT_EQ(std::set<void*>(blocks_.begin(), blocks_.end()).size(), blocks_.size());
  EXPECT_EQ(reserved_block_bytes(), before + kMagazineBlocks * bytes_of(kUnits));
}

#endif  // !TASKBENCH_SYSTEM_BLOCKS

TEST(FrameCacheThreads, no_block_is_handed_out_twice) {
  constexpr int kThreads = 3;
  constexpr int kRounds = tests::tries(300);
  std::vector<std::vector<Block>> mailboxes(kThreads);
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (unsigned own = 0; own < kThreads; ++own) {
    threads.emplace_back([&, own] {
      std::vector<Block> received;
      for (int round = 0; round < kRounds; ++round) {
        std::vector<Block> made;
        for (unsigned i = 0; i < 100; ++i) {
          made.emplace_back(2 + (i + own) % 4, static_cast<unsigned char>(own * 80 + i % 80));
        }
        {
          const std::lock_guard lock(mutex);
          received.swap(mailboxes[own]);
          std::vector<Block>& next = mailboxes[(own + 1) % kThreads];
          next.insert(next.end(), made.begin(), made.end());
        }
        for (const Block& block : received) block.check_and_free();
        received.clear();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<Block>& left : mailboxes) {
    for (const Block& block : left) block.check_and_free();
  }
}

}  // namespace
}  // namespace taskbench::rt::task
