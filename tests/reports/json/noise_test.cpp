// What a later calibration keeps of earlier ones.
#include "reports/json/reader.hpp"
#include "reports/json/writer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace taskbench::reports::json {
namespace {

using model::NoiseCalibration;

NoiseCalibration calibration(const std::string& date, const std::vector<std::string>& benchmarks) {
  NoiseCalibration noise;
  noise.date = date;
  noise.machine = {{"cpu_model", "X"}, {"governor", ""}};
  noise.copies = {"./1 of " + date, "./2 of " + date};
  noise.blocks = 8;
  noise.block_s = 0.5;
  for (const std::string& name : benchmarks) noise.benchmarks[name].epsilon = 0.02;
  return noise;
}

NoiseCalibration written_and_read(const NoiseCalibration& noise) {
  return parse_noise("noise.json", to_json(noise));
}

TEST(noise_json, benchmarks_that_were_not_measured_again_stay_with_their_own_date_and_copies) {
  NoiseCalibration now = calibration("2026-11-21", {"sort"});
  now.benchmarks["sort"].epsilon = 0.5;
  now = merged(now, calibration("2026-01-01", {"sort", "hash"}));
  for (const NoiseCalibration& noise : {now, written_and_read(now)}) {
    EXPECT_EQ(noise.date, "2026-11-21");
    EXPECT_EQ(noise.benchmarks.at("sort").epsilon, 0.5);
    EXPECT_FALSE(noise.benchmarks.at("sort").earlier);
    ASSERT_TRUE(noise.benchmarks.at("hash").earlier);
    EXPECT_EQ(noise.benchmarks.at("hash").earlier->date, "2026-01-01");
    EXPECT_EQ(noise.benchmarks.at("hash").earlier->copies.front(), "./1 of 2026-01-01");
    EXPECT_EQ(noise.benchmarks.at("hash").earlier->blocks, 8);
  }
  const NoiseCalibration later = merged(calibration("2026-12-24", {"new"}), now);
  EXPECT_EQ(later.benchmarks.at("hash").earlier->date, "2026-01-01") << "not that in between";
  EXPECT_EQ(later.benchmarks.at("sort").earlier->date, "2026-11-21");
}

TEST(noise_json, nothing_of_another_machine_stays) {
  NoiseCalibration other = calibration("2026-01-01", {"hash"});
  other.machine.front().value = "Y";
  EXPECT_FALSE(merged(calibration("2026-11-21", {"sort"}), other).benchmarks.contains("hash"));
}

}  // namespace
}  // namespace taskbench::reports::json
