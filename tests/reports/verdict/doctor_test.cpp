#include "reports/verdict/doctor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/reports/sample_doctor.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::verdict {
namespace {

using model::DoctorFacts;
using model::Finding;
using model::Severity;
using samples::disturbed_facts;
using samples::know;
using samples::quiet_facts;

Finding finding(const DoctorFacts& facts, const std::string& check) {
  for (const Finding& each : diagnose(facts)) {
    if (each.check == check) return each;
  }
  ADD_FAILURE() << "no check " << check;
  return {};
}

Severity severity(const DoctorFacts& facts, const std::string& check) {
  return finding(facts, check).severity;
}

TEST(doctor, a_quiet_machine_has_nothing_but_its_aslr) {
  for (const Finding& each : diagnose(quiet_facts())) {
    EXPECT_EQ(each.severity, each.check == "aslr" ? Severity::minor : Severity::ok)
        << each.check << ": " << each.found;
    EXPECT_EQ(each.mend.empty(), each.severity == Severity::ok) << each.check;
  }
  EXPECT_FALSE(is_disturbed(diagnose(quiet_facts())));
}

TEST(doctor, what_disturbs_says_why_and_what_mends_it) {
  const auto findings = diagnose(disturbed_facts());
  EXPECT_TRUE(is_disturbed(findings));
  for (const Finding& each : findings) {
    EXPECT_LT(each.severity, Severity::unknown) << each.check;
    EXPECT_FALSE(each.found.empty()) << each.check;
    EXPECT_FALSE(each.matters.empty()) << each.check;
    EXPECT_FALSE(each.mend.empty()) << each.check;
  }
}

TEST(doctor, the_worst_comes_first) {
  for (const DoctorFacts& facts : {quiet_facts(), disturbed_facts(), DoctorFacts{}}) {
    const auto findings = diagnose(facts);
    EXPECT_TRUE(std::ranges::is_sorted(findings, {}, &Finding::severity));
    EXPECT_EQ(findings.size(), 17U);
  }
}

TEST(doctor, what_is_not_known_is_unknown_with_its_reason_and_disturbs_nothing) {
  DoctorFacts facts;
  facts.build_type = "Release";
  facts.compiler_flags = "-O2";
  for (const Finding& each : diagnose(facts)) {
    if (each.check == "build") continue;
    EXPECT_EQ(each.severity, Severity::unknown) << each.check;
    EXPECT_FALSE(each.found.empty()) << each.check;
  }
  EXPECT_FALSE(is_disturbed(diagnose(facts)));
  DoctorFacts quiet = quiet_facts();
  quiet.governors = model::Fact<std::map<std::string, int>>::unknown("no cpufreq");
  EXPECT_EQ(finding(quiet, "governor").found, "no cpufreq");
}

TEST(doctor, core) {
  DoctorFacts facts = quiet_facts();
  for (const auto& [share, slowdown, expected] :
       std::initializer_list<std::tuple<double, double, Severity>>{{0, 1, Severity::ok},
                                                                   {0.02, 1.7, Severity::ok},
                                                                   {0.05, 1.7, Severity::minor},
                                                                   {0.3, 1.7, Severity::moderate},
                                                                   {0.7, 1.7, Severity::serious},
                                                                   {0.3, 10, Severity::serious}}) {
    know(facts.core_share, {share, slowdown});
    EXPECT_EQ(severity(facts, "core"), expected) << share << ' ' << slowdown;
  }
  know(facts.core_share, {0.342, 1.7});
  EXPECT_EQ(finding(facts, "core").found,
            "equal work took 1.7 times as long for 34.2 % of its time");
}

TEST(doctor, build) {
  DoctorFacts facts = quiet_facts();
  for (const auto& [type, flags, expected] :
       std::initializer_list<std::tuple<const char*, const char*, Severity>>{
           {"Release", "-O3 -DNDEBUG", Severity::ok},
           {"RelWithDebInfo", "-O2 -g", Severity::ok},
           {"Debug", "-O2 -g", Severity::serious},
           {"Release", "-O3 -fsanitize=address", Severity::serious},
           {"", "", Severity::serious}}) {
    facts.build_type = type;
    facts.compiler_flags = flags;
    EXPECT_EQ(severity(facts, "build"), expected) << type << ' ' << flags;
  }
}

TEST(doctor, governors_other_than_performance) {
  DoctorFacts facts = quiet_facts();
  know(facts.governors, {{"performance", 3}, {"powersave", 1}});
  const Finding found = finding(facts, "governor");
  EXPECT_EQ(found.severity, Severity::serious);
  EXPECT_EQ(found.found, "performance on 3 CPUs, powersave on 1 CPU");
  EXPECT_EQ(found.mend, "sudo cpupower frequency-set -g performance");
  know(facts.governors, {{"userspace", 4}});
  EXPECT_EQ(severity(facts, "governor"), Severity::minor);
}

TEST(doctor, quota) {
  DoctorFacts facts = quiet_facts();
  know(facts.quota, {4.0, "cpu.max"});
  EXPECT_EQ(severity(facts, "quota"), Severity::ok);
  know(facts.quota, {3.5, "cpu.max"});
  EXPECT_EQ(severity(facts, "quota"), Severity::serious);
  know(facts.quota, {8.0, "cpu.max"});
  know(facts.at_work.quota_throttles, std::int64_t{1});
  EXPECT_EQ(severity(facts, "quota"), Severity::serious);
  facts.at_work.quota_throttles = {};
  facts.cpus_allowed = {};
  EXPECT_EQ(severity(facts, "quota"), Severity::moderate);
}

TEST(doctor, load_by_what_others_use) {
  DoctorFacts facts = quiet_facts();
  for (const auto& [share, expected] :
       std::initializer_list<std::pair<double, Severity>>{{0.01, Severity::ok},
                                                          {0.02, Severity::minor},
                                                          {0.06, Severity::moderate},
                                                          {0.26, Severity::serious}}) {
    know(facts.at_rest.others_share, share);
    EXPECT_EQ(severity(facts, "load"), expected) << share;
  }
  know(facts.busiest, {{"cc1plus", 4711, 0.98, true}});
  EXPECT_TRUE(contains(finding(facts, "load").found, "cc1plus (4711) 98 %"));
  EXPECT_TRUE(contains(finding(facts, "load").mend, "kill -STOP 4711"));
}

TEST(doctor, processes_of_others_are_not_to_be_stopped) {
  DoctorFacts facts = quiet_facts();
  know(facts.at_rest.others_share, 0.3);
  know(facts.busiest, {{"theirs", 4711, 0.98, false}, {"ours", 4712, 0.5, true}});
  EXPECT_TRUE(contains(finding(facts, "load").mend, "kill -STOP 4712"));
  know(facts.busiest, {{"theirs", 4711, 0.98, false}});
  const std::string mend = finding(facts, "load").mend;
  EXPECT_FALSE(contains(mend, "kill"));
  EXPECT_TRUE(contains(mend, "ask its owner: ps -o user,pid,comm -p 4711"));
}

TEST(doctor, a_high_load_average_with_nothing_running_is_minor) {
  DoctorFacts facts = quiet_facts();
  know(facts.load_average, 2.1);
  EXPECT_EQ(severity(facts, "load"), Severity::minor);
  know(facts.load_average, 1.9);
  EXPECT_EQ(severity(facts, "load"), Severity::ok);
}

TEST(doctor, steal) {
  DoctorFacts facts = quiet_facts();
  for (const auto& [share, expected] :
       std::initializer_list<std::pair<double, Severity>>{{0.001, Severity::ok},
                                                          {0.005, Severity::minor},
                                                          {0.02, Severity::moderate},
                                                          {0.06, Severity::serious}}) {
    know(facts.at_work.stolen_share, share);
    EXPECT_EQ(severity(facts, "steal"), expected) << share;
  }
}

TEST(doctor, throttling_now_is_worse_than_hot_and_hot_than_once_throttled) {
  DoctorFacts facts = quiet_facts();
  know(facts.thermal_throttles, std::int64_t{5});
  EXPECT_EQ(severity(facts, "thermal"), Severity::minor);
  know(facts.thermal_zones, {{"cpu", 94, 100}, {"other", 96, 100}});
  EXPECT_EQ(severity(facts, "thermal"), Severity::moderate);
  know(facts.at_work.thermal_throttles, std::int64_t{1});
  EXPECT_EQ(severity(facts, "thermal"), Severity::serious);
}

TEST(doctor, memory) {
  DoctorFacts facts = quiet_facts();
  know(facts.memory, {std::int64_t{100}, std::int64_t{5}});
  EXPECT_EQ(severity(facts, "memory"), Severity::moderate);
  know(facts.memory, {std::int64_t{100}, std::int64_t{2}});
  EXPECT_EQ(severity(facts, "memory"), Severity::serious);
  facts = quiet_facts();
  know(facts.memory_stall_percent, 2.0);
  EXPECT_EQ(severity(facts, "memory"), Severity::moderate);
  facts.memory_stall_percent = model::Fact<double>::unknown("no pressure files");
  EXPECT_EQ(severity(facts, "memory"), Severity::ok);
  EXPECT_TRUE(contains(finding(facts, "memory").found, "no pressure files"));
  know(facts.at_rest.swapped_pages, std::int64_t{1});
  EXPECT_EQ(severity(facts, "memory"), Severity::serious);
  // What was determined counts, even if the rest is unknown.
  facts.memory = {};
  EXPECT_EQ(severity(facts, "memory"), Severity::serious);
}

TEST(doctor, clock_sources_that_are_read_slowly) {
  DoctorFacts facts = quiet_facts();
  for (const char* name : {"tsc", "kvm-clock", "arch_sys_counter"}) {
    know(facts.clock_source, {name, "tsc hpet"});
    EXPECT_EQ(severity(facts, "clock source"), Severity::ok) << name;
  }
  know(facts.clock_source, {"hpet", "tsc hpet"});
  EXPECT_EQ(severity(facts, "clock source"), Severity::moderate);
  EXPECT_TRUE(finding(facts, "clock source").mend.starts_with("echo tsc |"));
  know(facts.clock_source, {"hpet", "hpet acpi_pm"});
  EXPECT_FALSE(contains(finding(facts, "clock source").mend, "echo tsc"));
}

TEST(doctor, turbo_is_switched_where_it_was_found) {
  DoctorFacts facts = quiet_facts();
  know(facts.boost, {true, "/sys/x/no_turbo", "1"});
  EXPECT_EQ(severity(facts, "boost"), Severity::moderate);
  EXPECT_EQ(finding(facts, "boost").mend, "echo 1 | sudo tee /sys/x/no_turbo");
}

TEST(doctor, shared_cores) {
  DoctorFacts facts = quiet_facts();
  know(facts.shared_cores, {4, 2, 0});
  EXPECT_EQ(severity(facts, "smt"), Severity::moderate);
  know(facts.shared_cores, {2, 2, 2});
  EXPECT_EQ(severity(facts, "smt"), Severity::minor);
}

TEST(doctor, affinity) {
  DoctorFacts facts = quiet_facts();
  know(facts.cpus_allowed, 3);
  EXPECT_EQ(severity(facts, "affinity"), Severity::minor);
  know(facts.cpus_allowed, 1);
  EXPECT_EQ(severity(facts, "affinity"), Severity::moderate);
}

TEST(doctor, counters_by_what_could_be_opened_and_not_by_the_setting) {
  using model::EventAccess;
  constexpr EventAccess kAll{0, false};
  constexpr EventAccess kUser{0, true};
  struct Setting {
    model::CounterAccess access;
    Severity severity;
    const char* found;
    const char* mend;
  };
  const std::vector<Setting> rows{
      {{4, kAll, kAll}, Severity::ok, "hardware and software events can be counted", ""},
      {{2, kUser, kUser},
       Severity::minor,
       "hardware and software events of user code only, kernel.perf_event_paranoid is 2",
       "sudo sysctl kernel.perf_event_paranoid=1"},
      {{1, kAll, {ENOENT, false}},
       Severity::minor,
       "no hardware counters here (No such file or directory): software events only",
       "taskbench run --counters software,instructions-exact"},
      {{2, kUser, {EOPNOTSUPP, false}},
       Severity::minor,
       "no hardware counters here (Operation not supported): software events of user code only",
       "sudo sysctl kernel.perf_event_paranoid=1"},
      {{4, {EACCES, false}, {EACCES, false}},
       Severity::minor,
       "Permission denied: nothing may be counted, kernel.perf_event_paranoid is 4",
       "sudo sysctl kernel.perf_event_paranoid=1"},
      {{1, {EPERM, false}, {EPERM, false}},
       Severity::minor,
       "Operation not permitted: nothing may be counted, as in a container",
       "docker run --cap-add PERFMON"},
      {{{}, {ENOSYS, false}, {ENOSYS, false}},
       Severity::minor,
       "perf_event_open: Function not implemented",
       "CONFIG_PERF_EVENTS"},
      {{1, {EMFILE, false}, {EMFILE, false}},
       Severity::minor,
       "Too many open files: no counter can be opened",
       "perf stat true"},
  };
  for (const Setting& row : rows) {
    DoctorFacts facts = quiet_facts();
    know(facts.counters, row.access);
    const Finding made = finding(facts, "counters");
    EXPECT_EQ(made.severity, row.severity) << row.found;
    EXPECT_TRUE(contains(made.found, row.found));
    EXPECT_TRUE(contains(made.mend, row.mend));
    EXPECT_EQ(made.mend.empty(), row.severity == Severity::ok) << made.mend;
  }
}

TEST(doctor, missing_tools_come_with_one_line_that_installs_them_all) {
  DoctorFacts facts = quiet_facts();
  facts.tools[0].missing = "is not installed";
  facts.tools[2].missing = "is not installed";
  const Finding found = finding(facts, "tools");
  EXPECT_EQ(found.severity, Severity::minor);
  EXPECT_EQ(found.mend, "sudo apt-get install linux-perf valgrind");
  EXPECT_EQ(found.found,
            "perf is not installed: no hardware counters and profiles; valgrind is not installed: "
            "no exact counts of instructions");
}

}  // namespace
}  // namespace taskbench::reports::verdict
