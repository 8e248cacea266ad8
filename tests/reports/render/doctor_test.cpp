#include "reports/render/render.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "reports/render/columns.hpp"
#include "tests/reports/printed.hpp"
#include "tests/reports/sample_doctor.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::render {
namespace {

std::string of(const model::DoctorFacts& facts, TableStyle style = {}) {
  return table(samples::report_of(facts), style);
}

TEST(doctor_table, fits_80_columns_but_for_the_commands_which_stay_on_one_line) {
  for (const auto& facts : {samples::quiet_facts(), samples::disturbed_facts()}) {
    for (const std::string& line : text_lines(of(facts, {false, 80}))) {
      if (contains(line, "→")) continue;
      EXPECT_LE(display_width(line), 80U) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
  }
  EXPECT_TRUE(contains(of(samples::disturbed_facts(), {false, 40}),
                       "→ echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo\n"));
}

TEST(doctor_table, has_no_escapes_without_colour_and_those_of_others_never) {
  EXPECT_FALSE(contains(of(samples::disturbed_facts()), "\x1b"));
  const std::string coloured = of(samples::disturbed_facts(), {true, 100});
  EXPECT_TRUE(contains(coloured, "\x1b[1;31m"));
  EXPECT_FALSE(contains(coloured, "\x1b[31mname"));
}

TEST(doctor_table, counts_the_findings) {
  EXPECT_TRUE(contains(of(samples::quiet_facts()),
                       "0 serious, 0 moderate, 1 minor, 0 unknown, 16 in order."));
}

TEST(doctor_table, compares_the_workloads_with_the_floor) {
  const std::string text = of(samples::quiet_facts());
  // 33.15 ns are 1.6 clock readings of 21 ns, 5.5 instructions of 6 ns, a thousandth of a wake-up.
  expect_parts(text, {"chained_spawn (spawn)", "NOT MEASURED spawn_many"});
  for (const std::string& line : text_lines(text)) {
    if (!line.starts_with("chained_spawn")) continue;
    std::istringstream stream(line);
    std::vector<std::string> words(std::istream_iterator<std::string>(stream), {});
    EXPECT_EQ(words, (std::vector<std::string>{"chained_spawn", "(spawn)", "33.15", "1.0", "1.6",
                                               "5.5", "0.001"}));
  }
}

TEST(doctor_table, what_was_not_measured_says_why) {
  const TableStyle wide{false, 1000};
  EXPECT_TRUE(contains(of(samples::quiet_facts(), wide), "(not measured: no such clock)"));
  const std::string text = table(samples::unknown_report(), wide);
  EXPECT_TRUE(contains(text, "not measured: interrupted"));
  EXPECT_FALSE(contains(text, "nan"));
}

}  // namespace
}  // namespace taskbench::reports::render
