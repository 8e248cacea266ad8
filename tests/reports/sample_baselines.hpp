// A stored baseline for the tests.
#pragma once

#include "reports/model/baseline.hpp"

namespace taskbench::reports {

inline model::Series sample_baseline() {
  model::Series series;
  model::SeriesSetup& setup = series.setup;
  setup.name = "default";
  setup.command = "build/taskbench --workers 2";
  setup.digest = "0123456789abcdef";
  setup.commit = "0123456789abcdef0123456789abcdef01234567";
  setup.date = "2026-11-21T10:00:00+00:00";
  setup.key.machine = {{"cpu_model", "Intel(R) Xeon(R) Processor"}, {"cpus", "2"}, {"kernel", ""}};
  setup.key.build = {{"compiler", "GNU 12.2.0"}, {"canary_version", "2"}};
  setup.processes = 7;
  setup.seed = 5;
  setup.repetitions = 5;
  setup.min_time_s = 0.02;
  setup.benchmarks = {"ping_pong", "spawn"};
  setup.iterations = {{"ping_pong", 40}};
  for (int i = 0; i < setup.processes; ++i) {
    series.processes.push_back(
        {.before = {1e7, 1.1e7, 3e6, 1.2e6},
         .after = {1e7 + 1000, 1.1e7, 3e6, i == 6 ? std::nullopt : std::optional(1.3e6)},
         .real_ns = {{"ping_pong", 1e6 + 1e3 * i}, {"spawn", 500.0 + i}},
         .use = i == 3 ? model::Fact<model::CpuUse>::unknown("/proc/stat cannot be read")
                       : model::Fact<model::CpuUse>::known({0.5, 1, -0.01, 0})});
  }
  return series;
}

}  // namespace taskbench::reports
