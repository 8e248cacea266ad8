// Short numbers for long texts: the same on every machine, and in every version of taskbench, since
// files keep them. Nobody gains anything by a collision.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace taskbench::reports::model {

/// FNV-1a. Bytes that come in pieces: `begun` is what those before gave.
[[nodiscard]] constexpr std::uint64_t fingerprint(std::string_view bytes,
                                                  std::uint64_t begun = 0xCBF29CE484222325) {
  for (const char each : bytes) {
    begun = (begun ^ static_cast<unsigned char>(each)) * 0x100000001B3;
  }
  return begun;
}

/// Eight hexadecimal digits, for names.
[[nodiscard]] std::string fingerprint_digits(std::string_view bytes);

}  // namespace taskbench::reports::model
