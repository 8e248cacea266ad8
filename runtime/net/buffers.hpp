// Buffers to read into and to write from: a pointer and a size, made from any container of bytes.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

namespace taskbench::rt::net {

namespace detail {
template <class Range>
concept BytesToFill = requires(Range& range) {
  std::span(range);
  requires sizeof(*std::span(range).data()) == 1;
  requires !std::is_const_v<std::remove_pointer_t<decltype(std::span(range).data())>>;
};
template <class Range>
concept BytesToSend = requires(const Range& range) {
  std::span(range);
  requires sizeof(*std::span(range).data()) == 1;
};
}  // namespace detail

/// Memory to read into: a std::span, array, std::vector or std::string of bytes or characters.
struct MutableBytes {
  MutableBytes(void* data_, std::size_t size_) noexcept
      : data(static_cast<std::byte*>(data_)), size(size_) {}
  template <detail::BytesToFill Range>
  MutableBytes(Range&& range) noexcept  // NOLINT: it converts
      : MutableBytes(std::span(range).data(), std::span(range).size()) {}

  std::byte* data;
  std::size_t size;
};

/// Memory to write from: any of these, or a string. A string literal is taken without its
/// terminating zero.
struct ConstBytes {
  ConstBytes(const void* data_, std::size_t size_) noexcept
      : data(static_cast<const std::byte*>(data_)), size(size_) {}
  template <class Text>
  requires std::is_convertible_v<const Text&, std::string_view> ConstBytes(const Text& text)
  noexcept  // NOLINT: it converts
      : ConstBytes(std::string_view(text).data(), std::string_view(text).size()) {}
  template <detail::BytesToSend Range>
  requires(!std::is_convertible_v<const Range&, std::string_view>) ConstBytes(const Range& range)
  noexcept  // NOLINT: it converts
      : ConstBytes(std::span(range).data(), std::span(range).size()) {}

  const std::byte* data;
  std::size_t size;
};

/// Several buffers at once, in the system's form. The caller keeps them until the operation has
/// ended.
using Buffers = std::span<iovec>;

}  // namespace taskbench::rt::net
