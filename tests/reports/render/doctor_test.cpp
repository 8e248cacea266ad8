#include "reports/render/doctor.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "reports/render/columns.hpp"
#include "tests/reports/sample_doctor.hpp"

namespace taskbench::reports::render {
namespace {

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

std::string of(const model::DoctorFacts& facts, TableStyle style = {}) {
  return table(samples::report_of(facts), style);
}

TEST(doctor_table, fits_80_columns_but_for_the_commands) {
  for (const auto& facts : {samples::quiet_facts(), samples::disturbed_facts()}) {
    for (const std::string& line : lines(of(facts, {false, 80}))) {
      if (line.find("→") != std::string::npos) continue;
      EXPECT_LE(display_width(line), 80U) << line;
    }
  }
}

TEST(doctor_table, lines_have_no_blanks_at_their_end) {
  for (const std::string& line : lines(of(samples::disturbed_facts()))) {
    EXPECT_TRUE(line.empty() || line.back() != ' ') << '"' << line << '"';
  }
}

TEST(doctor_table, has_no_escapes_without_colour_and_those_of_others_never) {
  const std::string plain = of(samples::disturbed_facts());
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  const std::string coloured = of(samples::disturbed_facts(), {true, 100});
  EXPECT_NE(coloured.find("\x1b[1;31m"), std::string::npos);
  EXPECT_EQ(coloured.find("\x1b[31mname"), std::string::npos);
}

TEST(doctor_table, a_command_stays_on_one_line) {
  const std::string text = of(samples::disturbed_facts(), {false, 40});
  EXPECT_NE(text.find("→ echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo\n"),
            std::string::npos);
}

TEST(doctor_table, counts_the_findings) {
  EXPECT_NE(
      of(samples::quiet_facts()).find("0 serious, 0 moderate, 1 minor, 0 unknown, 15 in order."),
      std::string::npos);
}

TEST(doctor_table, compares_the_workloads_with_the_floor) {
  const std::string text = of(samples::quiet_facts());
  // 33.15 ns are 1.6 readings of 21 ns, 5.5 instructions of 6 ns, a thousandth of a wake-up.
  EXPECT_NE(text.find("chained_spawn (spawn)"), std::string::npos);
  for (const std::string& line : lines(text)) {
    if (!line.starts_with("chained_spawn")) continue;
    std::istringstream stream(line);
    std::vector<std::string> words(std::istream_iterator<std::string>(stream), {});
    EXPECT_EQ(words, (std::vector<std::string>{"chained_spawn", "(spawn)", "33.15", "1.0", "1.6",
                                               "5.5", "0.001"}));
  }
  EXPECT_NE(text.find("NOT MEASURED spawn_many"), std::string::npos);
}

TEST(doctor_table, what_was_not_measured_says_why) {
  EXPECT_NE(of(samples::quiet_facts(), {false, 1000}).find("(not measured: no such clock)"),
            std::string::npos);
  const std::string text = table(samples::unknown_report(), {false, 1000});
  EXPECT_NE(text.find("not measured: interrupted"), std::string::npos);
  EXPECT_EQ(text.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace taskbench::reports::render
