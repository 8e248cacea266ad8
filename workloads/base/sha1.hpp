// SHA-1 (FIPS 180-4) of messages that fit one block: the basis of the trees of UTS. Not for
// security.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace taskbench::workloads {

using Sha1Digest = std::array<std::uint8_t, 20>;

/// The largest message: a block less its padding and length.
inline constexpr std::size_t kSha1Most_bytes = 55;

/// `message`: at most kSha1Most_bytes.
[[nodiscard]] inline Sha1Digest sha1(std::span<const std::uint8_t> message) {
  std::array<std::uint8_t, 64> block{};
  for (std::size_t i = 0; i < message.size(); ++i) block[i] = message[i];
  block[message.size()] = 0x80;
  const std::size_t bits = 8 * message.size();
  block[62] = static_cast<std::uint8_t>(bits >> 8);
  block[63] = static_cast<std::uint8_t>(bits);

  std::array<std::uint32_t, 80> words;
  for (std::size_t i = 0; i < 16; ++i) {
    words[i] = 0;
    for (std::size_t j = 0; j < 4; ++j) words[i] = words[i] << 8 | block[4 * i + j];
  }
  for (std::size_t i = 16; i < 80; ++i) {
    words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  }

  constexpr std::array<std::uint32_t, 5> kStart{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476,
                                                0xc3d2e1f0};
  auto [a, b, c, d, e] = kStart;
  const auto rounds = [&](std::size_t begin, std::uint32_t constant, auto function) {
    for (std::size_t i = begin; i < begin + 20; ++i) {
      const std::uint32_t next = std::rotl(a, 5) + function(b, c, d) + e + constant + words[i];
      e = d;
      d = c;
      c = std::rotl(b, 30);
      b = a;
      a = next;
    }
  };
  using Word = std::uint32_t;
  const auto parity = [](Word x, Word y, Word z) { return x ^ y ^ z; };
  rounds(0, 0x5a827999, [](Word x, Word y, Word z) { return (x & y) | (~x & z); });
  rounds(20, 0x6ed9eba1, parity);
  rounds(40, 0x8f1bbcdc, [](Word x, Word y, Word z) { return (x & y) | (x & z) | (y & z); });
  rounds(60, 0xca62c1d6, parity);

  const std::array<std::uint32_t, 5> sums{kStart[0] + a, kStart[1] + b, kStart[2] + c,
                                          kStart[3] + d, kStart[4] + e};
  Sha1Digest digest;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(sums[i / 4] >> (24 - 8 * (i % 4)));
  }
  return digest;
}

}  // namespace taskbench::workloads
