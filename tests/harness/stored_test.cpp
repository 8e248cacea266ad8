#include "harness/files/stored.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/reports/text.hpp"

namespace taskbench::harness {
namespace {

using namespace reports;
using reports::contains;

TEST(stored, results_that_are_no_files_are_refused) {
  const auto said = [](const fs::path& path) {
    return what_of<json::ReadError>([&] { (void)read_result_file(path); });
  };
  EXPECT_EQ(said("/no/such.json"), "/no/such.json: does not exist");
  EXPECT_EQ(said("/tmp"), "/tmp: is a folder, not a file");
  const auto huge = fs::temp_directory_path() / "taskbench-huge.json";
  std::ofstream(huge) << "{";
  fs::resize_file(huge, json::kMaxResultBytes + 1);  // a sparse file
  EXPECT_TRUE(contains(said(huge), "is larger than 256 MiB"));
  fs::remove(huge);
  EXPECT_TRUE(contains(said("/dev/zero"), "/dev/zero: does not end after 256 MiB"));
  EXPECT_THROW((void)read_noise("/no/such.json"), json::ReadError);
  EXPECT_THROW((void)read_baseline("/no/such.json"), json::ReadError);
}

}  // namespace
}  // namespace taskbench::harness
