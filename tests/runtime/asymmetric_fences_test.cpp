// Who pays for the fences of the process: passers, while the heavy fences of any engine prevail.
#include "runtime/base/asymmetric_fences.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace taskbench::rt::base {
namespace {

bool passers_pay() { return detail::fences.passers_pay(); }

void count_many_heavy(FenceBalance& balance) {
  for (int i = 0; i < 100; ++i) balance.count_heavy();
}
void count_much_work(FenceBalance& balance) {
  for (int i = 0; i < 100; ++i) balance.count_work();
}

class FenceBalances : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(passers_pay(), always_); }

  const bool always_ = !prepare_heavy_barrier();  // under TSan, and where there is no membarrier
  FenceBalance server_;
};

TEST_F(FenceBalances, passers_pay_while_heavy_fences_prevail) {
  for (int i = 0; i < 10; ++i) server_.count_heavy();
  EXPECT_EQ(passers_pay(), always_);
  count_many_heavy(server_);
  EXPECT_TRUE(passers_pay());
  count_much_work(server_);
  EXPECT_EQ(passers_pay(), always_);
}

TEST_F(FenceBalances, an_engine_that_begins_or_ends_changes_nothing_for_another) {
  count_many_heavy(server_);
  {
    FenceBalance other;
    EXPECT_TRUE(passers_pay());
    count_many_heavy(other);
    count_much_work(other);
    EXPECT_TRUE(passers_pay());
    count_many_heavy(other);
  }
  EXPECT_TRUE(passers_pay());
}

TEST_F(FenceBalances, an_engine_that_ends_asks_no_longer) {
  std::optional<FenceBalance> ends(std::in_place);
  count_many_heavy(*ends);
  EXPECT_TRUE(passers_pay());
  ends.reset();
  EXPECT_EQ(passers_pay(), always_);
}

}  // namespace
}  // namespace taskbench::rt::base
