#include "reports/model/machine_key.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace taskbench::reports::model {
namespace {

MachineKey sample() {
  return {.machine = {{"cpu_model", "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz"},
                      {"cpu_stepping", "8"},
                      {"cpus", "2"},
                      {"cpu_governor", ""},
                      {"kernel", "6.1.0"},
                      {"hypervisor", "kvm"}},
          .build = {{"compiler", "GNU 12.2.0"}, {"compiler_flags", "-O3"}}};
}

TEST(machine_key, is_readable_and_ends_in_a_hash) {
  EXPECT_EQ(machine_key(sample()).substr(0, 29), "xeon-platinum-8481c-2cpu-kvm-");
  EXPECT_EQ(machine_key(sample()).size(), 37U);
}

TEST(machine_key, names_folders_whatever_the_machine_is_called) {
  const auto named = [](const std::string& model) {
    MachineKey key = sample();
    key.machine[0].value = model;
    const std::string text = machine_key(key);
    return text.substr(0, text.find("-2cpu"));
  };
  EXPECT_EQ(named("AMD EPYC 7B13"), "epyc-7b13");
  EXPECT_EQ(named("13th Gen Intel(R) Core(TM) i7-1360P"), "13th-gen-i7-1360p");
  EXPECT_EQ(named(""), "cpu");
  EXPECT_EQ(named("../../etc/passwd"), "etc-passwd");
  EXPECT_EQ(named("Ünïcode \x01/\xff"), "n-code");
  EXPECT_LE(named(std::string(1000, 'x')).size(), 40U);
}

TEST(machine_key, does_not_change_between_versions_of_taskbench) {
  // Folders of stored baselines have these names.
  EXPECT_EQ(machine_key(sample()), "xeon-platinum-8481c-2cpu-kvm-dc87cab8");
  EXPECT_EQ(baseline_key(sample()), "xeon-platinum-8481c-2cpu-kvm-69123393");
}

TEST(machine_key, each_field_counts_and_its_difference_is_named) {
  const MachineKey before = sample();
  for (std::size_t i = 0; i < before.machine.size(); ++i) {
    MachineKey after = before;
    after.machine[i].value += "x";
    EXPECT_NE(machine_key(after), machine_key(before)) << before.machine[i].name;
    EXPECT_NE(baseline_key(after), baseline_key(before)) << before.machine[i].name;
    const std::vector<KeyDifference> expected{
        {before.machine[i].name, before.machine[i].value, after.machine[i].value}};
    EXPECT_EQ(differences(before, after), expected);
  }
  for (std::size_t i = 0; i < before.build.size(); ++i) {
    MachineKey after = before;
    after.build[i].value += "x";
    EXPECT_EQ(machine_key(after), machine_key(before)) << "the machine is the same";
    EXPECT_NE(baseline_key(after), baseline_key(before)) << before.build[i].name;
    EXPECT_EQ(differences(before, after).size(), 1U);
  }
}

TEST(machine_key, what_is_not_known_equals_only_what_is_not_known) {
  MachineKey known = sample();
  known.machine[3].value = "performance";
  EXPECT_EQ(differences(sample(), sample()), std::vector<KeyDifference>{});
  EXPECT_EQ(differences(sample(), known),
            (std::vector<KeyDifference>{{"cpu_governor", "", "performance"}}));
}

TEST(machine_key, a_field_that_one_side_lacks_is_a_difference_in_either_direction) {
  MachineKey more = sample();
  more.machine.push_back({"cpu_boost", "on"});
  EXPECT_EQ(differences(sample(), more), (std::vector<KeyDifference>{{"cpu_boost", "", "on"}}));
  EXPECT_EQ(differences(more, sample()), (std::vector<KeyDifference>{{"cpu_boost", "on", ""}}));
}

TEST(machine_key, the_order_of_the_fields_does_not_matter) {
  MachineKey turned = sample();
  std::ranges::reverse(turned.machine);
  EXPECT_EQ(machine_key(turned), machine_key(sample()));
  EXPECT_TRUE(differences(turned, sample()).empty());
}

TEST(machine_key, text_that_moves_from_one_field_to_the_next_is_another_key) {
  const MachineKey one{.machine = {{"a", "xy"}, {"b", "z"}}, .build = {}};
  const MachineKey two{.machine = {{"a", "x"}, {"b", "yz"}}, .build = {}};
  EXPECT_NE(machine_key(one), machine_key(two));
}

}  // namespace
}  // namespace taskbench::reports::model
