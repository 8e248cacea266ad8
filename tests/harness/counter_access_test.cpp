#include "harness/machine/counter_access.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <iterator>

#include "tests/harness/fake_root.hpp"

namespace taskbench::harness {
namespace {

using reports::model::CounterAccess;

int with_kernel_denied(CountedEvent, bool user_only) { return user_only ? 0 : EACCES; }

class CounterAccessTest : public testing::Test {
 protected:
  CounterAccessTest() { root_.write("proc/sys/kernel/perf_event_paranoid", "4\n"); }

  [[nodiscard]] CounterAccess access(const EventOpener& open) const {
    return *probe_counter_access(root_.path(), open);
  }

  FakeRoot root_;
};

TEST_F(CounterAccessTest, what_opens_may_be_counted_whatever_the_setting_says) {
  const CounterAccess found = access([](CountedEvent, bool) { return 0; });
  EXPECT_EQ(found.paranoid, 4);
  EXPECT_EQ(found.software.error, 0);
  EXPECT_EQ(found.hardware.error, 0);
  EXPECT_FALSE(found.software.user_only || found.hardware.user_only);
}

TEST_F(CounterAccessTest, what_opens_without_the_kernel_alone_is_user_only) {
  const CounterAccess found = access(with_kernel_denied);
  EXPECT_EQ(found.software.error, 0);
  EXPECT_TRUE(found.software.user_only && found.hardware.user_only);
}

TEST_F(CounterAccessTest, what_is_denied_keeps_its_errno) {
  for (const int error : {EACCES, EPERM, ENOSYS}) {
    const CounterAccess found = access([&](CountedEvent, bool) { return error; });
    EXPECT_EQ(found.software.error, error);
    EXPECT_EQ(found.hardware.error, error);
    EXPECT_FALSE(found.software.user_only || found.hardware.user_only);
  }
}

TEST_F(CounterAccessTest, a_machine_without_a_pmu_has_software_events) {
  const CounterAccess found = access([](CountedEvent event, bool user_only) {
    return event == CountedEvent::cycles ? ENOENT : with_kernel_denied(event, user_only);
  });
  EXPECT_EQ(found.software.error, 0);
  EXPECT_TRUE(found.software.user_only);
  EXPECT_EQ(found.hardware.error, ENOENT);
  EXPECT_FALSE(found.hardware.user_only);
}

TEST_F(CounterAccessTest, a_setting_that_is_missing_or_garbage_is_none) {
  for (const char* text : {"-", "", "99999999999999999999\n"}) {
    root_.write("proc/sys/kernel/perf_event_paranoid", text);
    EXPECT_FALSE(access(with_kernel_denied).paranoid) << text;
  }
  root_.remove("proc");
  EXPECT_FALSE(access(with_kernel_denied).paranoid);
}

TEST(CounterAccess, of_this_process_leaves_no_descriptor_open) {
  const auto open_files = [] {
    const std::filesystem::directory_iterator files("/proc/self/fd");
    return std::distance(begin(files), end(files));
  };
  const auto before = open_files();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(probe_counter_access());
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace taskbench::harness
