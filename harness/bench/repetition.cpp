#include "harness/bench/repetition.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <cmath>
#include <exception>

#include "harness/os/cpu_affinity.hpp"

namespace taskbench::harness {
namespace {

// The share of its iterations that a case runs untimed before a repetition, since other cases have
// used the caches and branch predictors in the meantime.
constexpr std::int64_t kUntimedShare = 20;
// How often an iteration is timed before the iterations of a repetition are fixed. The fastest
// counts, so that a disturbance at that moment does not make repetitions too short.
constexpr int kCalibrationLooks = 3;
constexpr double kMaxIterations = 1e9;  // Google Benchmark's own limit
constexpr const char* kInterrupted = "interrupted";

// A reporter that keeps what Google Benchmark reports, and prints nothing.
class Collector final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type == Run::RT_Iteration) last_ = run;
    }
  }

  [[nodiscard]] const std::optional<Run>& last() const { return last_; }

 private:
  std::optional<Run> last_;
};

}  // namespace

// One timed iteration, under a name that can be given to tools which observe the process: valgrind
// --tool=callgrind --toggle-collect=taskbench_iteration counts exactly the timed code.
extern "C" [[gnu::noinline, gnu::used]] void taskbench_iteration(workloads::Instance& instance) {
  instance.run_iteration();
}

/// How long Google Benchmark runs the case: for exactly `iterations` or, if that is 0, for
/// `min_time_s` after `warmup_s`.
struct PreparedCase::Length {
  std::int64_t iterations = 0;
  double min_time_s = 0;
  double warmup_s = 0;
};

PreparedCase::PreparedCase(const Case& spec, const Settings& settings, const std::stop_token& stop)
    : stop_(stop) {
  try {
    result_.name = spec.name();
    result_.workload = spec.workload->name;
    result_.scheduler = spec.scheduler->name;
    result_.workers = static_cast<int>(spec.workers);
    result_.parameters.insert(spec.parameters.begin(), spec.parameters.end());
    result_.operations = spec.workload->operations(spec.parameters);
    result_.operation = spec.workload->operation;
    repeatable_ = spec.scheduler->repeatable;
    if (spec.load) {
      by_time_ = true;
      iterations_ = 1;
      iteration_s_ = spec.load->seconds;
      result_.load = {std::string(spec.load->name), spec.load->version};
    }
    build(spec, settings);
  } catch (const std::exception& error) {
    fail(fmt::format("could not be set up: {}", error.what()));
  }
}

PreparedCase::~PreparedCase() = default;

void PreparedCase::build(const Case& spec, const Settings& settings) {
  if (spec.scheduler->single_worker && spec.workers != 1) {
    throw std::invalid_argument(
        fmt::format("{} has exactly one worker, not {}", spec.scheduler->name, spec.workers));
  }
  rt::Runtime::Builder builder;
  builder.scheduler(*spec.scheduler).workers(spec.workers).seed(settings.seed);
  if (settings.pin) {
    cpus_ = allowed_cpus();
    if (cpus_.empty()) throw std::runtime_error("the CPUs of this process cannot be found out");
    bind_caller_ = spec.scheduler->runs_on_caller;
    builder.on_thread_start([this](unsigned worker) {
      // relaxed: the flag is only ever set, and its reader need not see that at once.
      if (!bind_to_cpu(cpus_[worker % cpus_.size()])) {
        binding_failed_.store(true, std::memory_order_relaxed);
      }
    });
  }
  runtime_.emplace(builder.build());
  instance_ = spec.load ? spec.workload->make_loaded(*runtime_, spec.parameters, *spec.load, stop_)
                        : spec.workload->make(*runtime_, spec.parameters);
}

void PreparedCase::warm_up(double warmup_s, double calibration_s) {
  if (by_time_) return;
  for (int look = 0; look < kCalibrationLooks; ++look) {
    const auto measured = time(
        {.min_time_s = calibration_s / kCalibrationLooks, .warmup_s = look == 0 ? warmup_s : 0});
    if (!measured) return;
    const double each = measured->real_ns * 1e-9;
    iteration_s_ = look == 0 ? each : std::min(iteration_s_, each);
  }
}

void PreparedCase::warm_up(double warmup_s) {
  if (by_time_) return;
  const Clock::time_point begin = Clock::now();
  do {
    if (!time({.iterations = iterations_})) return;
  } while (seconds_since(begin) < warmup_s);
}

void PreparedCase::fix_iterations(double seconds) {
  const double wanted = iteration_s_ > 0 ? std::ceil(seconds / iteration_s_) : 1;
  set_iterations(static_cast<std::int64_t>(std::clamp(wanted, 1.0, kMaxIterations)));
}

void PreparedCase::set_iterations(std::int64_t iterations) {
  if (by_time_) return;
  iterations_ = iterations;
  untimed_iterations_ = std::max<std::int64_t>(1, iterations_ / kUntimedShare);
}

void PreparedCase::run_repetition() {
  if (const auto pipes = perf_control_pipes()) {
    try {
      counted_ = std::make_unique<CountingRegion>(*pipes);
    } catch (const std::exception& error) {
      return fail(error.what());
    }
  }
  auto repetition = time({.iterations = iterations_});
  counted_.reset();
  if (!repetition) return;
  if (by_time_) {
    const double iterations = instance_->iterations();
    repetition->iterations = std::max<std::int64_t>(1, std::llround(iterations));
    repetition->real_ns /= iterations;
    repetition->cpu_ns /= iterations;
  }
  repetition->index = repetitions_done();
  store_usage(before_, after_, *repetition);
  if (queued_ns_) {
    repetition->counters[model::kQueuedTime] =
        *queued_ns_ / static_cast<double>(repetition->iterations);
  }
  for (const auto& [name, value] : figures_) {
    result_.observed.insert(name);
    repetition->counters[name] = value;
  }
  result_.repetitions.push_back(std::move(*repetition));
}

std::int64_t PreparedCase::repetitions_done() const {
  return static_cast<std::int64_t>(result_.repetitions.size());
}

double PreparedCase::repetition_s() const {
  return iteration_s_ * static_cast<double>(iterations_ + untimed_iterations_);
}

std::optional<model::Repetition> PreparedCase::time(const Length& length) {
  if (failed()) return std::nullopt;
  benchmark::ClearRegisteredBenchmarks();
  auto* timed = benchmark::RegisterBenchmark(result_.name.c_str(),
                                             [this](benchmark::State& state) { body(state); });
  timed->UseRealTime()->MeasureProcessCPUTime()->Unit(benchmark::kNanosecond)->Repetitions(1);
  if (length.iterations > 0) {
    timed->Iterations(length.iterations);
  } else {
    timed->MinTime(length.min_time_s);
    if (length.warmup_s > 0) timed->MinWarmUpTime(length.warmup_s);
  }
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector, nullptr, "all");
  benchmark::ClearRegisteredBenchmarks();  // the lambda must not outlive this case

  const auto& run = collector.last();
  if (!run) {
    fail("Google Benchmark did not run it");
    return std::nullopt;
  }
  if (!failure_.empty()) {
    fail(failure_);
    return std::nullopt;
  }
  if (run->error_occurred) return std::nullopt;  // interrupted
  model::Repetition repetition;
  repetition.iterations = run->iterations;
  repetition.real_ns = run->GetAdjustedRealTime();
  repetition.cpu_ns = run->GetAdjustedCPUTime();
  return repetition;
}

// During the warm-up Google Benchmark calls this several times and forgets all errors but the last.
void PreparedCase::body(benchmark::State& state) {
  if (failure_.empty()) {
    try {
      iterate(state);
    } catch (const workloads::LoadError& error) {
      failure_ = error.what();
      result_.load_failed = true;
    } catch (const std::exception& error) {
      failure_ = error.what();
    } catch (...) {
      failure_ = "something that is no std::exception was thrown";
    }
  }
  if (!failure_.empty()) state.SkipWithError(failure_.c_str());
}

void PreparedCase::iterate(benchmark::State& state) {
  std::optional<ScopedBinding> binding;
  if (bind_caller_) {
    binding.emplace(cpus_.front());
    if (!binding->bound()) binding_failed_.store(true, std::memory_order_relaxed);
  }
  // Read before the untimed iterations, since reading disturbs the caches. Under a time-based load,
  // the thread waits for another process, which may itself wait for a CPU.
  const auto schedules = by_time_ ? std::map<pid_t, ThreadSchedule>() : read_schedules();
  for (std::int64_t i = 0; i < untimed_iterations_ && !stop_.stop_requested(); ++i) {
    instance_->run_iteration();
  }
  if (stop_.stop_requested()) return state.SkipWithError(kInterrupted);
  static_cast<void>(instance_->take_figures());  // discards those of the untimed iterations
  if (counted_) counted_->begin();
  before_ = Usage::read(*runtime_);
  for ([[maybe_unused]] auto iteration : state) {
    taskbench_iteration(*instance_);
    if (stop_.stop_requested()) {
      state.SkipWithError(kInterrupted);
      break;
    }
  }
  after_ = Usage::read(*runtime_);
  if (counted_) counted_->end();
  queued_ns_ = by_time_
                   ? std::nullopt
                   : queued_between(schedules, read_schedules(), after_.cpu_ns - before_.cpu_ns);
  if (const auto wrong = instance_->verify())
    throw std::runtime_error(fmt::format("wrong result: {}", *wrong));
  figures_ = instance_->take_figures();
  if (binding_failed_.load(std::memory_order_relaxed)) {
    throw std::runtime_error("a worker thread could not be bound to its CPU");
  }
}

void PreparedCase::fail(std::string_view how) {
  result_.error = how;
  // If a scheduler has lost a task, its earlier repetitions cannot be trusted either.
  result_.repetitions.clear();
}

void initialize_google_benchmark() {
  static constexpr std::array kFlags{
      "taskbench",
      "--benchmark_list_tests=false",
      "--benchmark_enable_random_interleaving=false",
      "--benchmark_perf_counters=",
      "--benchmark_out=",
      "--v=0",
  };
  std::array<char*, kFlags.size() + 1> arguments{};
  // Google Benchmark moves the pointers, but does not change the characters.
  std::ranges::transform(kFlags, arguments.begin(),
                         [](const char* flag) { return const_cast<char*>(flag); });
  int count = static_cast<int>(kFlags.size());
  benchmark::Initialize(&count, arguments.data());
}

}  // namespace taskbench::harness
