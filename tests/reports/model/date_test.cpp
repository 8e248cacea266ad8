#include "reports/model/date.hpp"

#include <gtest/gtest.h>

namespace taskbench::reports::model {
namespace {

TEST(Date, is_one_instant_in_each_form_that_files_have) {
  const auto seconds = [](std::string_view date) {
    const auto instant = instant_of(date);
    return instant ? instant->time_since_epoch().count() : -1;
  };
  EXPECT_EQ(seconds("1970-01-02T00:00:01Z"), 86401);
  EXPECT_EQ(seconds("2026-03-14T15:09:26+01:00"), 1773497366);
  EXPECT_EQ(seconds("2026-03-14 14:09:26"), 1773497366);
  EXPECT_EQ(seconds("2026-03-14T09:39:26-0430"), 1773497366);
}

TEST(Date, of_another_form_is_none_and_keeps_its_text) {
  for (const char* bad :
       {"", "yesterday", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "03/14/26 15:09:26",
        "2026-03-14", "2026-03-14T15:09:26+1", "2026-03-14T15:09:26 UTC"}) {
    EXPECT_FALSE(instant_of(bad)) << bad;
    EXPECT_EQ(day_of(bad), bad);
    EXPECT_EQ(time_of_day(bad), "");
  }
}

TEST(Date, has_a_day_and_a_time_as_they_were_written) {
  EXPECT_EQ(day_of("2026-03-14T23:09:26-04:00"), "2026-03-14");
  EXPECT_EQ(time_of_day("2026-03-14T23:09:26-04:00"), "23:09:26");
}

}  // namespace
}  // namespace taskbench::reports::model
