// Prints the sample of a stored baseline, for the test of its schema.

#include <cstdio>
#include <string>

#include "reports/json/baseline.hpp"
#include "tests/reports/sample_baselines.hpp"

int main() {
  const std::string text =
      taskbench::reports::json::baseline_file(taskbench::reports::sample_baseline());
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
