// The waker: two pointers wide, with a table of functions of its own.
//
// A Waker may be moved to, woken from and destroyed on any thread, also after the runtime of its
// task has ended: it then does nothing. wake() consumes, wake_by_ref() does not; for a task
// neither changes a reference count except to give up the waker's own, in the same step.
#pragma once

#include <utility>

namespace taskbench::rt {

/// The functions behind a Waker. All are noexcept and callable from any thread.
struct WakerVTable {
  void* (*clone)(void* data) noexcept;       ///< returns the data of the new waker
  void (*wake)(void* data) noexcept;         ///< wakes and gives `data` up
  void (*wake_by_ref)(void* data) noexcept;  ///< wakes and keeps `data`
  void (*drop)(void* data) noexcept;         ///< gives `data` up
};

class Waker {
 public:
  Waker() = default;
  Waker(void* data, const WakerVTable* vtable) noexcept : data_(data), vtable_(vtable) {}
  Waker(Waker&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        vtable_(std::exchange(other.vtable_, nullptr)) {}
  Waker& operator=(Waker&& other) noexcept {
    if (this != &other) {
      reset();
      data_ = std::exchange(other.data_, nullptr);
      vtable_ = std::exchange(other.vtable_, nullptr);
    }
    return *this;
  }
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;
  ~Waker() { reset(); }

  [[nodiscard]] Waker clone() const noexcept {
    return vtable_ == nullptr ? Waker() : Waker(vtable_->clone(data_), vtable_);
  }
  void wake() && noexcept {
    if (vtable_ != nullptr) std::exchange(vtable_, nullptr)->wake(data_);
  }
  void wake_by_ref() const noexcept {
    if (vtable_ != nullptr) vtable_->wake_by_ref(data_);
  }
  /// Whether waking either has the same effect.
  [[nodiscard]] bool will_wake(const Waker& other) const noexcept {
    return data_ == other.data_ && vtable_ == other.vtable_;
  }
  explicit operator bool() const noexcept { return vtable_ != nullptr; }

 private:
  void reset() noexcept {
    if (vtable_ != nullptr) std::exchange(vtable_, nullptr)->drop(data_);
  }

  void* data_ = nullptr;
  const WakerVTable* vtable_ = nullptr;
};
static_assert(sizeof(Waker) == 2 * sizeof(void*));

}  // namespace taskbench::rt
