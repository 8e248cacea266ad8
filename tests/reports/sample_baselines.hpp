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
  setup.key.build = {{"compiler", "GNU 12.2.0"}, {"canary_version", "1"}};
  setup.processes = 7;
  setup.seed = 5;
  setup.repetitions = 5;
  setup.min_time_s = 0.02;
  setup.benchmarks = {"ping_pong", "spawn"};
  setup.iterations = {{"ping_pong", 40}};
  for (int i = 0; i < setup.processes; ++i) {
    series.processes.push_back({{1e7, 1.1e7, 3e6},
                                {1e7 + 1000, 1.1e7, 3e6},
                                {{"ping_pong", 1e6 + 1e3 * i}, {"spawn", 500.0 + i}}});
  }
  return series;
}

}  // namespace taskbench::reports
