#include "reports/stats/rate.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>

namespace taskbench::reports::stats {
namespace {

// >>> scipy.stats.binomtest(k, n).proportion_ci(.95, 'exact')                       # SciPy 1.10.1
// >>> scipy.stats.binomtest(k, n, alternative='less').proportion_ci(.95, 'exact').high
TEST(Rate, equals_scipys_exact_interval) {
  struct Row {
    std::size_t events, trials;
    double low, high, upper;
  };
  for (const Row& row :
       {Row{0, 300, 0, 0.012220974694296421, 0.009936081944523167},
        Row{1, 20, 0.0012650894979560337, 0.24873276277202772, 0.21610616420686976},
        Row{7, 50, 0.05819170033997342, 0.26739600249700846, 0.2469352017312092},
        Row{50, 50, 0.9288782635357954, 1, 1},
        Row{3, 1000, 0.0006190999316499173, 0.008742023238657654, 0.007735244718481942}}) {
    EXPECT_NEAR(rate_interval(row.events, row.trials, 0.95).low, row.low, 1e-12);
    EXPECT_NEAR(rate_interval(row.events, row.trials, 0.95).high, row.high, 1e-12);
    EXPECT_NEAR(rate_upper_bound(row.events, row.trials, 0.95), row.upper, 1e-12);
  }
}

TEST(Rate, no_alarm_in_300_trials_is_less_than_one_per_cent) {
  EXPECT_LT(rate_upper_bound(0, 300, 0.95), 0.01);
  EXPECT_GT(rate_upper_bound(0, 290, 0.95), 0.01);
}

TEST(Rate, without_events_the_lower_end_is_zero) { EXPECT_EQ(rate_interval(0, 5, 0.9).low, 0); }

TEST(Rate, rejects_what_is_no_rate) {
  EXPECT_THROW((void)rate_interval(0, 0, 0.95), std::invalid_argument);
  EXPECT_THROW((void)rate_interval(2, 1, 0.95), std::invalid_argument);
  EXPECT_THROW((void)rate_upper_bound(0, 1, 95), std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::reports::stats
