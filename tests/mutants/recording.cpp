// Switches on one mutant, and records the mutants that each test reaches: a line of JSON for each
// test, in the file named by TASKBENCH_MUTANTS_RECORD.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/mutants/mutants.hpp"

namespace mutants {
namespace {

int number_in_environment() {
  const char* const text = std::getenv("TASKBENCH_MUTANT");
  return text == nullptr ? 0 : std::atoi(text);
}

class Recorder final : public testing::EmptyTestEventListener {
 public:
  explicit Recorder(const char* path) : file_(std::fopen(path, "a")) {}

  void OnTestStart(const testing::TestInfo&) override { std::memset(reached, 0, sizeof(reached)); }
  void OnTestEnd(const testing::TestInfo& test) override {
    std::fprintf(file_, R"({"test": "%s.%s", "ms": %lld, "failed": %d, "reached": [)",
                 test.test_suite_name(), test.name(),
                 static_cast<long long>(test.result()->elapsed_time()), test.result()->Failed());
    const char* separator = "";
    for (std::size_t i = 0; i < kMost; ++i) {
      if (reached[i] == 0) continue;
      std::fprintf(file_, "%s%zu", separator, i);
      separator = ", ";
    }
    std::fputs("]}\n", file_);
    std::fflush(file_);
  }

 private:
  std::FILE* file_;
};

bool record_if_asked() {
  const char* const path = std::getenv("TASKBENCH_MUTANTS_RECORD");
  if (path == nullptr) return false;
  testing::UnitTest::GetInstance()->listeners().Append(new Recorder(path));
  return true;
}

}  // namespace

int active = number_in_environment();
bool records = record_if_asked();
unsigned char reached[kMost];

}  // namespace mutants
