// Joint ownership: an object that counts its owners, and is destroyed with the last.
//
// Threads: an owner belongs to one thread at a time; owners of one object to any. To make a new one
// from a pointer, the caller must know that some other stays meanwhile.
//
// Rejected: std::shared_ptr. The permutation tester could not see its counts; it takes two words
// where one would do, and a compare-exchange loop to share an object from its `this`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt::base {

/// Base of jointly owned classes.
class Shared {
 public:
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

 protected:
  Shared() = default;
  ~Shared() = default;

 private:
  template <class T>
  friend class Ref;

  void add_owner() noexcept {
    owners_.fetch_add(1, relaxed);  // relaxed: some owner stays while this one is made
  }
  [[nodiscard]] bool drop_owner() noexcept {
    // acq_rel: pairs with itself: what each owner did comes before the last destroys the object
    return owners_.fetch_sub(1, acq_rel) == 1;
  }

  Atomic<std::uint32_t> owners_{0};
};

/// An owner of a T, or of nothing.
template <class T>
class Ref {
 public:
  constexpr Ref() noexcept = default;
  explicit Ref(T* object) noexcept : object_(object) {
    if (object != nullptr) object->add_owner();
  }
  Ref(const Ref& other) noexcept : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  /// Converts an owner of a class derived from T, whose destructor must be virtual.
  template <class Derived>
  Ref(Ref<Derived> other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(const Ref& other) noexcept { return *this = Ref(other); }
  /// Two assignments rather than one that takes a Ref by value: in a template, clang 16 never
  /// destroys the parameter of `ref = {}`, which by then owns what `ref` did.
  Ref& operator=(Ref&& other) noexcept {
    const Ref before(std::exchange(object_, std::exchange(other.object_, nullptr)), Adopt{});
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr && object_->drop_owner()) delete object_;
  }

  /// Gives the ownership up, for adopt() to take over with the pointer.
  [[nodiscard]] T* release() noexcept { return std::exchange(object_, nullptr); }
  [[nodiscard]] static Ref adopt(T* object) noexcept { return Ref(object, Adopt{}); }

  [[nodiscard]] T* get() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }
  friend bool operator==(const Ref& ref, std::nullptr_t) noexcept { return ref.object_ == nullptr; }

 private:
  template <class Other>
  friend class Ref;

  struct Adopt {};
  Ref(T* object, Adopt) noexcept : object_(object) {}

  T* object_ = nullptr;
};

}  // namespace taskbench::rt::base
