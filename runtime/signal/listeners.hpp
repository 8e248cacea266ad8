// The table in which a signal's handler finds the descriptors to write to.
//
// Threads: one at a time adds and removes; any tells, also in a handler.
//
// A descriptor that a handler is about to write to is not closed: the story of two threads
//   handler:  handlers_ += 1;  read the place in the table
//   remover:  clear it;        read handlers_
// All four are seq_cst: the handler finds the place empty, or the remover sees the handler, and
// waits for it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt::signal {

template <std::size_t kMost>
class Listeners {
 public:
  /// False: there is no room.
  [[nodiscard]] bool add(int number, int descriptor) noexcept {
    Place* const place = find(0);
    if (place == nullptr) return false;
    // relaxed: hands over nothing else, and the system, which is asked to install the handler, or
    // to send the signal, orders it before that
    place->store(place_of(number, descriptor), base::relaxed);
    return true;
  }

  /// Takes out a listener that was added. Its descriptor may be closed afterwards.
  void remove(int number, int descriptor) noexcept {
    // seq_cst: the remover's half of the story at the top
    find(place_of(number, descriptor))->store(0, base::seq_cst);
    // seq_cst: the second step of the remover in that story
    while (handlers_.load(base::seq_cst) != 0) base::yield_thread();
  }

  /// Calls `function(descriptor)` for each that listens to this signal.
  template <class Function>
  void tell(int number, Function function) noexcept {
    // seq_cst: the handler's half of the story at the top
    handlers_.fetch_add(1, base::seq_cst);
    for (const Place& each : places_) {
      // seq_cst: the second step of the handler in that story
      const std::uint64_t place = each.load(base::seq_cst);
      if (place >> 32 != static_cast<std::uint64_t>(number)) continue;
      function(static_cast<int>(static_cast<std::uint32_t>(place)));
    }
    // release: pairs with the load in remove(): the descriptor is closed after the write
    handlers_.fetch_sub(1, base::release);
  }

 private:
  /// The signal's number in the upper half, the descriptor in the lower; 0: nobody.
  using Place = base::Atomic<std::uint64_t>;

  static std::uint64_t place_of(int number, int descriptor) noexcept {
    return static_cast<std::uint64_t>(number) << 32 | static_cast<std::uint32_t>(descriptor);
  }

  /// The place that holds this; nullptr if none does.
  Place* find(std::uint64_t wanted) noexcept {
    // relaxed: changed by one thread at a time
    const auto found = std::ranges::find_if(
        places_, [wanted](const Place& each) { return each.load(base::relaxed) == wanted; });
    return found == places_.end() ? nullptr : &*found;
  }

  std::array<Place, kMost> places_{};
  base::Atomic<std::uint32_t> handlers_{0};  // that are running
};

}  // namespace taskbench::rt::signal
