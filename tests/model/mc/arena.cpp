#include "tests/model/mc/arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace mc {

Arena::Arena()
    : memory_(static_cast<std::byte*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
  if (memory_ == MAP_FAILED) std::abort();
}

Arena::~Arena() { munmap(memory_, kBytes); }

void* Arena::allocate(std::size_t size, std::size_t alignment, int thread) {
  const std::size_t begin = (used_ + alignment - 1) / alignment * alignment;
  if (begin + size > kHeapBytes) return nullptr;
  used_ = begin + std::max<std::size_t>(size, 1);
  blocks_.push_back({memory_ + begin, size, thread, false});
  return memory_ + begin;
}

Arena::Block* Arena::block_at(const void* memory) {
  const auto found =
      std::ranges::lower_bound(blocks_, static_cast<const std::byte*>(memory), {},
                               [](const Block& block) -> const std::byte* { return block.begin; });
  return found != blocks_.end() && found->begin == memory ? &*found : nullptr;
}

std::byte* Arena::stack(int thread) {
  return memory_ + kHeapBytes + static_cast<std::size_t>(thread) * kStackBytes;
}

void Arena::reset() {
  used_ = 0;
  blocks_.clear();
}

}  // namespace mc
