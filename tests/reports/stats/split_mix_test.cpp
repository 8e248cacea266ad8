#include "reports/stats/split_mix.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace taskbench::reports::stats {
namespace {

// The first numbers of seed 1234567, as widely published for checking implementations
// (https://rosettacode.org/wiki/Pseudo-random_numbers/Splitmix64).
TEST(SplitMix64, equals_the_published_numbers) {
  SplitMix64 random(1234567);
  for (const std::uint64_t expected :
       {6457827717110365317U, 3203168211198807973U, 9817491932198370423U, 4593380528125082431U,
        16408922859458223821U}) {
    EXPECT_EQ(random.next(), expected);
  }
}

}  // namespace
}  // namespace taskbench::reports::stats
