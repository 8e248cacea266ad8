// Epoch-based reclamation: unlinked memory is freed once no thread can be reading it.
//
// A thread pins itself before it reads memory that others may unlink, and unpins afterwards.
// Unlinked memory is kept with the epoch of that moment. The epoch moves on only when all pinned
// threads have pinned in the current one; when it has moved on twice, no thread is left that could
// have seen what was unlinked before, and it is freed.
//
// Threads: the functions of a participant by the thread that it stands for, one at a time.
//
// Invariants
//   E1  A participant is pinned in an epoch at most one behind, or the epoch does not move on: a
//       thread that pins with an outdated epoch only holds the others up.
//   E2  Memory unlinked in epoch e is freed in e + 2 at the earliest.
//
// Why no thread reads freed memory: the story of three threads
//   reader:    pinned_ = e;   fence;  read the link
//   unlinker:  change the link;       fence;  read epoch_ (the tag)
//   advancer:  read epoch_;           fence;  read every pinned_;  epoch_ += 1
// If the reader saw the link as it was before, its fence comes before the unlinker's. Of the two
// advances that free, the second has read an epoch that the unlinker did not see, so its fence
// comes after the unlinker's: it sees the reader pinned in an older epoch, and does not advance.
//
// Reference: Fraser, "Practical lock-freedom" (2004), 5.2.3; Turon, "Lock-freedom without garbage
// collection" (2015), which describes crossbeam's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/base/cache_line.hpp"
#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt::queue {

/// The destructor of `Garbage` frees it.
template <class Garbage>
class Epochs {
 public:
  explicit Epochs(std::size_t participants)
      : count_(participants), participants_(std::make_unique<Participant[]>(participants)) {}

  /// From here to unpin() nothing that participant `index` may see is freed.
  void pin(std::size_t index) noexcept {
    // relaxed: an outdated epoch only holds others up (E1)
    const std::uint64_t now = epoch_.load(base::relaxed);
    // release: pairs with the acquire in advance(): what this thread has read before is done with
    participants_[index].pinned.store(2 * now + 1, base::release);
    base::full_fence();  // seq_cst: the reader's part of the story at the top
  }
  void unpin(std::size_t index) noexcept {
    // release: pairs with the acquire in advance(). A read-modify-write, though a store would do:
    // that is what the section costs in the scheduler that tokio01 models
    participants_[index].pinned.exchange(0, base::release);
  }

  /// Takes over garbage that participant `index`, which need not be pinned, has just unlinked.
  void defer(std::size_t index, Garbage garbage) {
    base::full_fence();  // seq_cst: the unlinker's part of the story at the top
    std::vector<Tagged>& own = participants_[index].garbage;
    // relaxed: ordered by the fence
    own.push_back({epoch_.load(base::relaxed), std::move(garbage)});
    advance();
    // acquire: pairs with the release in advance(): all reads of the freed memory are over
    const std::uint64_t now = epoch_.load(base::acquire);
    std::erase_if(own, [now](const Tagged& each) { return each.epoch + 2 <= now; });
  }

  /// Moves the epoch on, unless some participant is pinned in an older one.
  void advance() noexcept {
    // relaxed: ordered by the fence; the compare-exchange below decides
    std::uint64_t now = epoch_.load(base::relaxed);
    base::full_fence();  // seq_cst: the advancer's part of the story at the top
    for (std::size_t i = 0; i < count_; ++i) {
      // acquire: pairs with the release in unpin() and pin()
      const std::uint64_t pinned = participants_[i].pinned.load(base::acquire);
      if (pinned != 0 && pinned != 2 * now + 1) return;
    }
    // release: pairs with the acquire in defer(), also through a later advance. relaxed: on failure
    // another thread has moved the epoch on
    epoch_.compare_exchange_strong(now, now + 1, base::release, base::relaxed);
  }

 private:
  struct Tagged {
    std::uint64_t epoch;
    Garbage garbage;
  };
  struct alignas(base::kFalseSharingBytes) Participant {
    base::Atomic<std::uint64_t> pinned{0};  // 0, or twice the epoch plus 1
    std::vector<Tagged> garbage;            // the participant's own
  };

  base::Atomic<std::uint64_t> epoch_{0};
  const std::size_t count_;
  std::unique_ptr<Participant[]> participants_;
};

}  // namespace taskbench::rt::queue
