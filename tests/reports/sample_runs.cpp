#include "tests/reports/sample_runs.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

namespace taskbench::reports::samples {
namespace {

using model::Case;
using model::Repetition;
using model::Run;

model::Environment environment() {
  model::Environment result;
  result.date = "2026-03-14T15:09:26+01:00";
  result.host_name = "bench-1";
  result.executable = "./build/release/cli/taskbench";
  result.cpu_count = 2;
  result.cpu_mhz = 2000;
  result.cpu_scaling_enabled = false;
  result.aslr_enabled = true;
  result.caches = {{"Data", 1, 49152, 1},
                   {"Instruction", 1, 32768, 1},
                   {"Unified", 2, 2097152, 1},
                   {"Unified", 3, 110100480, 2}};
  result.load_avg = {0.21, 0.18, 0.1};
  result.benchmark_library_version = "1.7.1";
  result.benchmark_library_build_type = "debug";
  result.cpu_model = "Intel(R) Xeon(R) Processor @ 2.00GHz";
  result.cpu_governor = "";
  result.smt_active = false;
  result.kernel = "Linux 6.1.0-18-amd64";
  result.hypervisor = "kvm";
  result.compiler = "g++ 12.2.0";
  result.compiler_flags = "-O3 -DNDEBUG -flto";
  result.workloads_version = "1";
  result.build_type = "Release";
  result.git_commit = "0123456789abcdef0123456789abcdef01234567";
  result.taskbench_version = "0.1.0";
  result.memory_bytes = 8'325'898'240;
  return result;
}

/// The drift of a busy virtual machine.
model::Drift drift() {
  model::Drift result;
  result.seconds = 5.2;
  result.stolen_share = model::Fact<double>::known(0.031);
  result.others_share = model::Fact<double>::known(0.002);
  result.mhz_before = result.mhz_after = model::Fact<double>::unknown("no cpufreq in /sys");
  result.thermal_throttles = model::Fact<std::int64_t>::unknown("no thermal_throttle in /sys");
  result.quota_throttles = model::Fact<std::int64_t>::known(0);
  result.swapped_pages = model::Fact<std::int64_t>::known(17);
  return result;
}

model::Settings settings(std::int64_t repetitions) {
  model::Settings result;
  result.repetitions = repetitions;
  result.min_time_s = 0.1;
  result.warmup_s = 0.1;
  result.seed = 1;
  result.command_line = {"taskbench", "run", "--json", "results.json"};
  return result;
}

struct Shape {
  const char* workload;
  const char* operation;
  std::uint64_t operations;
  double real_ns;
  double cpu_ratio;
  double steals;
  double parks;
};

constexpr std::array<Shape, 5> kShapes = {{
    {"chained_spawn", "spawn", 1'000, 60'123.4, 1.02, 0.31, 0.98},
    {"ping_pong", "ping", 1'000, 310'456.7, 1.71, 12.4, 3.2},
    {"spawn_many", "spawn", 10'000, 1'034'567.8, 1.63, 41.7, 5.61},
    {"spawn_local", "spawn", 10'000, 812'345.6, 1.88, 103.2, 1.07},
    {"yield_many", "yield", 200'000, 5'123'456.7, 1.97, 212.0, 1.96},
}};

/// Nine deviations from the median in per cent, typical of a quiet machine; their MAD is 0.8.
constexpr std::array<double, 9> kDeviations = {0, 0.4, -0.6, 1.3, -0.2, 0.9, -0.8, 3.1, -1.1};

Case make_case(const Shape& shape, const char* scheduler, int workers, double slower,
               std::size_t repetitions) {
  Case result;
  result.name = fmt::format("{}/{}/workers:{}", shape.workload, scheduler, workers);
  result.workload = shape.workload;
  result.scheduler = scheduler;
  result.workers = workers;
  result.parameters = {{"tasks", shape.operations}};
  result.operations = shape.operations;
  result.operation = shape.operation;
  for (std::size_t i = 0; i < repetitions; ++i) {
    Repetition repetition;
    repetition.index = static_cast<std::int64_t>(i);
    repetition.iterations = static_cast<std::int64_t>(1e8 / shape.real_ns);
    repetition.real_ns = shape.real_ns * slower * (1 + kDeviations[i % 9] / 100);
    repetition.cpu_ns = repetition.real_ns * (workers == 1 ? 1.01 : shape.cpu_ratio);
    repetition.counters = {{"steals", workers == 1 ? 0 : shape.steals},
                           {"parks", shape.parks},
                           {"wakeups", shape.parks + 0.02},
                           {"overflows", shape.operations > 1000 ? 72.5 : 0},
                           {"polls", static_cast<double>(shape.operations)},
                           {"voluntary_switches", shape.parks + 1},
                           {"involuntary_switches", 0.04}};
    result.repetitions.push_back(repetition);
  }
  return result;
}

Run make_run(std::int64_t repetitions) { return {environment(), settings(repetitions), {}, false}; }

}  // namespace

Run complete_run() {
  Run run = make_run(9);
  run.drift = drift();
  for (const Shape& shape : kShapes) {
    run.cases.push_back(make_case(shape, "work_stealing", 2, 1, 9));
  }
  return run;
}

Run several_schedulers_run() {
  Run run = make_run(9);
  for (std::size_t i = 0; i < 4; ++i) {
    run.cases.push_back(make_case(kShapes[i], "work_stealing", 1, 1.21, 9));
    run.cases.push_back(make_case(kShapes[i], "work_stealing", 2, 1, 9));
    run.cases.push_back(make_case(kShapes[i], "current_thread", 1, 0.83, 9));
  }
  for (Repetition& repetition : run.cases[7].repetitions) {
    repetition.real_ns *= repetition.index % 2 == 0 ? 1.15 : 0.9;  // a noisy case
  }
  return run;
}

Run partial_run() {
  Run run = make_run(9);
  run.cases = {make_case(kShapes[0], "work_stealing", 2, 1, 3),
               make_case(kShapes[1], "work_stealing", 2, 1, 2),
               make_case(kShapes[4], "work_stealing", 2, 1, 0)};
  run.partial = true;
  return run;
}

Run failed_run() {
  Run run = make_run(9);
  run.cases = {make_case(kShapes[0], "work_stealing", 2, 1, 9),
               make_case(kShapes[1], "work_stealing", 2, 1, 4)};
  run.cases[1].error = "999 of 1,000 partners answered in iteration 17";
  return run;
}

Run single_repetition_run() {
  Run run = make_run(1);
  run.cases = {make_case(kShapes[0], "current_thread", 1, 1, 1)};
  run.cases[0].repetitions[0].counters = {};
  run.cases[0].switches_unavailable = "getrusage: Function not implemented";
  return run;
}

Run commands_run() {
  Run run = make_run(3);
  model::Case command = make_case(kShapes[0], "current_thread", 1, 1, 3);
  command.name = "sort big.txt";
  command.workload = command.scheduler = command.operation = "";
  command.workers = 0;
  command.operations = 0;
  command.parameters = {};
  run.cases = {command};
  return run;
}

Run hostile_run() {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Run run;
  run.settings = settings(4);
  run.settings.min_time_s = kNan;
  run.drift.stolen_share = model::Fact<double>::known(kNan);
  run.settings.seed = std::numeric_limits<std::uint64_t>::max();
  run.settings.command_line = {"taskbench", "--json", "a\"b\\c\n\xff.json"};
  run.environment.host_name = "h\xc3\x28st";
  run.environment.load_avg = {kNan, 0.5};

  Case odd = make_case(kShapes[0], "work_stealing", 2, 1, 4);
  odd.operations = 0;
  odd.repetitions[0].counters = {{"iterations", 7},  {"counter_iterations", 8}, {"name", 9},
                                 {"label", 10},      {"real_time", 11},         {"", 12},
                                 {"parks", kNan},    {"steals", kInfinity},     {"voluntary", 13},
                                 {"overflows", -0.0}};
  odd.repetitions[1].counters = {{"signed", -3}};
  odd.repetitions[2].counters = {{"signed", 3}};  // mean 0: its cv is infinite
  odd.repetitions[3].real_ns = kNan;
  odd.repetitions[3].counters = {{"only_in_a_broken_repetition", 1}};
  run.cases.push_back(odd);

  Case instant = make_case(kShapes[1], "work_stealing", 2, 0, 2);  // takes no time at all
  run.cases.push_back(instant);

  Case broken = make_case(kShapes[2], "work_stealing", 2, 1, 2);
  broken.repetitions[0].cpu_ns = kInfinity;
  broken.repetitions[1].iterations = 0;
  run.cases.push_back(broken);

  Case failed = make_case(kShapes[3], "work_stealing", 2, kNan, 2);
  failed.error = "said \"no\", then\nstopped | \xff";
  run.cases.push_back(failed);
  return run;
}

Run empty_run() { return make_run(9); }

Run counted_run() {
  Run run = make_run(9);
  run.counter_pass = {"perf version 6.1.192", {"basic,software"}, 5, ""};
  for (std::size_t i = 0; i < 2; ++i) {
    Case each = make_case(kShapes[i], "work_stealing", 2, 1, 9);
    const double scale = static_cast<double>(i + 1);
    each.events = {
        {"cycles", "", {}, {}, false, "not supported by this machine"},
        {"instructions", "", {}, {}, false, "not supported by this machine"},
        {"branch-misses", "", {1200 * scale, 1250 * scale, 1190 * scale}, 0.48, true, ""},
        {"task-clock", "ns", {61'000 * scale, 62'000 * scale, 60'500 * scale}, 1, false, ""},
        {"page-faults", "", {}, {}, false, i == 0 ? "not counted" : "perf stat hung"},
    };
    run.cases.push_back(std::move(each));
  }
  return run;
}

Run observed_run() {
  Run run = make_run(9);
  run.cases = {make_case(kShapes[0], "work_stealing", 2, 1, 9),
               make_case(kShapes[4], "work_stealing", 1, 1, 9),
               make_case(kShapes[4], "work_stealing", 2, 1, 9),
               make_case(kShapes[4], "go", 2, 1, 9)};
  run.cases[0].load = {"wrk", "4.1.0"};
  for (std::size_t i = 1; i < run.cases.size(); ++i) {
    run.cases[i].observed = {"wait_p99_9_ns", "wait_p99_ns", "lead_yields"};
    for (Repetition& repetition : run.cases[i].repetitions) {
      repetition.counters["wait_p99_ns"] = 12'345;
      repetition.counters["lead_yields"] = 56.78;
      if (i > 1) repetition.counters["wait_p99_9_ns"] = 4'321'000;
    }
  }
  return run;
}

std::span<const NamedRun> all() {
  static constexpr std::array<NamedRun, 10> kRuns = {{
      {"complete", complete_run},
      {"several_schedulers", several_schedulers_run},
      {"partial", partial_run},
      {"failed", failed_run},
      {"single_repetition", single_repetition_run},
      {"commands", commands_run},
      {"hostile", hostile_run},
      {"empty", empty_run},
      {"counted", counted_run},
      {"observed", observed_run},
  }};
  return kRuns;
}

}  // namespace taskbench::reports::samples
