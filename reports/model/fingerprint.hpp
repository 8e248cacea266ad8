// Short numbers for long texts: equal on every machine and in every version of taskbench, since
// files contain them. Not cryptographic: nobody gains anything from a collision.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace taskbench::reports::model {

/// FNV-1a.
[[nodiscard]] constexpr std::uint64_t fingerprint(std::string_view bytes) {
  std::uint64_t value = 0xCBF29CE484222325;
  for (const char each : bytes) value = (value ^ static_cast<unsigned char>(each)) * 0x100000001B3;
  return value;
}

/// Eight hexadecimal digits, for names.
[[nodiscard]] inline std::string fingerprint_digits(std::string_view bytes) {
  const std::uint64_t value = fingerprint(bytes);
  return fmt::format("{:08x}", static_cast<std::uint32_t>(value ^ (value >> 32)));
}

}  // namespace taskbench::reports::model
