#include "runtime/base/asymmetric_fences.hpp"

namespace taskbench::rt::base {
namespace {

/// Passers pay once heavy fences exceed the counted work between them by this number.
constexpr std::int32_t kMany = 16;

}  // namespace

constinit AsymmetricFences detail::fences;

FenceBalance::FenceBalance() noexcept {
  static const bool kHasBarrier = [] {
    const bool has = prepare_heavy_barrier();
    if (has) detail::fences.end_asking();
    return has;
  }();
  static_cast<void>(kHasBarrier);
}

void FenceBalance::count_heavy() noexcept {
  // relaxed: a count; threads that count at once may exceed kMany by their number
  if (surplus_.load(relaxed) < kMany) {
    surplus_.fetch_add(1, relaxed);  // relaxed: only a count
  } else {
    set_asking(true);
  }
}

void FenceBalance::lower() noexcept {
  // relaxed: a count; threads that count at once may fall below zero by their number
  if (surplus_.fetch_sub(1, relaxed) == 1) set_asking(false);
}

void FenceBalance::set_asking(bool asks) noexcept {
  if (asks_.load(relaxed) == asks) return;  // relaxed: a look that spares the lock
  const LockGuard lock(mutex_);
  if (asks_.load(relaxed) == asks) return;  // relaxed: written under mutex_
  asks_.store(asks, relaxed);               // relaxed: written under mutex_
  if (asks) {
    detail::fences.ask_passers();
  } else {
    detail::fences.end_asking();
  }
}

}  // namespace taskbench::rt::base
