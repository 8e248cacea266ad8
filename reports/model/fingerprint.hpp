// Short numbers for long texts: equal on every machine and in every version of taskbench, since
// files contain them. Nobody gains anything from a collision.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace taskbench::reports::model {

/// FNV-1a. For bytes that come in pieces, `begun` is the result of the pieces before.
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
